"""The tables of the ledger.

Times are UTC and timezone-aware. Names and addresses of candidates live here and nowhere
else. `attempt` is the journal: one row per request that may have an effect.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, TypeVar, cast

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    DateTime,
    Dialect,
    Index,
    Table,
    TypeDecorator,
    UniqueConstraint,
    false,
    literal_column,
    text,
)
from sqlmodel import Field, SQLModel
from sqlmodel.sql.expression import SelectOfScalar

from config.definition.model import Trust
from config.people.doubts import mailbox
from data.store.states import AttemptState, Openness, Step


class UtcTime(TypeDecorator[datetime]):
    """A timezone-aware time, stored as UTC. A naive time is refused: it is no definite moment."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is not None and value.tzinfo is None:
            raise ValueError("a naive time cannot enter the ledger")
        return value.astimezone(UTC) if value is not None else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None or value.tzinfo is UTC:
            return value
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _number() -> Any:
    """An id from the service, which may need more than 32 bits."""
    return Field(default=None, sa_type=BigInteger)


def _time(nullable: bool = True) -> Any:
    return Field(default=None, sa_column=Column(UtcTime, nullable=nullable))


def _mailbox() -> Any:
    """Where the row's address most likely delivers to: it is computed with every insert."""
    options = {"default": _mailbox_of, "server_default": text("''")}
    return Field(default="", sa_column_kwargs=options)


def _mailbox_of(context: Any) -> str:
    return box_of(context.get_current_parameters()["email_key"])


def box_of(key: str) -> str:
    """What stands for the mailbox of an email key: another of its addresses may be forgotten."""
    return blake2b(mailbox(key).encode(), digest_size=16).hexdigest()


class _Numbered(SQLModel):
    """A row with a number, which the database gives it."""

    id: int = Field(default=None, primary_key=True)


class Identity(SQLModel, table=True):
    """The ledger itself: one row with the UUID that receipts name.

    `secret` is the key of the hashes that stand for forgotten people (data/campaigns/forgotten.py).
    `openness` says which of two copies it is (data/store/closed.py), `other` where the other one
    is, and `move` is the id of the copy in both.
    """

    __tablename__ = "ledger"

    id: int = Field(default=1, primary_key=True)
    uuid: str
    secret: str = Field(repr=False)
    created_at: datetime = _time(nullable=False)
    openness: str = Openness.OPEN
    other: str | None = None
    move: str | None = None


class Campaign(_Numbered, table=True):
    """One campaign at one service, with its two single calls: project and problem."""

    __tablename__ = "campaign"

    key: str = Field(unique=True)
    service: str  # base URL; a run against another service stops
    app_url: str
    definition: str  # path of the file it was last read from
    belongs_to: str | None = None  # path of the definition, where that file is a table of people
    sheet: str | None = None  # of the people, if a person named it
    digest: str  # of the bytes it was last read from; "" if they are to be read anew
    name: str = ""
    description: str = ""
    state: str = ""
    starttime: str = ""  # as sent (interface 2, project)
    endtime: str = ""
    send_invites: bool = True
    ask_first: bool = False  # a person approves each plan before anything is sent
    answer_within: int | None = None  # seconds for the answer; None: no limit
    cooldown: int | None = None  # seconds after somebody's last invitation, by any campaign
    # People who may have been added are added once more (data/decisions/adding_again.py).
    add_again: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    trust: str = Field(default=Trust.STATUS, sa_column_kwargs={"server_default": Trust.STATUS})
    timetable: str = ""  # when invitations may go out (data/campaigns/whose_turn.py)
    timezone: str | None = None  # the zone of times for people; None: this machine's
    project_state: str = Step.WAITING
    project_attempt: int | None = None
    project_id: int | None = _number()
    problem_state: str = Step.WAITING
    problem_attempt: int | None = None
    problem_id: int | None = _number()
    problem_title: str | None = None  # asked for by title: looked up before it is attached
    problem_doubt: str | None = None  # what spoke against it in the service's list, then:
    problem_seen_at: datetime | None = _time()
    why: str | None = None  # of the project or problem call, if a person must look
    # Parts of runs that began here (adds, waves): each is counted before it may send, so that an
    # earlier copy of this ledger differs from it (tasks/plan/receipts.py).
    parts: int = 0
    created_at: datetime = _time(nullable=False)


class Reading(_Numbered, table=True):
    """A definition as it was stored: its file, the sheet that a person named, and the digest of its
    bytes.

    Definitions that earlier versions stored are not here.
    """

    __tablename__ = "reading"

    campaign_id: int = Field(foreign_key="campaign.id", index=True)
    file: str
    digest: str
    read_at: datetime = _time(nullable=False)


_ID_KNOWN = text("candidate_id IS NOT NULL")


class Candidate(_Numbered, table=True):
    """One person within a campaign, known by the email key, with two steps: add and invite."""

    __tablename__ = "candidate"
    __table_args__ = (
        UniqueConstraint("campaign_id", "email_key"),
        # With one id for two people, somebody would get another person's invitation.
        Index(
            "one_person_per_id",
            "campaign_id",
            "candidate_id",
            unique=True,
            sqlite_where=_ID_KNOWN,
        ),
        # Before every invitation we check who else invited this person (data/holds/reasons.py).
        Index("same_person", "mailbox"),
    )

    campaign_id: int = Field(foreign_key="campaign.id")
    email_key: str
    mailbox: str = _mailbox()
    first_name: str
    last_name: str
    email1: str
    source: str = ""
    notes: str = ""
    stage_id: int
    timezone: str | None = None  # of this person's clock
    listed: bool = True  # in the definition as last read; otherwise nothing is sent
    candidate_id: int | None = _number()  # assigned by the service (interface 4.5)
    add_state: str = Step.WAITING
    add_attempt: int | None = None
    invite_state: str = Step.WAITING
    invite_attempt: int | None = None
    generation: int = 1  # of the invitation; a deliberate resend begins the next one
    # A person let somebody through by name: attempts, and entries of the do-not-contact list, up to
    # these numbers no longer hold this person.
    allowed_attempt: int = 0
    allowed_entry: int = 0
    corrected_to: int | None = Field(default=None, foreign_key="candidate.id")
    why: str | None = None


_STANDS = text("lifted_at IS NULL")


class DoNotContact(_Numbered, table=True):
    """One entry of the do-not-contact list: an address that no campaign may send to.

    `file` is where it was read; "" if a person typed it. Lifted entries stay, as history.
    """

    __tablename__ = "do_not_contact"
    __table_args__ = (
        Index(
            "listed_once",
            "email_key",
            "file",
            unique=True,
            sqlite_where=_STANDS,
        ),
        Index("same_mailbox", "mailbox"),  # another spelling of an address holds as well
        # Ids are never reused: a person is let through up to one of them.
        {"sqlite_autoincrement": True},
    )

    email_key: str
    mailbox: str = _mailbox()
    email1: str
    file: str = ""
    who: str
    why: str
    listed_at: datetime = _time(nullable=False)
    lifted_at: datetime | None = _time()
    lifted_by: str | None = None
    lifted_why: str | None = None


class Forgotten(_Numbered, table=True):
    """One address that was forgotten on request: only a keyed hash of it is left.

    The hash replaces the address in this table and, after `forgotten:`, the email key of its former
    candidates. `box` is that of its mailbox; "": forgotten before the ledger had it.
    """

    __tablename__ = "forgotten"

    hash: str = Field(unique=True)
    box: str = Field(default="", sa_column_kwargs={"server_default": text("''")})
    who: str
    why: str
    forgotten_at: datetime = _time(nullable=False)


class Approval(_Numbered, table=True):
    """A plan that was shown before anything was sent, and what a person answered to it.

    A campaign's newest plan counts. `read` is the digest of the definition's bytes, `digest` that
    of everything the plan depends on (data/campaigns/approvals.py), `told` is the plan as shown,
    with masked names.
    """

    __tablename__ = "approval"

    campaign_key: str = Field(index=True)
    digest: str
    read: str
    service: str
    file: str
    definition: str | None = None  # the definition of a bare table of candidates
    sheet: str | None = None  # of the people, if a person named it
    told: str
    held: str = ""  # identifies the people whom the plan left out
    timezone: str | None = None  # the zone of `answer_by` for people; None: this machine's
    asked_at: datetime = _time(nullable=False)
    answer_by: datetime | None = _time()
    answer: str | None = None
    who: str | None = None
    why: str | None = None
    answered_at: datetime | None = _time()


class Pause(_Numbered, table=True):
    """A person's decision that nothing of a campaign is sent until a person resumes it."""

    __tablename__ = "pause"

    campaign_key: str
    who: str
    why: str
    paused_at: datetime = _time(nullable=False)
    resumed_at: datetime | None = _time()
    resumed_by: str | None = None
    resumed_why: str | None = None


class Pace(_Numbered, table=True):
    """What all runs that send to one service, or all runs of one campaign, share
    (data/sending/pace.py).

    `name` is the service's base URL, or stands for a campaign. `turn_at` is the first free turn at
    the set rate. `paused_until`: the service asked for a pause of `paused_for` seconds.
    """

    __tablename__ = "pace"

    name: str = Field(unique=True)
    turn_at: datetime | None = _time()
    paused_until: datetime | None = _time()
    paused_for: float = 0


class Run(_Numbered, table=True):
    """One run of one campaign, and how to tell whether its process still lives."""

    __tablename__ = "run"

    campaign_id: int = Field(foreign_key="campaign.id", index=True)
    host: str
    pid: int
    process_start: str
    started_at: datetime = _time(nullable=False)
    heartbeat_at: datetime = _time(nullable=False)
    approval_id: int | None = Field(default=None, foreign_key="approval.id")  # it runs under
    ended_at: datetime | None = _time()
    ending: str | None = None
    reason: str | None = None


# While an attempt is in one of these states, its step is taken.
_TAKEN = "state IN ('sending', 'done', 'unsure')"
_ONE_INVITATION = text(f"operation = 'invite' AND {_TAKEN}")
_ONE_PROJECT_ONE_PROBLEM = text(f"operation IN ('create_project', 'attach_problem') AND {_TAKEN}")
_STILL_SENDING = text("state = 'sending'")


class Attempt(_Numbered, table=True):
    """The journal: one row per request that may have an effect."""

    __tablename__ = "attempt"
    __table_args__ = (
        # The schema itself ensures that nobody is invited twice.
        Index(
            "one_invitation",
            "candidate_row",
            "generation",
            unique=True,
            sqlite_where=_ONE_INVITATION,
        ),
        # And one project and one problem per campaign (interface 4.7, 8).
        Index(
            "one_project_one_problem",
            "campaign_id",
            "operation",
            unique=True,
            sqlite_where=_ONE_PROJECT_ONE_PROBLEM,
        ),
        # Finds what a dead run left without reading the whole journal.
        Index(
            "still_sending",
            "run_id",
            sqlite_where=_STILL_SENDING,
        ),
        # Ids are never reused: a receipt says by an id how far a ledger had got.
        {"sqlite_autoincrement": True},
    )

    campaign_id: int = Field(foreign_key="campaign.id")
    candidate_row: int | None = Field(default=None, foreign_key="candidate.id")  # of an invite
    generation: int = 1
    operation: str  # Operation
    rows: int = 1  # how many candidates are in an add
    carried: str | None = None  # and which candidates, for an add (data/sending/row_ranges.py)
    state: str = AttemptState.SENDING
    run_id: int = Field(foreign_key="run.id")
    claimed_at: datetime = _time(nullable=False)
    ended_at: datetime | None = _time()
    phase: int | None = None
    status: int | None = None
    evidence: str | None = None
    # What the service wrote, unless it was a plain yes; "": deleted with a forgotten person.
    answer: str | None = None


class Decision(_Numbered, table=True):
    """A person's verdict: who decided what on which attempt, when and why.

    `campaign_id` is None if this ledger does not know the campaign yet (a receipt accepted).
    """

    __tablename__ = "decision"

    campaign_id: int | None = Field(default=None, foreign_key="campaign.id", index=True)
    attempt_id: int | None = Field(default=None, foreign_key="attempt.id")
    candidate_row: int | None = Field(default=None, foreign_key="candidate.id")
    verdict: str
    value: str | None = None
    who: str
    why: str
    decided_at: datetime = _time(nullable=False)


class InboxContent(_Numbered, table=True):
    """One campaign in a file from a watched folder, and how its last run ended.

    A file is identified by its content (`digest`), whatever its place and name.
    """

    __tablename__ = "inbox"
    __table_args__ = (UniqueConstraint("digest", "campaign_key"),)

    digest: str
    campaign_key: str  # "" for content that cannot be read
    file: str
    ending: str
    seen_at: datetime = _time(nullable=False)


class InboxPlace(_Numbered, table=True):
    """Which content a look last took from a place: from a file, or from a folder for a campaign.

    `campaign_key` is "" for a file. Another content there is a change, also if it was there before.
    """

    __tablename__ = "inbox_place"
    __table_args__ = (UniqueConstraint("place", "campaign_key"),)

    place: str
    campaign_key: str
    digest: str


class Notice(_Numbered, table=True):
    """A notice about one state of a run, by the state's id in Prefect; `says` names nobody.

    `told_at` is None until the notice was delivered.
    """

    __tablename__ = "notice"
    __table_args__ = (UniqueConstraint("flow_run", "state"),)

    flow_run: str
    state: str
    says: str
    noted_at: datetime = _time(nullable=False)
    told_at: datetime | None = _time()


class ReceiptDoubt(_Numbered, table=True):
    """A receipt that did not fit this ledger, and who accepted it after a check, when and why.

    `says` is what the receipt said, word for word: an acceptance covers nothing else. After it,
    receipts call the campaign's ledger `line` instead of this ledger's UUID, so that the rejected
    ledger no longer fits; `reached` is the last attempt at that time.
    """

    __tablename__ = "receipt_doubt"

    campaign_key: str = Field(index=True)
    file: str
    says: str
    seen_at: datetime = _time(nullable=False)
    accepted_at: datetime | None = _time()
    who: str | None = None
    why: str | None = None
    line: str | None = None
    reached: int | None = None


def _table_of(model: type[SQLModel]) -> Table:
    table: Table = model.__table__  # type: ignore[attr-defined]
    return table


# The tables behind the models, for all that is written, and for what claims, outcomes, plan, queue
# and the end of a run read: composed once, because every request or every run pays for it.
candidate = _table_of(Candidate)
attempt = _table_of(Attempt)
campaign = _table_of(Campaign)
decision = _table_of(Decision)
runs = _table_of(Run)
do_not_contact = _table_of(DoNotContact)
identity = _table_of(Identity)
pauses = _table_of(Pause)
receipt_doubts = _table_of(ReceiptDoubt)
readings = _table_of(Reading)
pace = _table_of(Pace)
inbox = _table_of(InboxContent)
inbox_places = _table_of(InboxPlace)
forgotten = _table_of(Forgotten)
approvals = _table_of(Approval)
notices = _table_of(Notice)

# Written out, because only then does the database use the index over invitations.
INVITATION_STANDS: ColumnElement[bool] = literal_column(
    f"attempt.operation = 'invite' AND attempt.{_TAKEN}"
)


Model = TypeVar("Model", bound=SQLModel)


def rows_of(
    connection: Connection, wanted: SelectOfScalar[Model], **given: object
) -> Sequence[Model]:
    """Read `select(Model)` of sqlmodel, for everything else: a wrong column fails type checking.

    The rows have the model's fields by name. They cannot be changed, and outlive the transaction.
    Instances would take four times as long, and their session would end a transaction that reads.
    `given` are the values of a statement that was composed beforehand.
    """
    return cast(Sequence[Model], connection.execute(wanted, given).all())
