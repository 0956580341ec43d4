"""The order of the steps, what Prefect shows, and the command line."""
