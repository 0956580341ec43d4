"""People who are named on the command line by their addresses, for a decision about each."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from config.email_key import email_key
from data.decisions.verdicts import NotDecided
from flows.words.speech import complain

if TYPE_CHECKING:
    from data.store.ledger import Ledger
    from data.store.tables import Campaign


def rows_of(
    ledger: "Ledger",
    campaign: "Campaign",
    emails: Sequence[str],
    against: Callable[[list[int]], Mapping[int, str]],
) -> list[int]:
    """Find everyone who is named. Raises NotDecided, having said what is wrong with each.

    `against` returns the rows that cannot be decided: by position, why not. KEY in it stands for
    the campaign's key.
    """
    from data.campaigns import intake
    from flows.cli.typed_verdicts import unknown
    from flows.words.doubts import standing_of

    everybody = ledger.read(intake.everybody, campaign.id)
    chosen = {email_key(typed): typed for typed in emails}  # named twice is one person
    people = {key: everybody[key].row for key in chosen if key in everybody}
    wrong = [
        f"{typed}: {unknown(typed, standing_of(ledger, campaign))}"
        for key, typed in chosen.items()
        if key not in everybody
    ]
    objections = against(list(people.values()))
    wrong += [
        f"{chosen[key]} {objections[position].replace(' KEY ', f' {campaign.key} ')}"
        for position, key in enumerate(people)
        if position in objections
    ]
    if wrong:
        complain(*wrong)
        raise NotDecided(dict(enumerate(wrong)), "address", "addresses")
    return list(people.values())
