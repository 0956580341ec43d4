"""Who is in a campaign but must not be sent anything, and why.

Provides who is held now, and the do-not-contact list. rule.py decides; reasons.py reads for it what
the ledger has, for many people at once.
"""
