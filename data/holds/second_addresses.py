"""Who would be invited a second time, at another address: held until a person has looked.

A candidate is an email key, so a row whose address was edited is somebody new to the ledger. Such a
row shows itself in this way: the person invited before is no longer in the definition, and has the
same name or the same mailbox.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from sqlalchemy import Connection, bindparam, or_, select

from config.definition.model import PILOT
from config.people.doubts import mailbox
from data.campaigns import intake
from data.campaigns.changes import Fields, Known
from data.holds.rule import Cause, Held
from data.store.states import Step
from data.store.tables import campaign, candidate

_TO_COME = (Step.WAITING, Step.REFUSED, Step.DONE)  # their add; a run still invites them

# Somebody whom a definition lists: email key, what would be sent, and what the ledger has of them.
Listed = tuple[str, Fields, Known | None]

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
_LEFT = intake.of_whom(
    _HERE,
    candidate.c.listed.is_(False),
    candidate.c.corrected_to.is_(None),
)


def held_seconds(connection: Connection, campaign_row: int) -> dict[int, Held]:
    """Which people in a campaign would be invited again, at another address.

    Only storing a definition can bring such a person. Once another version was stored, no run that
    began before gets a claim (data/sending/recovery.py, `no_claims`), and whoever begins after it
    looks here first. So no claim has to check this person by person.
    """
    left = intake.selected(connection, _LEFT, row=campaign_row)
    if not left:
        return {}
    coming = intake.selected(connection, _COMING, row=campaign_row)
    rows = {person.key: person.row for person in coming}
    seconds = second_addresses([(person.key, person.fields, person) for person in coming], left)
    return {rows[key]: why for key, why in seconds.items()}


def would_release(connection: Connection, campaign_row: int, rows: Collection[int]) -> set[int]:
    """Who of these people is the reason why somebody else is held whom nothing would hold without
    them: nobody could tell any more whether that is the same person.
    """
    left = intake.selected(connection, _LEFT, row=campaign_row)
    them = {person.row for person in left if person.row in rows}
    if not them:
        return them
    coming = [
        (person.key, person.fields, person)
        for person in intake.selected(connection, _COMING, row=campaign_row)
        if person.row not in rows
    ]
    held = second_addresses(coming, left)
    still = second_addresses(coming, [person for person in left if person.row not in them])
    return them if held.keys() - still.keys() else set()


def second_addresses(listed: Iterable[Listed], in_ledger: Iterable[Known]) -> dict[str, Held]:
    """Compare people who are still to be invited with invited people who are no longer listed.

    Returns them by email key. Two people whom one request added were in the definition together: a
    claim takes only those whom it lists. So they are two, as is anybody whom a person has let
    through since. An older row alone says nothing: an address may be edited, and edited back.
    """
    people = list(listed)
    still = {key for key, _, _ in people}
    gone = [
        before
        for before in in_ledger
        if before.key not in still and _was_invited(before) and before.fields[2]
    ]
    if not gone:
        return {}
    alike: Mapping[tuple[str, str], list[Known]] = defaultdict(list)
    for earlier in gone:
        alike["mailbox", mailbox(earlier.key)].append(earlier)
        if not _is_pilot(earlier.fields):
            alike["name", _name(earlier.fields)].append(earlier)
    holds: dict[str, Held] = {}
    for key, fields, before in people:
        if before is not None and (before.invite is not Step.WAITING or before.add not in _TO_COME):
            continue
        for same in (("mailbox", mailbox(key)), ("name", _name(fields))):
            of = [earlier for earlier in alike.get(same, ()) if not _two(before, earlier)]
            if of:
                holds.setdefault(key, Held(Cause.SECOND, _why(same[0], of[-1])))
    return holds


def _was_invited(before: Known) -> bool:
    """Whether an email went to them, or may have, and nobody has corrected their address since.

    Whoever was withdrawn has it all the same, and whoever waits for another one.
    """
    return before.tried is not None and before.instead is None


def _two(before: Known | None, earlier: Known) -> bool:
    """Whether the ledger knows that they are two people."""
    if before is None:
        return False
    together = before.added is not None and before.added == earlier.added
    return together or before.allowed >= (earlier.tried or 0)


def _is_pilot(fields: Fields) -> bool:
    """Whether the name is not a person's: each pilot outside the table has the same."""
    return (fields[0], fields[1], fields[3]) == PILOT


def _why(same: str, earlier: Known) -> str:
    was = "was invited" if earlier.invite is Step.DONE else "may have been invited"
    return f"has the {same} of {earlier.fields[2]}, who {was} and is no longer in the definition"


def _name(fields: Fields) -> str:
    """Reduce a name to its words, whichever column each is in."""
    words = unicodedata.normalize("NFKD", f"{fields[0]} {fields[1]}").casefold().split()
    return " ".join(sorted(words))
