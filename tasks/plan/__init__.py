"""What a run will do, before it does it: who, when, held back by what, approved by whom.

Hands out decisions; sends nothing.
"""
