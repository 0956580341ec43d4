"""The ledger itself: one database in a file or on a server, its tables and its transactions.

Hands out `Ledger`, the tables and the states; does not know the rooms above it.
"""
