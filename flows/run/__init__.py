"""One run of a campaign from beginning to end, no matter who started it.

Provides `conduct`; imports no Prefect.
"""
