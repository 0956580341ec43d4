"""What Prefect shows of a run: its pages, its progress, what is wrong in a file.

Provides what publishes them.
"""
