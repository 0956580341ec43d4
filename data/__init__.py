"""What the program remembers: the ledger, its tables, and what is still to do."""
