"""What happened in a campaign, told from what was written down.

Hands out events in their order.
"""
