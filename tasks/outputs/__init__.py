"""What a campaign returns: links, pages, results and marks in people's own sheets.

Provides what writes them; does not know Prefect. marking.py colours the cells that are wrong.
"""
