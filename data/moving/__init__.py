"""Move a ledger to another database.

Provides `copy_ledger`.
"""
