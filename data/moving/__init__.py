"""A ledger moves to another database.

Hands out `copy_ledger`.
"""
