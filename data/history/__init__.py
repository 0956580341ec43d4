"""What happened in a campaign, from what the ledger recorded.

Hands out events in their order.
"""
