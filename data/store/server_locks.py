"""Who waits for whom in a ledger on a server; in a file, each writer waits for all others.

On PostgreSQL every transaction runs at READ COMMITTED, and takes its locks here. There are four
locks, always taken in this order, so that there are no deadlocks, and released with the commit:

1. `writing`: held by whoever writes anything but claims and outcomes. Those are people's
   decisions, definitions, the begin and the end of runs: one at a time, as in a file.
2. `campaign`: shared by claims and outcomes of one campaign; alone for who changes its people or
   its doubts. So nobody settles what an answer is landing on, and no definition is taken over
   between the look at a person and their claim. Other campaigns go on meanwhile.
3. `claims`: shared by all claims and outcomes of the ledger; alone for who changes what holds
   people in every campaign (the do-not-contact list, a person let through, new people), and for
   who needs that nothing moves at all.
4. `person`: alone for who claims an invitation of somebody that several campaigns, or the list,
   have. Of two campaigns that claim the same person at the same moment the second one waits, and
   then finds what the first one claimed.

Below them rows are locked: a claim passes over those that another claim holds at this moment
(SKIP LOCKED), and the partial unique index over attempts is the last guard.
"""

from collections.abc import Collection

from sqlalchemy import Connection, bindparam, text

_WRITING, _CAMPAIGN, _CLAIMS, _PERSON = 71001, 71002, 71003, 71004

_TAKE = text("SELECT pg_advisory_xact_lock(:kind, :number)")
_SHARE = text("SELECT pg_advisory_xact_lock_shared(:kind, :number)")
_TAKE_BOTH = text("SELECT pg_advisory_xact_lock(:first, 0), pg_advisory_xact_lock(:then, 0)")
_CAMPAIGNS_OF = text(
    "SELECT DISTINCT campaign_id FROM attempt WHERE id = ANY(:numbers) ORDER BY campaign_id"
)
# In the order of their numbers, so two claims of the same people take them in the same order.
_PERSONS = text(
    "SELECT pg_advisory_xact_lock(:kind, number) FROM ("
    "SELECT DISTINCT hashtext(mailbox) AS number FROM candidate WHERE id IN :rows "
    "ORDER BY number OFFSET 0) AS persons"
).bindparams(bindparam("rows", expanding=True))


def _on_a_server(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def alone(connection: Connection) -> None:
    """Nobody else writes anything until the commit."""
    if _on_a_server(connection):
        connection.execute(_TAKE_BOTH, {"first": _WRITING, "then": _CLAIMS})


def one_at_a_time(connection: Connection) -> None:
    """Nobody else writes anything until the commit, except claims and outcomes."""
    if _on_a_server(connection):
        connection.execute(_TAKE, {"kind": _WRITING, "number": 0})


def alone_with_campaign(connection: Connection, campaign_row: int) -> None:
    """The same, and no claim or outcome of this campaign either."""
    if _on_a_server(connection):
        one_at_a_time(connection)
        connection.execute(_TAKE, {"kind": _CAMPAIGN, "number": campaign_row})


def no_claims(connection: Connection) -> None:
    """Let open claims finish, and none begin before this commit.

    For a transaction that has added people: a claim that checked earlier did not see that another
    campaign wants one of them too. Taken last, it stops the others for one commit only.
    """
    if _on_a_server(connection):
        connection.execute(_TAKE, {"kind": _CLAIMS, "number": 0})


def for_claims(
    connection: Connection, campaigns: Collection[int], attempts: Collection[int]
) -> None:
    """Claims of these campaigns and outcomes of these attempts, beside everybody else's."""
    if not _on_a_server(connection):
        return
    of = set(campaigns)
    if attempts:
        of.update(connection.scalars(_CAMPAIGNS_OF, {"numbers": list(attempts)}))
    for number in sorted(of):
        connection.execute(_SHARE, {"kind": _CAMPAIGN, "number": number})
    connection.execute(_SHARE, {"kind": _CLAIMS, "number": 0})


def for_persons(connection: Connection, rows: Collection[int]) -> None:
    """Nobody else claims an invitation of the people at these rows, in whichever campaign."""
    if rows and _on_a_server(connection):
        connection.execute(_PERSONS, {"kind": _PERSON, "rows": list(rows)})
