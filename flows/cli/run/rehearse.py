"""`campaign rehearse`: the real definition, at full size, against a service of its own."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from config.errors import CampaignError
from flows.cli import garbage
from flows.cli.arguments import DefinitionFile, File, OnlyKeys
from flows.cli.run.one_run import OneRun
from flows.words.closing import summary
from flows.words.speech import as_typed, command, complain, counted, say, say_table

if TYPE_CHECKING:
    from flows.rehearsal.rehearsal import Stage, Truth
    from flows.rehearsal.rehearsed_person import Found


class RehearsalFailed(CampaignError):
    """The rehearsal showed something that must not happen for real."""


def rehearse(
    file: File,
    campaign: DefinitionFile = None,
    only: OnlyKeys = None,
    faults: Annotated[
        bool, typer.Option("--faults", help="With lost answers, throttling and an outage.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Leave the sandbox open in a browser until Ctrl-C.")
    ] = False,
) -> None:
    """See a campaign through before it is real: every check, every invitation, every link.

    Runs against a sandbox and a ledger of its own, both thrown away afterwards. Nothing real is
    touched and no email leaves this machine; no credentials are needed.
    """
    from config.settings import load_local
    from flows.cli.run.stopping import tidily_stopped
    from flows.rehearsal.rehearsal import stage

    runs = _read(file, campaign, only or ())
    local = load_local()
    garbage.look_from_now_on()
    say(
        "A rehearsal: nothing real is touched, no credentials are needed, "
        "and no email leaves this machine.",
        "",
    )
    with tidily_stopped(), tempfile.TemporaryDirectory(prefix="rehearsal-") as folder:
        definitions = [one.definition for one in runs]
        with stage(Path(folder), definitions, local) as set_up:
            for one in runs:
                _rehearse(one, set_up, with_troubles=faults)
            _say_what_is_next(runs, local.invites_per_second)
            if keep:
                _leave_open(set_up)


def _read(file: Path, campaign: Path | None, only: Sequence[str]) -> list[OneRun]:
    """Read and check it all, as a run does. Raises BadInput."""
    from flows.cli.prepare.only import check_only, picked
    from flows.cli.reading import read_shown
    from flows.words.complaints import lines_of

    reading = read_shown(file, campaign)
    complain(*(f"Look at {line}" for line in lines_of(reading.warnings)))
    check_only(only, {one.campaign: file for one in reading.definitions}, [file])
    typed = as_typed(file, campaign, only)
    return [OneRun(file, campaign, one, typed) for one in picked(reading.definitions, only)]


def _rehearse(one: OneRun, set_up: "Stage", *, with_troubles: bool) -> None:
    """One campaign: run it, through troubles if asked, and look at what came of it."""
    from flows.rehearsal.rehearsal import kept_out, truth

    began = time.monotonic()
    before = set_up.service.api_requests()
    if with_troubles:
        _run_through_troubles(one, set_up)
    else:
        _run(one, set_up)
    links = set_up.links(one.key)
    say(f"{one.key}: following {counted(len(links), 'link')} into the arena …")
    turned_away = kept_out(set_up.service, links)
    found = truth(set_up.service, links)
    requests = set_up.service.api_requests() - before
    opened = f"{len(links) - len(turned_away):,} of {counted(len(links), 'link')}"
    say(
        "",
        f"{one.key}: {counted(found.invitations, 'email')} in the outbox, nobody twice, "
        f"{opened} opened in the arena",
        f"  {counted(requests, 'request')}, {time.monotonic() - began:.1f} s",
    )
    _judge(one, found, turned_away)
    if one.end and one.end.ending != "completed":
        raise RehearsalFailed(f"{one.key} did not come to its end; the lines above say why.")


def _run_through_troubles(one: OneRun, set_up: "Stage") -> None:
    """Run it again after each doubt that a person settled, until nothing is left to do."""
    from flows.rehearsal.troubles import OUTAGE, Troubles

    size = set_up.local.candidates_per_request
    troubles = Troubles(set_up.service, one.definition, size)
    people = len(one.definition.candidates)
    while True:
        troubles.begin(people)
        _run(one, set_up)
        came = troubles.end()
        if not (_settle(one, set_up) or came) or not one.end or one.end.ending == "completed":
            break
        people = len(one.definition.candidates) - one.end.counts["invited"]
        well = "The service is well again, and the" if OUTAGE in came else "The"
        say("", f"{well} same command once more:", "")
    say("", "What went wrong on purpose:", "")
    rows = [(trouble.what, times, trouble.did) for trouble, times in troubles.came]
    say_table(["trouble", "requests", "what was done"], rows)
    say("")


def _settle(one: OneRun, set_up: "Stage") -> bool:
    """Have a person look, and say what is found and how to say it for real; False: no doubt."""
    looked = set_up.settle(one.key)
    for found in looked:
        say(f"  a person looks: {_words(found)}", f"    for real: {_typed(one.key, found)}")
    return bool(looked)


def _words(found: "Found") -> str:
    if found.operation == "create_project":
        return f"the project is there, as {found.project_id}" if found.happened else "no project"
    if found.operation == "attach_problem":
        return "the project has its problem" if found.happened else "the project has no problem"
    done = "added" if found.operation == "add_candidates" else "invited"
    return f"{found.happened:,} of the {found.of:,} unsure had been {done}"


def _typed(key: str, found: "Found") -> str:
    if found.operation == "create_project" and found.happened:
        return command("settle", key, "--project", found.project_id)
    if found.operation == "attach_problem" and found.happened:
        return command("settle", key, "--problem", "attached")
    return command("settle", key)


def _run(one: OneRun, set_up: "Stage") -> None:
    """Run it as `campaign run` does, but for Prefect. Raises what stops a run."""
    from flows.cli.run.progress import progress
    from flows.run.interrupts import INTERRUPTED
    from tasks.plan.target import CampaignSource

    with progress(as_json=False) as shown:
        one.end = set_up.run(CampaignSource(one.file, one.key, one.definition_file), shown.of(one))
    say(f"{one.key}: {summary({'counts': one.end.counts})}")
    if one.end.reason == INTERRUPTED:
        raise RehearsalFailed("The rehearsal was interrupted. Nothing of it is kept.")
    if one.end.reason:
        say(f"  stopped: {one.end.reason}")


def _judge(one: OneRun, found: "Truth", turned_away: Sequence[str]) -> None:
    """Raises RehearsalFailed for what must not happen for real."""
    if not found.promise_kept:
        raise RehearsalFailed(
            f"{one.key}: {found.twice} people were invited twice and {found.missing} not at all. "
            "Do not run this campaign; please report what you did."
        )
    if turned_away:
        raise RehearsalFailed(
            f"{one.key}: {counted(len(turned_away), 'candidate')} did not reach the arena. "
            f"The first one: {turned_away[0]}."
        )


def _say_what_is_next(runs: Sequence[OneRun], per_second: float | None) -> None:
    people = sum(len(one.definition.candidates) for one in runs if one.definition.invites.send)
    lines = [
        "",
        "Not rehearsed: whether the real service has the problem, and takes your settings.",
    ]
    if per_second and people:
        minutes = people / per_second / 60
        lines.append(
            f"At your limit of {per_second:g} invitations a second it takes {minutes:.1f} min."
        )
    say(*lines, f"For real: {command('run', *runs[0].typed)}")


def _leave_open(set_up: "Stage") -> None:
    """Keep the sandbox until a person stops it."""
    from flows.cli.run.stopping import until_stopped

    url = set_up.service.url
    with until_stopped() as stopped:
        say("", f"The sandbox stays open at {url} (its outbox: {url}/outbox). Ctrl-C ends it.")
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
