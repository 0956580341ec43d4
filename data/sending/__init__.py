"""Together with the tables, this keeps the whole promise: claims, outcomes, runs, and dead runs.

Provides what a sender needs; nobody else writes that something is being sent.
"""
