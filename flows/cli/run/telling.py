"""How each campaign of a run ended, and what to type next."""

from collections.abc import Iterator, Sequence
from typing import Any

from config.command_line import command
from config.errors import CampaignError
from config.settings import load_address
from data.campaigns import queries
from data.store.errors import LedgerGone
from data.store.states import Ending, Step
from flows.cli.ledgers import ledger_if_any
from flows.cli.run.one_run import OneRun
from flows.run.ending import BESIDE, Finish
from flows.words.closing import beside_a_run, lines_of, next_steps, summary, wrote
from flows.words.complaints import explain
from flows.words.speech import complain, counted, manner, quoted, say
from tasks.status.asking import before_a_run
from tasks.status.standing import in_short, standing, tally


def tell(runs: Sequence[OneRun], database: str) -> tuple[list[dict[str, Any]], list[int]]:
    """Say how each campaign ended; returns the status object and the exit code of each."""
    look = standing if manner().as_json else in_short
    objects: list[dict[str, Any]] = []
    codes = []
    with ledger_if_any(database) as ledger:
        for run in runs:
            campaign = ledger.read(queries.find_campaign, run.key) if ledger else None
            status = look(ledger, campaign) if ledger and campaign else _untouched(run)
            objects.append(status)
            instead = before_a_run(ledger, campaign) if ledger and campaign else None
            codes.append(_tell_end(run, status, instead))
    return objects, codes


def worst(codes: Sequence[int]) -> int:
    """Stopped outweighs bad input, which outweighs rows that need a person."""
    return next((code for code in (1, 2, 3) if code in codes), 0)


def _tell_end(run: OneRun, status: dict[str, Any], instead: str | None) -> int:
    """`instead`: what a person must do before another run can send."""
    now = run.end.invited if run.end else None
    if not isinstance(run.error, LedgerGone):  # how it stands, only the file that is gone knows
        say(f"{run.key}: {summary(status, now)}")
    if isinstance(run.error, CampaignError):
        explain(run.error)
        _quote(run, status)
        return run.error.exit_code
    if run.end is None:
        from tasks.shell import in_words  # imports Prefect, which has failed

        unended = "The run did not finish. The same command continues from there."
        complain(in_words(run.error) if run.error else unended)
        return 1
    if run.end.ending is Ending.AWAITS_APPROVAL:
        say(*(lines_of(run.end.plan) if run.end.plan else ()))
        complain(f"  {run.end.reason}")
        return run.end.exit_code
    if run.end.reason:
        word = "not invited" if run.end.mend else "not yet"
        word = "stopped" if run.end.ending is Ending.STOPPED else word
        complain(f"  {word}: {run.end.reason}")
    if run.end.receipt:
        complain(f"  receipt: {run.end.receipt}")
    _quote(run, status)
    for line in _left_alone(run.end):
        say(f"  {line}; see: {command('plan', *run.typed.words)}")
    if run.end.mend or (instead and instead == run.end.reason):
        instead = ""
    typed = run.typed
    steps = next_steps(status, *typed.words, instead=instead) if typed.goes_on else []
    if run.end.reason == BESIDE:
        steps = beside_a_run(steps, run.key)
    say(*(f"  {line}" for line in steps))
    return run.end.exit_code


def _quote(run: OneRun, status: dict[str, Any]) -> None:
    instead = [quoted(run.wrote)] if run.wrote else []
    complain(*(f"  {line}" for line in dict.fromkeys([*instead, *wrote(status)])))


def _left_alone(end: Finish) -> Iterator[str]:
    """What the service cannot be told: it has no update and no delete (interface 4)."""
    if end.changed:
        people = counted(end.changed, "person is", "people are")
        yield f"changed: {people} already added, and not updated"
    if end.removed:
        yield (
            f"removed: {counted(end.removed, 'person', 'people')} no longer in the file; "
            "nothing was changed for them"
        )
    if end.corrected:
        yield f"corrected: {counted(end.corrected, 'old address', 'old addresses')} not used"


def _untouched(run: OneRun) -> dict[str, Any]:
    """The status object of a campaign that never came into the ledger.

    Where the ledger was taken away from under its run, the numbers are those of the run.
    """
    definition = run.definition
    people = {(True, Step.WAITING, Step.WAITING): len(definition.candidates)}
    ran = dict(run.end.counts) if run.end else {}
    apart = {name: ran.pop(name, 0) for name in ("withdrawn_since", "removed")}
    return {
        "campaign": run.key,
        "service": load_address(),
        "timezone": definition.timezone,
        "project_id": definition.project.id,
        "problem_id": getattr(definition.problem, "id", None),
        "project": Step.WAITING if definition.project.id is None else Step.DONE,
        "problem": Step.WAITING if definition.problem else Step.DONE,
        "counts": ran or tally(people, send=definition.invites.send),
        **apart,
        "held": 0,
        "holds": [],
        "paused": None,
        "to_confirm": False,
        "problem_doubt": None,
        "clean_up": [],
        "service_wrote": [],
        "typed_ids": [],
        "listed_refused": None,
        "candidates": [
            {
                "email1": person.email1,
                "candidate_id": None,
                "add": Step.WAITING,
                "invite": Step.WAITING,
                "listed": True,
                "embed_url": None,
                "why": None,
                "service_wrote": None,
            }
            for person in ([] if ran else definition.candidates)
        ],
    }
