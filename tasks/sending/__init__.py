"""From a claim to its outcome: the sender, its orders, the gate and the rates.

Hands out `Sender` and one function for each step of a campaign.
"""
