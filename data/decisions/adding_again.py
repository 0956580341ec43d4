"""Adding people again whose add is unsure, if the definition says so.

An add sends no email, so a record too many is the worst that comes of it: `campaign clean-up`
lists it. The invitation goes by the person's row here, so it stays a single one.
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

# Adds of one person in all, until somebody is asked. Two more than the first ride out a killed run
# and a lost answer after it; each may leave a record to be removed by hand.
ADDS = 3
THE_DEFINITION = "the definition"

_WANTED = select(campaign.c.add_again).where(campaign.c.id == bindparam("of"))
_UNSURE = select(candidate.c.add_attempt, candidate.c.id).where(
    candidate.c.campaign_id == bindparam("of"),
    candidate.c.add_state.in_(bindparam("states", expanding=True)),
    candidate.c.listed,  # people gone from the definition would wait for ever
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
    """Make the SENDING rows of dead runs UNSURE. Answers how many calls that were.

    Unsure adds then wait for another one, if that is `wanted`; None: as the definition said when
    it was taken over.
    """
    left = runs.close_the_dead(ledger, campaign_row)
    add_again(ledger, campaign_row, wanted)
    return left


def add_again(ledger: Ledger, campaign_row: int, wanted: bool | None = None) -> int:
    """Have people wait for another add whose add is unsure; answers how many these are.

    If that is `wanted`; None: as the definition said when it was taken over.
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
    """Whose add is unsure and may be made once more: the unsure attempt, and the person's row.

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
    """Have people wait whose add was refused, though nothing is wrong with them."""
    connection.execute(_WAIT, {"rows": rows})


def decide(connection: Connection, campaign_row: int) -> int:
    """Have these people wait for another add, each with a decision; answers how many they are."""
    by = By(THE_DEFINITION, "")
    decided = [Decided(*place, Word.ADD_AGAIN) for place in find(connection, campaign_row)]
    if decided:
        settle_adds(connection, Word.ADD_AGAIN, decided, by)
        close_adds(
            connection, {verdict.attempt for verdict in decided if verdict.attempt is not None}
        )
        write_down(connection, campaign_row, decided, by)
    return len(decided)
