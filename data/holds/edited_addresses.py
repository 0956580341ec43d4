"""People who would be invited again because their address was edited: the statements behind
data/holds/second_addresses.py.

They run inside a transaction that their caller opened.
"""

from sqlalchemy import Connection, bindparam, exists, or_, select

from data.campaigns import intake
from data.holds.rule import Held
from data.holds.second_addresses import INVITED, second_addresses
from data.store.states import Step
from data.store.tables import campaign, candidate

# Somebody was invited and is no longer listed.
_SOMEBODY_LEFT = select(
    exists().where(
        candidate.c.campaign_id == bindparam("row"),
        candidate.c.listed.is_(False),
        candidate.c.invite_state.in_(INVITED),
    )
)
_HERE = candidate.c.campaign_id == bindparam("row")
# People whom a campaign still has to add or invite.
TO_COME = (
    _HERE,
    candidate.c.listed,
    or_(
        candidate.c.add_state == Step.WAITING,
        (candidate.c.add_state == Step.DONE)
        & (candidate.c.invite_state == Step.WAITING)
        & select(campaign.c.send_invites)
        .where(campaign.c.id == bindparam("row"))
        .scalar_subquery(),
    ),
)
_COMING = intake.of_whom(*TO_COME)
_LEFT = intake.of_whom(_HERE, candidate.c.listed.is_(False), candidate.c.invite_state.in_(INVITED))


def held_seconds(connection: Connection, campaign_row: int) -> dict[int, Held]:
    """Which people in a campaign would be invited again, at another address.

    Only storing a definition can bring such a person. Once another version was stored, no run that
    began before gets a claim (data/sending/recovery.py, `no_claims`), and whoever begins after it
    looks here first. So no claim has to check this person by person.
    """
    if not connection.scalar(_SOMEBODY_LEFT, {"row": campaign_row}):
        return {}
    coming = intake.selected(connection, _COMING, row=campaign_row)
    left = intake.selected(connection, _LEFT, row=campaign_row)
    rows = {person.key: person.row for person in coming}
    seconds = second_addresses([(person.key, person.fields, person) for person in coming], left)
    return {rows[key]: why for key, why in seconds.items()}
