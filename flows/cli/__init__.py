"""The command line: a file per command, and how they speak."""
