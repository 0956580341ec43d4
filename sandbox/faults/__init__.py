"""How the service can be made to fail, and to answer wrongly.

Provides `Fault`, and the list of those that are still to come.
"""
