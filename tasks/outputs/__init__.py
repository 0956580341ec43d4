"""What a campaign gives back: links, pages, results and marks in people's own sheets.

Hands out what writes them; does not know Prefect.
"""
