"""One run of a campaign from its beginning to its end, whoever started it.

Hands out `conduct`; knows nothing of Prefect but its shells.
"""
