"""One step each: a thin Prefect shell over a plain function.

Provides that shell, the look into the inbox, and retention.
"""
