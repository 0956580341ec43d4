"""Ledgers for tests, on SQLite and PostgreSQL.

Provides small ledgers, and databases that come and go.
"""
