"""The tables of the ledger through time."""
