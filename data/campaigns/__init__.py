"""What is known of a campaign: its people, its plan and approval, how far it has got.

Hands out queries, and what a changed definition changes.
"""
