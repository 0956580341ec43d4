"""Whom a campaign lists and must not send to, and why.

Hands out who is held now, and the do-not-contact list.
"""
