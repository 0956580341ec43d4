"""Workbooks, read in a process of their own: `python -m config.workbooks`.

A workbook comes from somebody else's machine. Whatever is in it, the process that reads it has
limits of memory and time, and returns only plain cells.
"""
