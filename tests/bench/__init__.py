"""`make bench`: speed and size beside rivals, in rounds.

Provides figures, each with its target.
"""
