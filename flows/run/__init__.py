"""One run of a campaign from beginning to end, no matter who started it.

Hands out `conduct`; does not know Prefect, except in its shells.
"""
