"""What a person decides: doubts, second invitations, other addresses, what is left over.

Hands out each decision as one transaction, refused whole or taken whole.
"""
