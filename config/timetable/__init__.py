"""When a campaign may send: hours, waves, deadlines, in whose clock.

Hands out `Timetable`; plain decisions, no clock of their own.
"""
