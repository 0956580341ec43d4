"""The service behind the pages: its records, its outbox, its tokens."""
