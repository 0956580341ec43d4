"""What Prefect shows of a run: its pages, its progress, what is wrong in a file.

Hands out what publishes them.
"""
