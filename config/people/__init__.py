"""Addresses and names as people type them, and likely typos.

Provides `email_address` and the doubts about it.
"""
