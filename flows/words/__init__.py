"""The sentences that terminal, page, report and form share.

Provides lines to print, and what to type next; complaints.py says what is wrong in a definition.
"""
