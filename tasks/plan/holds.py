"""Who is held in a run: by the definition and the ledger, and by the do-not-contact list."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from config.definition.model import Definition, ProblemById, ProblemByTitle
from config.errors import BadInput, CampaignError
from config.reading.do_not_contact import read_do_not_contact
from config.settings import LocalSettings
from data.campaigns import intake
from data.campaigns.changes import Known, fields_of, meant
from data.campaigns.remaining import Due
from data.holds import do_not_contact, reasons
from data.holds.do_not_contact import ListFile
from data.holds.reasons import terms_of
from data.holds.rule import Assessment, Held, Holds, Terms, held
from data.holds.second_addresses import second_addresses
from data.store.clock import now
from data.store.ledger import Ledger
from data.store.states import Step
from data.store.tables import Campaign
from tasks.plan.target import Target

NOTHING_YET = (Step.WAITING, Step.REFUSED)


SETTING = "CAMPAIGN_DO_NOT_CONTACT"


class ListUnreadable(CampaignError):
    """The do-not-contact list became unreadable during a run."""


def list_file(local: LocalSettings) -> ListFile | None:
    """Read the do-not-contact list that the settings name, if any. Raises BadInput."""
    path = local.do_not_contact
    if path is None:
        return None
    try:
        stat = path.stat()
    except OSError:
        return _read(path, None)  # which says what is wrong with it
    return _read(path, (stat.st_ino, stat.st_mtime_ns, stat.st_size))


@lru_cache(maxsize=1)
def _read(path: Path, _as_it_is: tuple[int, int, int] | None) -> ListFile:
    # The list is needed before each wave, and checking 100,000 addresses takes seconds.
    try:
        return ListFile(str(path), read_do_not_contact(path))
    except BadInput as error:
        # Name it by the setting: the file is not one that was typed.
        raise BadInput(replace(problem, field=SETTING) for problem in error.problems) from None


def follow_the_list(
    ledger: Ledger, local: LocalSettings, before: ListFile | None = None
) -> ListFile | None:
    """Store the list from the file, unless it is still the same as `before`. Raises BadInput."""
    listed = list_file(local)
    if listed is not None and listed is not before:
        do_not_contact.follow(ledger, listed)
    return listed


def follow_on(ledger: Ledger, local: LocalSettings, before: ListFile | None) -> ListFile | None:
    """Store it again during a run. Raises ListUnreadable."""
    try:
        return follow_the_list(ledger, local, before)
    except BadInput:
        raise ListUnreadable(
            f"The do-not-contact list {local.do_not_contact} can no longer be read, so nothing "
            "more is sent. Fix it, then run again."
        ) from None


def held_by(
    target: Target,
    definition: Definition,
    in_ledger: Mapping[str, Known],
    people: Sequence[Due],
    ledger: Ledger | None,
    listed: ListFile | None = None,
) -> dict[str, Held]:
    """Which of the people that a run would add or invite are held, by email key.

    `in_ledger` are the campaign's people, `listed` is the do-not-contact file, if the ledger has
    not stored it yet.
    """
    if ledger is None:
        return _held_by_file(definition, people, listed)
    campaign = target.known
    terms = terms_for(definition, campaign, target.service)
    keys = [person.key for person in people]
    seconds = _seconds(definition, in_ledger, set(keys))
    own = campaign.id if campaign else None
    return seconds | ledger.read(reasons.held_people, own, terms, keys, listed)


def held_unchanged(campaign: Campaign, ledger: Ledger) -> dict[str, Held]:
    """Who is held in a definition that the ledger has stored, by email key."""
    rows = ledger.read(reasons.held_in, campaign.id)
    if not rows:
        return {}
    people = ledger.read(intake.people, list(rows))
    return {person.key: rows[person.row] for person in people}


def _seconds(
    definition: Definition, in_ledger: Mapping[str, Known], keys: Collection[str]
) -> dict[str, Held]:
    """Who would be invited again, at another address, once the definition is stored."""
    if not in_ledger:
        return {}
    means = [
        (candidate.key, fields_of(candidate), before)
        for candidate, before in meant(definition, in_ledger)
    ]
    seconds = second_addresses(means, in_ledger.values())
    return {key: why for key, why in seconds.items() if key in keys}


def _held_by_file(
    definition: Definition, people: Sequence[Due], listed: ListFile | None
) -> dict[str, Held]:
    """Who is held by the file of the do-not-contact list alone: there is no ledger yet."""
    if listed is None:
        return {}
    terms, at = terms_for(definition, None, ""), now()
    held_now = {
        person.key: held(person.key, terms, (), listed.amend(person.key, ()), at)
        for person in people
    }
    return {key: reason for key, reason in held_now.items() if reason is not None}


def in_words(holds: Holds) -> str:
    """Count them for a person, without a name: `3 left out: 3 on the do-not-contact list`."""
    parts = [f"{holds.listed:,} on the do-not-contact list"] if holds.listed else []
    if holds.others:
        parts.append(f"{holds.others:,} invited by another campaign or at another address")
    return f"{holds.number:,} left out: {', '.join(parts)}"


def terms_for(definition: Definition, campaign: Campaign | None, service: str) -> Terms:
    """The terms of a campaign once its definition is stored: what was sent stays as it is."""
    cooldown = definition.invites.cooldown
    problem, project = definition.problem, definition.project.id
    pilot = definition.invites.timetable.pilot
    number = problem.id if isinstance(problem, ProblemById) else None
    title = problem.title if isinstance(problem, ProblemByTitle) else None
    zone = definition.timezone
    if campaign is None:
        return Terms(Assessment(service, number, project, title), cooldown, pilot, zone)
    stands = terms_of(campaign).assessment
    if campaign.problem_state not in NOTHING_YET or (title and title == stands.problem_title):
        number, title = stands.problem_id, stands.problem_title
    if campaign.project_state not in NOTHING_YET:
        project = stands.project_id
    return Terms(Assessment(stands.service, number, project, title), cooldown, pilot, zone)
