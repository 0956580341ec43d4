"""Alembic's entry: migrate on the connection and in the transaction that the ledger opened."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=False)
context.run_migrations()
