"""Tables of people: cells, headers, and which rows to use.

Provides the people of a table, whatever kind of file it was read from.
"""
