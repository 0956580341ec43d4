"""The service behind the pages: its records, its outbox, its tokens.

Provides `Service`, an application that answers as the interface says.
"""
