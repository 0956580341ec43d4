"""The sentences that terminal, page, report and form share.

Hands out lines to print, and what to type next.
"""
