"""The ledger itself: one database in a file or on a server, its tables and its transactions.

Provides `Ledger`, the tables and the states; it knows nothing of the rooms above it.
"""
