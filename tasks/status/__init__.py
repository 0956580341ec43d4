"""The state of everything: campaigns, this machine, and what Prefect shows about it.

Provides plain values for people and programs.
"""
