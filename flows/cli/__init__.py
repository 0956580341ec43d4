"""The command line: a file per command, and how they speak.

Provides `main`; nobody else imports a command.
"""
