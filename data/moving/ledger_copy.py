"""Move a ledger to another database: everything is copied, and one of the two is closed.

Two open ledgers of one campaign would each invite everybody. The order of the steps prevents that,
wherever the copying is killed:

1. the new one gets its tables, and with them the mark "arriving": nothing writes to it;
2. nobody else may write to the old one while all rows are carried over, read back and compared;
3. the old one is closed;
4. the new one is opened.

Between 3 and 4 both refuse writes; the same command typed again compares once more and goes on with
4. Typed after 4, it answers the same and changes nothing. The UUID is copied too, so the receipts
beside the definitions fit the new ledger. So are the numbers of rows, even of deleted ones: a
receipt says by the number of the last attempt how far a ledger had got, so the number of an attempt
that was rolled back counts as used.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Row, Table, func, insert, select, text, update
from sqlalchemy.engine import make_url
from sqlmodel import SQLModel
from sqlmodel import select as whole

from config.command_line import command
from config.errors import CampaignError
from data.campaigns import queries
from data.decisions import adding_again
from data.sending import recovery
from data.store import server_locks
from data.store.closed import refuse
from data.store.ledger import Ledger
from data.store.opening import address_of, open_engine, place_of
from data.store.states import AttemptState, Openness
from data.store.tables import Identity, attempt, campaign, identity, rows_of
from data.store.transactions import explained

AT_ONCE = 5_000  # rows carried in one statement
NOT_YET = "The ledger was not copied, and nothing was changed"


class NotCopied(CampaignError):
    """A ledger was not copied: the old one is as it was, and nothing was sent."""


@dataclass(frozen=True, slots=True)
class Copied:
    """How many rows of each table were carried and compared.

    `address` is where they are now, `left` is where the closed ledger still has them.
    """

    rows: dict[str, int]
    address: str
    left: str


def copy_ledger(source: str, target: str) -> Copied:
    """Copy the ledger at one address to another, and close the old one.

    Raises NotCopied, LedgerUnusable, NoLedger, LedgerClosed.
    """
    with Ledger.open(source, create=False) as old:
        old.read(_refuse_while_at_work)
        [identity_here] = old.read(rows_of, whole(Identity))
        if identity_here.openness == Openness.OPEN:
            for campaign_here in old.read(queries.every_campaign):
                adding_again.recover(old, campaign_here.id)
        elif _address(identity_here.other) != _address(target):  # no file is made for nothing
            refuse(identity_here.openness, identity_here.other, old._engine.url)
        with closing(_Target(target, identity_here, address_of(old._engine.url))) as new:
            return Copied(_carry_and_close(old, new), new.address, old.place)


class _Target:
    """The database that a ledger is copied to, marked as arriving; open if it has arrived."""

    def __init__(self, url: str, leaving: Identity, comes_from: str) -> None:
        self.place, self.address = place_of(make_url(url)), _address(url)
        self._marks = {
            name: getattr(leaving, name) for name in ("id", "uuid", "secret", "created_at")
        } | {"openness": Openness.ARRIVING, "other": comes_from, "move": str(uuid4())}
        self.has_arrived = False
        self.engine = open_engine(url, create=True, first=self._mark)
        try:
            with explained("written"), self.engine.begin() as connection:
                self.move = self._own(connection, leaving)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self.engine.dispose()

    def _mark(self, connection: Connection) -> None:
        connection.execute(insert(identity).values(self._marks))

    def _own(self, connection: Connection, leaving: Identity) -> str:
        """The id of the copy that this database is for. Raises NotCopied if for another one."""
        server_locks.alone(connection)
        rows = rows_of(connection, whole(Identity))
        if not rows:  # its tables were made, but it was never opened
            self._mark(connection)
            return str(self._marks["move"])
        [row] = rows
        if row.uuid == leaving.uuid:
            if row.openness == Openness.ARRIVING:
                return str(row.move)
            if leaving.openness == Openness.CLOSED:
                refuse(row.openness, row.other, self.engine.url)  # it has moved on since
                self.has_arrived = row.move == leaving.move
        if not self.has_arrived:
            raise NotCopied(
                f"{NOT_YET}: there is already a ledger at {self.place}. Name an empty "
                "database, or a file that does not exist."
            )
        return str(row.move)


def _address(url: str | None) -> str:
    """An address in one spelling; those of an earlier version have asterisks for a password."""
    return address_of(make_url(str(url)))


def _carry_and_close(old: Ledger, new: _Target) -> dict[str, int]:
    with explained("read"), old._engine.begin() as leaving:
        server_locks.alone(leaving)
        [row] = rows_of(leaving, whole(Identity))
        if row.openness == Openness.CLOSED and row.move == new.move:
            if new.has_arrived:  # it may have gone on since, so there is nothing to compare
                return {table.name: _content(leaving, table)[0] for table in _tables()}
            with explained("written"), new.engine.connect() as arriving:
                carried = _compared(leaving, arriving)
        else:
            refuse(row.openness, row.other, old._engine.url)
            _refuse_while_something_moves(leaving)
            with explained("written"), new.engine.begin() as arriving:
                carried = _carry(leaving, arriving)
            leaving.execute(
                update(identity).values(openness=Openness.CLOSED, other=new.address, move=new.move)
            )
    with explained("written"), new.engine.begin() as arriving:
        arriving.execute(update(identity).values(openness=Openness.OPEN, other=None))
    return carried


def _refuse_while_at_work(connection: Connection) -> None:
    for campaign_here in queries.every_campaign(connection):
        if recovery.at_work(connection, campaign_here.id):
            raise NotCopied(
                f"{NOT_YET}: a run of {campaign_here.key} is in progress. Wait until it ends."
            )


def _refuse_while_something_moves(connection: Connection) -> None:
    """Refuse if a run has begun since the first check, or if a claim has no known end yet."""
    _refuse_while_at_work(connection)
    moving = connection.execute(
        select(campaign.c.key)
        .join(attempt, attempt.c.campaign_id == campaign.c.id)
        .where(attempt.c.state == AttemptState.SENDING)
        .limit(1)
    ).scalar()
    if moving is not None:
        raise NotCopied(
            f"{NOT_YET}: a run of {moving} has an open request and may still be in progress. "
            f"Look at it with  {command('status', moving)}  and run the same command again later."
        )


def _carry(leaving: Connection, arriving: Connection) -> dict[str, int]:
    """Carry every row, with its number, and compare what arrived. Raises NotCopied."""
    server_locks.alone(arriving)
    tables = _tables()
    for table in reversed(tables):
        arriving.execute(table.delete())  # left by an interrupted copy
    for table in tables:
        # A row may refer to a later row of its own table: these references are written once all
        # rows are there.
        later = [key.parent.name for key in table.foreign_keys if key.column.table is table]
        for rows in _rows(leaving, table):
            values = [dict(row._mapping) for row in rows]
            arriving.execute(insert(table), [row | dict.fromkeys(later) for row in values])
        for name in later:
            for rows in _rows(leaving, table):
                for row in rows:
                    if row._mapping[name] is not None:
                        arriving.execute(
                            update(table)
                            .where(table.c.id == row.id)
                            .values({name: row._mapping[name]})
                        )
        _go_on_from(arriving, table, _last_given(leaving, table))
    return _compared(leaving, arriving)


def _last_given(connection: Connection, table: Table) -> int:
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


def _go_on_from(connection: Connection, table: Table, number: int) -> None:
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


def _compared(leaving: Connection, arriving: Connection) -> dict[str, int]:
    """Compare two ledgers row by row; returns the number of rows by table. Raises NotCopied."""
    carried = {}
    for table in _tables():
        there, here = _content(leaving, table), _content(arriving, table)
        if there != here:
            raise NotCopied(
                f"The ledger was not copied: {here[0]} of {there[0]} rows of the table "
                f"{table.name} arrived, or some of them are different. The old ledger is "
                "unchanged; nothing was sent."
            )
        carried[table.name] = here[0]
    return carried


def _content(connection: Connection, table: Table) -> tuple[int, str]:
    """How many rows a table has, and a digest of all that is in them."""
    digest, number = sha256(), 0
    for rows in _rows(connection, table):
        number += len(rows)
        for row in rows:
            digest.update(repr(tuple(row)).encode())
    return number, digest.hexdigest()


def _rows(connection: Connection, table: Table) -> Iterator[list[Row[Any]]]:
    """All rows of a table by number, some at a time."""
    last = 0
    while True:
        following = select(table).where(table.c.id > last).order_by(table.c.id).limit(AT_ONCE)
        rows = list(connection.execute(following))
        if not rows:
            return
        yield rows
        last = rows[-1].id


def _tables() -> list[Table]:
    """Every table except the ledger's own row, each after the tables that it refers to."""
    return [table for table in SQLModel.metadata.sorted_tables if table is not identity]
