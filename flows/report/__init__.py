"""The report of a campaign: its page, its sections, its words.

Hands out `campaign_report`.
"""
