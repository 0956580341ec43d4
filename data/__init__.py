"""What we remember: the ledger, its tables, and what is left to do."""
