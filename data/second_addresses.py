"""Who may be invited a second time, under another address: for a person to look at. Pure.

A candidate is an email key, so a row whose address was edited is somebody new to the ledger. What
gives such a row away is that the one invited before has left the definition, and has the same name
or the same mailbox.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from config.definition import Candidate, Definition
from config.email_doubts import mailbox
from data.remaining import Known
from data.states import Step

# Their email went out, or may have.
INVITED = (Step.DONE, Step.UNSURE, Step.SENDING)


@dataclass(frozen=True, slots=True)
class SecondAddress:
    """Somebody new who is most likely somebody invited before; `same` is what they share."""

    person: Candidate
    invited: Known
    same: str

    def __str__(self) -> str:
        """One line: `ada@new.org has the name of ada@old.org, who …`."""
        return (
            f"{self.person.email1} has the {self.same} of {self.invited.fields[2]}, who was "
            "invited and is no longer listed; one person would be invited twice"
        )


def second_addresses(definition: Definition, known: Mapping[str, Known]) -> Iterator[SecondAddress]:
    """Compare those who are new with those who were invited and are no longer listed."""
    listed = {person.key for person in definition.candidates}
    gone = [
        before for before in known.values() if before.key not in listed and before.invite in INVITED
    ]
    if not gone:
        return
    by_mailbox = {mailbox(before.key): before for before in gone}
    by_name = {_name(*before.fields[:2]): before for before in gone}
    for person in definition.candidates:
        if person.key in known:
            continue
        if (same := by_mailbox.get(mailbox(person.key))) is not None:
            yield SecondAddress(person, same, "mailbox")
        elif (same := by_name.get(_name(person.first_name, person.last_name))) is not None:
            yield SecondAddress(person, same, "name")


def _name(first: str, last: str) -> str:
    """Reduce a name to its words, whichever of them stands in which column."""
    words = unicodedata.normalize("NFKD", f"{first} {last}").casefold().split()
    return " ".join(sorted(words))
