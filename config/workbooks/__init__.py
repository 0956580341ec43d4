"""Workbooks, taken apart in a process of their own: `python -m config.workbooks`.

A workbook is a program's file from somebody else's machine; whatever is in it, the process that
reads it has a limit of memory and of time, and only plain cells come out of it.
"""
