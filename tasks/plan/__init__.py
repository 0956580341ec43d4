"""What a run will do: who, when, who is held and why, and who approved it.

Provides decisions; sends nothing. timing.py says whether the time for invitations is over.
"""
