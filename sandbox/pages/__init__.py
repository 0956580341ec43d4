"""The pages of the service: its web application, the outbox, the embedded arena.

Provides the routes of these pages.
"""
