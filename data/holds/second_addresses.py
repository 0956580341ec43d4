"""Who would be invited a second time, at another address: held until a person has looked. Pure.

A candidate is an email key, so a row whose address was edited is somebody new to the ledger. What
gives such a row away is that the one invited before has left the definition, and has the same name
or the same mailbox.
"""

import unicodedata
from collections.abc import Iterable

from config.people.email_doubts import mailbox
from data.campaigns.changes import Fields, Known
from data.holds.rule import Cause, Held
from data.store.states import Step

# Their email went out, or may have.
INVITED = (Step.DONE, Step.UNSURE, Step.SENDING)

# Somebody whom a definition lists: email key, what would be sent, and what the ledger has of them.
Listed = tuple[str, Fields, Known | None]


def second_addresses(listed: Iterable[Listed], in_ledger: Iterable[Known]) -> dict[str, Held]:
    """Compare those who are still to be added with those invited who are listed no longer.

    Answers them by email key. Two rows that came beside each other are two people, and so is
    whoever a person has let through since.
    """
    people = list(listed)
    still = {key for key, _, _ in people}
    gone = [
        before
        for before in in_ledger
        if before.key not in still and before.invite in INVITED and before.fields[2]
    ]
    if not gone:
        return {}
    by_mailbox = {mailbox(before.key): before for before in gone}
    by_name = {_name(before.fields): before for before in gone}
    holds = {}
    for key, fields, before in people:
        # Whoever is held is not added either: who was added came beside the other, or was let in.
        if before is not None and before.add not in (Step.WAITING, Step.REFUSED):
            continue
        if (earlier := by_mailbox.get(mailbox(key))) is not None:
            same = "mailbox"
        elif (earlier := by_name.get(_name(fields))) is not None:
            same = "name"
        else:
            continue
        if before is None or (before.row > earlier.row and before.allowed < (earlier.tried or 0)):
            holds[key] = Held(Cause.SECOND, _why(same, earlier))
    return holds


def _why(same: str, earlier: Known) -> str:
    was = "was invited" if earlier.invite is Step.DONE else "may have been invited"
    return f"has the {same} of {earlier.fields[2]}, who {was} and is no longer in the definition"


def _name(fields: Fields) -> str:
    """Reduce a name to its words, whichever of them stands in which column."""
    words = unicodedata.normalize("NFKD", f"{fields[0]} {fields[1]}").casefold().split()
    return " ".join(sorted(words))
