"""What happened in a campaign, from what the ledger recorded.

Provides events in their order.
"""
