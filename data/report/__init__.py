"""A campaign's report: one page that needs nothing but itself, to be sent, printed and kept."""
