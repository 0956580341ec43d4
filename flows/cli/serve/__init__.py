"""Commands that attend: up, serve, deploy, credentials, ledger."""
