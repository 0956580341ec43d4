"""Where everything stands: campaigns, this machine, what Prefect shows of it.

Hands out plain values for people and programs.
"""
