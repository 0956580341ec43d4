"""When a campaign may send: hours, waves and deadlines, and whose clock counts.

Provides `Timetable`: plain decisions that are given the time.
"""
