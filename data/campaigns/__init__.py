"""What is known about a campaign: its people, its plan and approval, how far it has got.

Provides queries, what a changed definition changes, and what remains to be done.
"""
