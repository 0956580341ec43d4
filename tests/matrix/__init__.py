"""`make matrix`: rivals and ours, killed at six moments, judged by a service's own record.

Provides the harness, which knows a command line of each contender, and the contenders themselves.
"""
