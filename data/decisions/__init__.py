"""What a person decides: doubts, second invitations, corrected addresses, things to clean up.

Provides each decision as one transaction, which is accepted or refused as a whole.
"""
