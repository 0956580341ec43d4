"""The report of a campaign: its page, its sections, its words.

Provides `campaign_report`.
"""
