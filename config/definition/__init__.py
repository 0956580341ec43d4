"""What a campaign is, and what each of its fields may say.

Hands out `Definition` and the rules by which a written one becomes it.
"""
