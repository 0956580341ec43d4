"""The numbers of rows: no number is used twice, wherever a ledger goes.

A receipt says by the number of the last attempt how far a ledger had got, so the number of an
attempt that was rolled back counts as used.
"""

from sqlalchemy import Connection, Table, func, select, text


def last_given(connection: Connection, table: Table) -> int:
    """The highest number that a table has given to a row, even a deleted one; 0 for none."""
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
    """Make a table number its next row after this one."""
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
