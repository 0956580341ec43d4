"""The assessment service on your own machine.

`server.Sandbox` runs it inside a program, `python -m sandbox` in a process of its own.
"""
