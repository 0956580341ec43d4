"""Tables of people: cells, headers, and which rows are meant.

Hands out `Table`, whatever file it was read from.
"""
