"""Commands that attend: up, serve, deploy, credentials, ledger.

Provides these commands; some run until they are stopped.
"""
