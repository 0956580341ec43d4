"""The small file beside a definition that says which ledger sent, and how far it had got.

Hands out the receipt, and what does not fit it.
"""
