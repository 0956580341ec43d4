"""Prefect servers and workers for tests, each with a home of its own.

Provides them started, and looks through what they kept.
"""
