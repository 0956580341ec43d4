"""From a claim to its outcome: the sender, the orders it sends, the gate and the rates.

Provides `Sender`, which looks once more before each request, and one function for each step of a
campaign; the gate only says when.
"""
