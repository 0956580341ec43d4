"""What a campaign is, and what each of its fields may say.

Provides `Definition`, and the rules that turn what a person wrote into one; people.py judges rows,
and folds those of one person.
"""
