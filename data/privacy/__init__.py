"""What is held of a person: telling it, forgetting it, and showing it masked.

Hands out `forget`, `about` and `masked`.
"""
