"""What is held about a person: show it, forget it, mask it.

Provides `forget`, `about` and `masked`.
"""
