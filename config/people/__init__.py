"""Addresses and names as people type them, and what looks like a slip.

Hands out `email_address` and the doubts about it.
"""
