"""Who is in a campaign but must not be sent anything, and why.

Hands out who is held now, and the do-not-contact list.
"""
