"""Whom an edited address would have invited again: the statements behind
data/holds/second_addresses.py.

They run inside a transaction that their caller opened.
"""

from sqlalchemy import Connection, bindparam, exists, select

from data.campaigns import intake
from data.holds.rule import Held
from data.holds.second_addresses import INVITED, second_addresses
from data.store.states import Step
from data.store.tables import candidate

# Somebody was invited and is no longer listed.
_SOMEBODY_LEFT = select(
    exists().where(
        candidate.c.campaign_id == bindparam("row"),
        candidate.c.listed.is_(False),
        candidate.c.invite_state.in_(INVITED),
    )
)
_HERE = candidate.c.campaign_id == bindparam("row")
_COMING = intake.of_whom(_HERE, candidate.c.listed, candidate.c.add_state == Step.WAITING)
_LEFT = intake.of_whom(_HERE, candidate.c.listed.is_(False), candidate.c.invite_state.in_(INVITED))


def held_seconds(connection: Connection, campaign_row: int) -> dict[int, Held]:
    """Which of those whom a campaign lists would be invited again, at another address.

    Nothing but a definition that is taken over can bring one in: no claim has to ask.
    """
    if not connection.scalar(_SOMEBODY_LEFT, {"row": campaign_row}):
        return {}
    coming = intake.selected(connection, _COMING, row=campaign_row)
    left = intake.selected(connection, _LEFT, row=campaign_row)
    rows = {person.key: person.row for person in coming}
    seconds = second_addresses([(person.key, person.fields, person) for person in coming], left)
    return {rows[key]: why for key, why in seconds.items()}
