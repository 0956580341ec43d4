"""What the program remembers: the ledger, its tables, and what is still to do.

Provides files that only their owner reads; the ledger and its areas are the rooms below.
"""
