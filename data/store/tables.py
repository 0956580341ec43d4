"""The tables of the ledger.

Names are stored only in `person`, addresses in `person` and `do_not_contact`, mailboxes also in
`part`, the pilot's address in `spec`. Typed reasons and answers may name people. Times are UTC.
The index `one_of_each` of `part` is the promise: whatever the code does, the database lets only one
part of a step and generation count.
"""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from data.store.states import COUNTS, Op, State


class UtcTime(sa.TypeDecorator[datetime]):
    """An aware time, stored as UTC. A naive time is refused, as it could be any moment."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise ValueError("a naive time cannot enter the ledger")
        return value.astimezone(UTC) if value is not None else None

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        return value and value.replace(tzinfo=value.tzinfo or UTC).astimezone(UTC)


def now() -> datetime:
    """The current time, as the ledger stores it."""
    return datetime.now(UTC)


def _id() -> Any:
    return Field(default=None, primary_key=True)


def _service_id() -> Any:
    """An id the service gave, which may need more than 32 bits."""
    return Field(default=None, sa_type=sa.BigInteger)


def _word(kind: type[StrEnum], default: StrEnum | None = None) -> Any:
    """An enum, stored as its value in a text column."""
    column = sa.Enum(
        kind,
        native_enum=False,
        create_constraint=False,
        length=16,
        values_callable=lambda members: [member.value for member in members],
    )
    return Field(default=default, sa_type=column)


def _time(nullable: bool = True) -> Any:
    column = sa.Column(UtcTime, nullable=nullable, default=None if nullable else now)
    return Field(default=None, sa_column=column)


def _json() -> Any:
    return Field(default=None, sa_column=sa.Column(sa.JSON(none_as_null=True), nullable=True))


def of_some(name: str, *columns: str, where: str, unique: bool = False) -> sa.Index:
    """A partial index, of the rows for which `where` is true."""
    these = sa.text(where)
    return sa.Index(name, *columns, unique=unique, sqlite_where=these, postgresql_where=these)


def keys(name: str, kind: sa.types.TypeEngine[Any]) -> sa.Select[Any]:
    """The keys of the dictionary in this parameter, as values of this type. The statement is the
    same for any number of keys."""
    members = sa.func.json_each(sa.bindparam(name, type_=sa.JSON)).table_valued("key")
    return sa.select(sa.cast(members.c.key, kind))


def one_of(column: sa.ColumnElement[Any], name: str) -> sa.ColumnElement[bool]:
    """Whether a column is among the keys of the dictionary in this parameter."""
    return column.in_(keys(name, column.type))


IT_COUNTS = f"state IN ({', '.join(repr(each.value) for each in COUNTS)})"
SENDS_MORE = "word IN ('again', 'sent', 'invite', 'undo', 'correct', 'lift')"


class LedgerId(SQLModel, table=True):
    """The identity of the ledger, in one row. Receipts name it."""

    __tablename__ = "ledger"
    uuid: str = Field(primary_key=True)
    mark: int = Field(default=0, sa_column_kwargs={"server_default": "0"})  # of the whole ledger


class Campaign(SQLModel, table=True):
    """A campaign: a key at one service and account."""

    id: int = _id()
    key: str = Field(unique=True)
    service: str  # the API's address
    account: str  # a hash of client id and audience
    app_url: str
    file: str
    digest: str
    spec: Any = _json()  # the definition's model, without a list of people
    mark: int = 0  # grows before claims; receipts repeat it
    pilot_id: int | None = None  # the person; None: no pilot is named, or it was forgotten
    paused_until: datetime | None = _time()  # the service asked for it (429)
    created_at: datetime = _time(nullable=False)


class Person(SQLModel, table=True):
    """A candidate of one campaign."""

    __table_args__ = (
        sa.UniqueConstraint("campaign_id", "email_key"),
        sa.Index("person_by_email_key", "email_key", "became"),
        sa.Index("person_by_mailbox", "campaign_id", "mailbox"),
        of_some("person_gone", "campaign_id", "name_key", where="NOT listed"),
    )
    id: int = _id()
    campaign_id: int = Field(foreign_key="campaign.id")
    email_key: str
    mailbox: str
    email1: str  # as typed
    name_key: str = Field(default="", sa_column_kwargs={"server_default": ""})  # as compared
    fields: Any = _json()  # what is sent of them: the definition's Candidate
    listed: bool = True  # is in the file, as last read
    became: int | None = None  # if corrected, the person with the right address
    let_through: Any = _json()  # each reason that was lifted for this person, by `lift_of`


class Step(SQLModel, table=True):
    """One thing to do at the service, for the project (person 0) or a person."""

    __table_args__ = (
        sa.UniqueConstraint("campaign_id", "person_id", "op"),
        sa.Index("step_by_state", "campaign_id", "op", "state"),
        sa.Index("step_by_service_id", "service_id"),
    )
    id: int = _id()
    campaign_id: int = Field(foreign_key="campaign.id")
    person_id: int = 0
    op: Op = _word(Op)
    state: State = _word(State, State.WAITING)
    generation: int = 1  # a deliberate resend begins the next
    service_id: int | None = _service_id()
    part_id: int | None = None  # the latest, or the one that counts
    why: str | None = None


class Run(SQLModel, table=True):
    """One process at work on one campaign."""

    id: int = _id()
    campaign_id: int = Field(foreign_key="campaign.id", index=True)
    host: str
    pid: int
    began: datetime = _time(nullable=False)
    ended: datetime | None = _time()
    ending: str | None = None


class Request(SQLModel, table=True):
    """A request that may change something at the service, written down before it leaves."""

    __table_args__ = ({"sqlite_autoincrement": True},)
    id: int = _id()
    run_id: int = Field(foreign_key="run.id", index=True)
    op: Op = _word(Op)
    claimed_at: datetime = _time(nullable=False)
    ended_at: datetime | None = _time()
    phase: int | None = None  # how far it got: tasks/service/exchange.py
    status: int | None = None
    evidence: str | None = None  # our words on an answer that was not clear
    answer: str | None = None  # the service's own words, masked


class Part(SQLModel, table=True):
    """The part of a request that is about one step."""

    __table_args__ = (
        of_some("one_of_each", "step_id", "generation", where=IT_COUNTS, unique=True),
        of_some("part_by_mailbox", "mailbox", "problem", where="mailbox IS NOT NULL"),
        sa.Index("part_by_step", "step_id"),
        sa.Index("part_by_request", "request_id"),
    )
    id: int = _id()
    request_id: int = Field(foreign_key="request.id")
    step_id: int = Field(foreign_key="step.id")
    generation: int
    state: State = _word(State, State.SENDING)
    said_yes: bool = False  # the service did it, but said so late (outcomes.py)
    service_id: int | None = _service_id()
    mailbox: str | None = None  # of an invitation: where it arrives
    problem: int | None = _service_id()  # of an invitation: to which problem


class Decision(SQLModel, table=True):
    """A decision of a person, or what receipts.py refused. The newest word is valid."""

    __table_args__ = (
        sa.Index("decision_by_word", "campaign_id", "word"),
        of_some("decision_by_person", "person_id", "word", where="person_id IS NOT NULL"),
        of_some("decision_sends_more", "campaign_id", where=SENDS_MORE),
        {"sqlite_autoincrement": True},
    )
    id: int = _id()
    at: datetime = _time(nullable=False)
    who: str
    why: str | None = None
    word: str
    campaign_id: int | None = None
    person_id: int | None = None
    part_id: int | None = None
    value: Any = _json()


class DoNotContact(SQLModel, table=True):
    """A mailbox or domain that is on the do-not-contact list, or was lifted from it."""

    __tablename__ = "do_not_contact"
    id: int = _id()
    email_key: str = Field(unique=True)  # a mailbox, or a domain: without an @
    listed_by: str  # file, person or lifted
    at: datetime = _time(nullable=False)


class Forgotten(SQLModel, table=True):
    """A forgotten person, who must not come back: only keyed hashes are left."""

    id: int = _id()
    digest: str = Field(unique=True)
    mailbox_digest: str = Field(index=True)
    at: datetime = _time(nullable=False)


class SeenFile(SQLModel, table=True):
    """A file of the watched folder, as last seen, or the lock of an order desk's folder."""

    __tablename__ = "seen_file"
    path: str = Field(primary_key=True)
    trace: str
    at: datetime = _time(nullable=False)


class Notice(SQLModel, table=True):
    """A situation that needs a person, who is told once."""

    key: str = Field(primary_key=True)
    text: str
    told: datetime | None = _time()


# The same as plain tables, for statements about many rows, and in each claim.
CAMPAIGN, PERSON, STEP, RUN, REQUEST, PART, DECISION, DO_NOT_CONTACT, FORGOTTEN = (
    SQLModel.metadata.tables[str(model.__tablename__)]
    for model in (Campaign, Person, Step, Run, Request, Part, Decision, DoNotContact, Forgotten)
)
