"""The order of the steps, what Prefect shows, and the command line.

Provides the flows that Prefect is given; their addresses stay as they are.
"""
