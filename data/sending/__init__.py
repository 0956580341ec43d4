"""With the tables, the whole promise: claims, outcomes, runs, and what a dead run leaves.

Hands out what a sender needs; nobody else writes that something is being sent.
"""
