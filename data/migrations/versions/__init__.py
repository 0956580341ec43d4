"""One file per released shape of the tables, oldest first."""
