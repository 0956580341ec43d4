"""Commands for before anything is sent: new, check, problems, plan.

Provides these commands; they send nothing.
"""
