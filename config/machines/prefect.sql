-- Prefect keeps its runs beside the ledger, in a database of its own.
CREATE DATABASE prefect;
