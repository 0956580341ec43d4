"""From a claim to its outcome: the sender, the orders it sends, the gate and the rates.

Provides `Sender` and one function for each step of a campaign.
"""
