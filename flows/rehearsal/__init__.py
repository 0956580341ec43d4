"""A campaign tried against the sandbox, with the troubles it may meet.

Provides the rehearsal and its troubles.
"""
