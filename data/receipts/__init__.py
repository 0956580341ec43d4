"""The small file beside a definition that says which ledger sent, and how far it had got.

Provides the receipt, and what does not fit it.
"""
