"""Commands that send, or try it: run, rehearse, demo, sandbox.

Provides these commands, and how they stop.
"""
