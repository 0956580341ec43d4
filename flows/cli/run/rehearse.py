"""`campaign rehearse`: the real definition, at full size, against a service of its own."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from config.command_line import command
from config.errors import CampaignError
from flows.cli.arguments import DefinitionFile, File, OnlyKeys, Sheet
from flows.cli.main import look_for_garbage
from flows.cli.reading import TypedFile
from flows.cli.run.one_run import OneRun
from flows.words.closing import summary
from flows.words.complaints import doubtful
from flows.words.speech import complain, counted, say, say_table

if TYPE_CHECKING:
    from flows.rehearsal.rehearsal import Settled, Stage, Truth


class RehearsalFailed(CampaignError):
    """The rehearsal showed something that must not happen for real."""


def rehearse(
    file: File,
    campaign: DefinitionFile = None,
    sheet: Sheet = None,
    only: OnlyKeys = None,
    faults: Annotated[
        bool, typer.Option("--faults", help="Add lost answers, throttling and an outage.")
    ] = False,
    keep: Annotated[
        bool,
        typer.Option("--open", help="Open the sandbox in a browser, and keep it until Ctrl-C."),
    ] = False,
) -> None:
    """Try a whole campaign without touching anything real.

    It tries every check, invitation and link against a sandbox and a ledger of its own, and throws
    both away afterwards. No email leaves this machine, and you need no credentials.
    """
    from config.settings import load_local
    from flows.cli.run.sandbox import tidily_stopped
    from flows.rehearsal.rehearsal import stage

    typed = TypedFile(file, campaign, sheet, only or ())
    reading, definitions = typed.read_picked()
    complain(*doubtful(reading.warnings))
    runs = [OneRun(typed, definition) for definition in definitions]
    local = load_local()
    look_for_garbage()
    say(
        "A rehearsal: nothing real is touched, you need no credentials, and no email leaves this "
        "machine.",
        "",
    )
    with tidily_stopped(), _folder() as folder, stage(folder, definitions, local) as set_up:
        for run in runs:
            _rehearse(run, set_up, with_troubles=faults)
        _say_what_is_next(runs, local.invites_per_second)
        if keep:
            _leave_open(set_up)


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder that is deleted at the end; a signal that comes amid that leaves nobody in it."""
    from flows.cli.run.sandbox import until_stopped

    made = tempfile.TemporaryDirectory(prefix="rehearsal-")
    try:
        yield Path(made.name)
    finally:
        with until_stopped():
            made.cleanup()


def _rehearse(run: OneRun, set_up: "Stage", *, with_troubles: bool) -> None:
    """One campaign: run it, through troubles if asked, and look at what came of it."""
    from flows.rehearsal.rehearsal import kept_out, truth

    began = time.monotonic()
    before = set_up.service.api_requests()
    if with_troubles:
        _run_through_troubles(run, set_up)
    else:
        _run(run, set_up)
    links = set_up.links(run.key)
    say(f"{run.key}: following {counted(len(links), 'link')} into the arena …")
    turned_away = kept_out(set_up.service, links)
    outcome = truth(set_up.service, links)
    requests = set_up.service.api_requests() - before
    opened = f"{len(links) - len(turned_away):,} of {counted(len(links), 'link')}"
    say(
        "",
        f"{run.key}: {counted(outcome.invitations, 'email')} in the outbox, nobody twice, "
        f"{opened} opened in the arena",
        f"  {counted(requests, 'request')}, {time.monotonic() - began:.1f} s",
    )
    _judge(run, outcome, turned_away)
    if run.end and run.end.ending != "completed":
        raise RehearsalFailed(f"{run.key} did not finish; the lines above say why.")


def _run_through_troubles(run: OneRun, set_up: "Stage") -> None:
    """Run it again after each doubt that a person settled, until nothing is left to do."""
    from flows.rehearsal.troubles import OUTAGE, Troubles

    size = set_up.local.candidates_per_request
    troubles = Troubles(set_up.service, run.definition, size)
    people = len(run.definition.candidates)
    while True:
        troubles.begin(people)
        _run(run, set_up)
        came = troubles.end()
        if not (_settle(run, set_up) or came) or not run.end or run.end.ending == "completed":
            break
        people = len(run.definition.candidates) - run.end.counts["invited"]
        well = "The service works again. The" if OUTAGE in came else "The"
        say("", f"{well} same command again:", "")
    say("", "What went wrong on purpose:", "")
    rows = [(trouble.what, times, trouble.did) for trouble, times in troubles.came]
    say_table(["trouble", "requests", "what the program did"], rows)
    say("")


def _settle(run: OneRun, set_up: "Stage") -> bool:
    """Settle as a person would; say what was found and what to type for real. False: no doubt."""
    looked = set_up.settle(run.key)
    for settled in looked:
        words, typed = _in_words(run.key, settled)
        say(f"  the rehearsal looks for you: {words}", f"    in a real campaign: {typed}")
    return bool(looked)


def _in_words(key: str, settled: "Settled") -> tuple[str, str]:
    """What was found at the service, and what to type about it in a real campaign."""
    typed = command("settle", key)
    if settled.operation == "create_project":
        if settled.happened:
            exists = f"the project exists, with id {settled.project_id}"
            return exists, command("settle", key, "--project", "ID")
        return "there is no project", typed
    if settled.operation == "attach_problem":
        if settled.happened:
            return "the project has its problem", command("settle", key, "--problem", "attached")
        return "the project has no problem", typed
    done = "added" if settled.operation == "add_candidates" else "invited"
    return f"{settled.happened:,} of the {settled.of:,} unsure had been {done}", typed


def _run(run: OneRun, set_up: "Stage") -> None:
    """Run it as `campaign run` does, but for Prefect. Raises what stops a run."""
    from flows.cli.run.progress import progress
    from flows.run.interrupts import INTERRUPTED
    from tasks.plan.target import CampaignSource

    with progress(starts=False) as shown:
        typed = run.typed
        asked = CampaignSource(typed.file, run.key, typed.campaign, sheet=typed.sheet)
        run.end = set_up.run(asked, shown(run))
    say(f"{run.key}: {summary({'counts': run.end.counts})}")
    if run.end.reason == INTERRUPTED:
        raise RehearsalFailed("The rehearsal was interrupted. Nothing of it is kept.")
    if run.end.reason:
        say(f"  stopped: {run.end.reason}")


def _judge(run: OneRun, outcome: "Truth", turned_away: Sequence[str]) -> None:
    """Raises RehearsalFailed for what must not happen for real."""
    if not outcome.promise_kept:
        raise RehearsalFailed(
            f"{run.key}: {outcome.twice} people were invited twice and {outcome.missing} not at "
            "all. Do not run this campaign; please report what you did."
        )
    if turned_away:
        raise RehearsalFailed(
            f"{run.key}: {counted(len(turned_away), 'candidate')} did not reach the arena. "
            f"The first one: {turned_away[0]}."
        )


def _say_what_is_next(runs: Sequence[OneRun], per_second: float | None) -> None:
    people = sum(len(run.definition.candidates) for run in runs if run.definition.invites.send)
    lines = [
        "",
        "Not rehearsed: whether the real service has the problem and accepts your settings.",
    ]
    if per_second and people:
        minutes = people / per_second / 60
        lines.append(
            f"At your limit of {per_second:g} invitations a second it takes {minutes:.1f} min."
        )
    say(*lines, f"For real: {command('run', *runs[0].typed.words)}")


def _leave_open(set_up: "Stage") -> None:
    """Keep the sandbox until a person stops it."""
    from flows.cli.run.sandbox import until_stopped

    url = set_up.service.url
    with until_stopped() as stopped:
        say(
            "",
            f"The sandbox stays open at {url} (its outbox: {url}/outbox). Press Ctrl-C to stop it.",
        )
        _show(url)
        stopped.wait()
    say("The rehearsal is over, and what it wrote is deleted.")


def _show(url: str) -> None:
    """Open a browser where there is a screen; a text browser would take the terminal away."""
    import os
    import sys
    import webbrowser

    screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if screen and sys.stdout.isatty():
        webbrowser.open(url)
