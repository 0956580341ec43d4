"""The question before anything is sent, on a terminal: what a run would do, and whether it may."""

import sys
from collections.abc import Sequence

from config.command_line import command
from config.errors import CampaignError
from config.people.doubts import is_sample
from config.reading.reading import Reading
from data.campaigns.remaining import Remaining
from data.campaigns.same_campaign import AnotherCampaign
from flows.cli.prepare.check import notes_of
from flows.cli.prepare.forecast import Forecast
from flows.cli.prepare.plan import forecasts_of
from flows.cli.prepare.plan_checks import check_same, created
from flows.cli.prepare.plan_words import lines_of
from flows.cli.run.one_run import OneRun
from flows.words.speech import agrees, complain, counted

WRITTEN_OUT = 3  # up to so many campaigns, each plan is shown; with more, a line for each

Asked = Sequence[tuple[OneRun, Forecast]]


class NotSent(CampaignError):
    """A person answered the question with no, or not at all."""

    def __init__(self) -> None:
        self.then = f"When it is right, run again: {command(*sys.argv[1:])}"
        super().__init__("Nothing was sent.")


def show_notes(reading: Reading, runs: Sequence[OneRun]) -> None:
    """Say what should be known of a file before these campaigns of it are sent."""
    definitions = [run.definition for run in runs]
    complain(*(f"Note: {note}" for note in notes_of(reading, definitions, created(definitions))))


def ask(runs: Sequence[OneRun]) -> None:
    """Ask once about all that would be sent, and hold the runs to it. Raises NotSent.

    Nobody is asked where nothing would be sent, or where a person approves the plan anyway.
    """
    free = [run for run in runs if run.definition.invites.approval is None]
    forecasts = forecasts_of([run.definition for run in free])
    asked: list[tuple[OneRun, Forecast]] = []
    for run, seen in zip(free, forecasts, strict=True):
        if seen.nothing or seen.stop is not None or _is_another(run):
            run.agreed = Remaining()
        else:
            run.agreed = Remaining(add=seen.add, invite=seen.invite)
            asked.append((run, seen))
    if not asked:
        return
    for run, seen in asked:
        if len(asked) <= WRITTEN_OUT:
            complain(*lines_of(run.definition, seen))
        else:
            complain(f"{run.key}: {seen.add:,} to add, {_emails(run, seen):,} to invite")
    if not agrees(question(asked), sys.stderr):
        raise NotSent


def question(asked: Asked) -> str:
    """Put into one line how many people would get an email, and which of them to look at."""
    emails = sum(_emails(run, seen) for run, seen in asked)
    added = sum(seen.add for run, seen in asked if not _emails(run, seen))
    of = f" of {counted(len(asked), 'campaign')}" if len(asked) > 1 else ""
    added_in_words = f"{counted(added, 'person', 'people')}{of} will be added"
    look = ", ".join(_to_look_at(asked))
    look = f" ({look})" if look else ""
    if not emails:
        what = added_in_words if added else "The project is made ready"
        return f"{what}{look}; no email is sent. Go on? [y/N] "
    more = f"; {counted(added, 'other', 'others')} will be added without one" if added else ""
    return f"{counted(emails, 'person', 'people')}{of} will get an email{look}{more}. Send? [y/N] "


def _emails(run: OneRun, seen: Forecast) -> int:
    return seen.invite - seen.never if run.definition.invites.send else 0


def _to_look_at(asked: Asked) -> list[str]:
    hidden = sum(seen.hidden for _, seen in asked)
    going = [
        (run, person)
        for run, seen in asked
        for person in run.definition.candidates
        if person.key in seen.going
    ]
    samples = sum(is_sample(person.key) for _, person in going)
    doubtful = sum(person.place in run.doubtful for run, person in going)
    return [
        *([f"{hidden:,} of them in hidden rows"] if hidden else []),
        *([f"{samples:,} with a sample address"] if samples else []),
        *([f"{doubtful:,} with a doubtful address"] if doubtful else []),
    ]


def _is_another(run: OneRun) -> bool:
    """Whether the run will be refused, as its key is another campaign's."""
    try:
        check_same([run.definition], run.digest, run.typed)
    except AnotherCampaign:
        return True
    return False
