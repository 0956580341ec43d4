"""A browser for tests, and what a candidate does in it.

Provides `chromium`, the log-in, and pages that hold an embedded arena.
"""
