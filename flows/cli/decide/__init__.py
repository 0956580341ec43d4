"""Commands by which a person decides: approve, settle, resend, correct, forget and others.

Provides these commands; who decided, and why, goes into the ledger.
"""
