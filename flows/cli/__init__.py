"""The command line: a file for each command or close family.

Provides `main`; nobody else imports a command.
"""
