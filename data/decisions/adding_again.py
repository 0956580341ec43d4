"""Add people again if their add is unsure and the definition says so.

An add sends no email, so the worst result is an extra record, which `campaign clean-up` lists.
There is still only one invitation, because it depends on the person's row in this ledger.
"""

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select, update

from data.decisions.settling import close_adds, settle_adds, write_down
from data.decisions.verdicts import Decided
from data.sending import runs
from data.sending.row_ranges import read as rows_in
from data.store.ledger import Ledger
from data.store.states import MAY_HAVE_HAPPENED, By, Operation, Step, Word
from data.store.tables import attempt, campaign, candidate

# The most adds of one person before a person has to decide. Two after the first survive a killed
# run and then a lost answer; each may leave a record to remove by hand.
ADDS = 3
THE_DEFINITION = "the definition"

_WANTED = select(campaign.c.add_again).where(campaign.c.id == bindparam("of"))
_UNSURE = select(candidate.c.add_attempt, candidate.c.id).where(
    candidate.c.campaign_id == bindparam("of"),
    candidate.c.add_state.in_(bindparam("states", expanding=True)),
    candidate.c.listed,  # people who are gone from the definition would wait for ever
)
_WAIT = (
    update(candidate)
    .where(
        candidate.c.id.in_(bindparam("rows", expanding=True)),
        candidate.c.add_state == Step.REFUSED,
    )
    .values(add_state=Step.WAITING, why=None)
)
_ADDS = select(attempt.c.carried).where(
    attempt.c.campaign_id == bindparam("of"),
    attempt.c.operation == Operation.ADD,
    attempt.c.state.in_(MAY_HAVE_HAPPENED),
)


def recover(ledger: Ledger, campaign_row: int, wanted: bool | None = None) -> int:
    """Make the SENDING rows of dead runs UNSURE. Returns how many calls that were.

    Unsure adds then wait for another add, if that is `wanted`; None: as the stored definition says.
    """
    left = runs.close_the_dead(ledger, campaign_row)
    add_again(ledger, campaign_row, wanted)
    return left


def add_again(ledger: Ledger, campaign_row: int, wanted: bool | None = None) -> int:
    """Let people whose add is unsure wait for another add; returns how many there are.

    Only if that is `wanted`; None: as the stored definition says.
    """
    doubtful = ledger.read(_any, campaign_row, wanted)
    return ledger.write(decide, campaign_row) if doubtful else 0


def _any(connection: Connection, campaign_row: int, wanted: bool | None) -> bool:
    if wanted is None:
        wanted = bool(connection.scalar(_WANTED, {"of": campaign_row}))
    return wanted and bool(find(connection, campaign_row))


def find(
    connection: Connection, campaign_row: int, states: Sequence[Step] = (Step.UNSURE,)
) -> list[tuple[int, int]]:
    """Find the unsure adds that may be repeated: the unsure attempt, and the person's row.

    `states` are those that are unsure, or will be once dead runs are closed.
    """
    given = {"of": campaign_row, "states": states}
    unsure = [(number, row) for number, row in connection.execute(_UNSURE, given)]
    if not unsure:
        return []
    people = {row for _, row in unsure}
    made: Counter[int] = Counter()
    for carried in connection.scalars(_ADDS, {"of": campaign_row}):
        made.update(row for span in rows_in(carried) for row in span if row in people)
    return [(number, row) for number, row in unsure if made[row] < ADDS]


def wait_again(connection: Connection, rows: Sequence[int]) -> None:
    """Let people whose add was refused wait again, if their rows are not to blame."""
    connection.execute(_WAIT, {"rows": rows})


def decide(connection: Connection, campaign_row: int) -> int:
    """Let these people wait for another add, each with a decision; returns how many there are."""
    by = By(THE_DEFINITION, "")
    decided = [Decided(*place, Word.ADD_AGAIN) for place in find(connection, campaign_row)]
    if decided:
        settle_adds(connection, Word.ADD_AGAIN, decided, by)
        close_adds(
            connection, {verdict.attempt for verdict in decided if verdict.attempt is not None}
        )
        write_down(connection, campaign_row, decided, by)
    return len(decided)
