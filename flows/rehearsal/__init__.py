"""A campaign tried against the sandbox, with the troubles it may meet.

Hands out the rehearsal and its troubles.
"""
