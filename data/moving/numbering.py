"""The numbers that rows get: none is given twice, wherever a ledger goes.

A receipt tells by the number of the last attempt how far a ledger had got, so the number of one
that was rolled back is used up as well.
"""

from sqlalchemy import Connection, Table, func, select, text


def last_given(connection: Connection, table: Table) -> int:
    """The highest number that a table has given to a row, which may be gone; 0 for none."""
    highest = connection.scalar(select(func.coalesce(func.max(table.c.id), 0))) or 0
    if connection.dialect.name == "postgresql":
        given = connection.scalar(
            text("SELECT pg_sequence_last_value(pg_get_serial_sequence(:name, 'id')::regclass)"),
            {"name": table.name},
        )
    else:
        given = connection.scalar(
            text("SELECT seq FROM sqlite_sequence WHERE name = :name"), {"name": table.name}
        )
    return max(int(given or 0), int(highest))


def go_on_from(connection: Connection, table: Table, number: int) -> None:
    """Have a table give its next row a number behind this one."""
    values = {"name": table.name, "number": number}
    if connection.dialect.name == "postgresql":
        connection.execute(
            text("SELECT setval(pg_get_serial_sequence(:name, 'id'), :number + 1, false)"), values
        )
    elif table.dialect_options["sqlite"]["autoincrement"]:
        # There is no constraint to upsert by; the other tables count from their last row.
        connection.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), values)
        connection.execute(
            text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :number)"), values
        )
