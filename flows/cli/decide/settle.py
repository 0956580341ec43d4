"""`campaign settle`: a person's verdicts on what is unsure."""

import sys
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from config.command_line import command
from config.errors import BadInput
from config.mistakes import Mistake, Place
from data.decisions.verdicts import NEED_A_REASON, Decided, Doubt, NotDecided, listed, objections
from data.store.states import By, Operation, Word
from flows.cli.arguments import AsJson, Key
from flows.cli.decide import one_by_one, verdicts_file
from flows.cli.decide.accepting import accept_ledger
from flows.cli.decide.settle_options import (
    AcceptLedger,
    Export,
    Filled,
    ForCandidate,
    ForCandidates,
    ForInvites,
    ForProblem,
    ForProject,
    Listed,
    Now,
    Output,
    Why,
)
from flows.cli.known_campaign import known_campaign
from flows.cli.outputs import check_output
from flows.cli.typed_verdicts import Typed, meant
from flows.cli.who import Who, login_name
from flows.words.closing import next_steps, summary
from flows.words.doubts import Standing, in_calls, show, standing_of
from flows.words.doubts import as_json as doubt_as_json
from flows.words.speech import answer_to, complain, counted, print_json, run_again, say

if TYPE_CHECKING:
    from data.store.ledger import Ledger
    from data.store.tables import Campaign


def settle(
    key: Key,
    project: ForProject = None,
    problem: ForProblem = None,
    candidate: ForCandidate = None,
    candidates: ForCandidates = None,
    invites: ForInvites = None,
    listed: Listed = None,
    source: Filled = None,
    export: Export = False,
    output: Output = None,
    why: Why = None,
    who: Who = None,
    now: Now = False,
    accepted: AcceptLedger = False,
    as_json: AsJson = False,
) -> None:
    """Decide what is unsure, after you have looked.

    Lists every call whose answer was lost, and what to type for each. On a terminal it asks one by
    one. Nothing is sent now: the next run goes on from your verdicts.
    """
    from config.timetable.moments import in_zone
    from data.decisions import settling
    from data.store import clock

    typed = Typed(project, problem, candidate or (), candidates, invites, listed)
    _one_way_only(typed, source, export=export, output=output, accepted=accepted)
    if accepted:
        accept_ledger(key, who or login_name(), why, as_json=as_json)
        return
    with known_campaign(key) as (ledger, campaign):
        standing = standing_of(ledger, campaign)
        if export:
            check_output(output, ledger)
            if output is not None or not as_json:
                _export(standing, output)
            if as_json:
                print_json(_for_program(key, standing.doubts.steps))
            return
        if typed or source is not None:
            decided = _decided(typed, source, standing, why, soon=now)
            ledger.write(
                settling.settle, campaign.id, decided, By(who or login_name(), why or ""), soon=now
            )
            _tell_settled(key, decided, as_json=as_json)
        elif not as_json and standing.doubts.steps:
            show(campaign, standing.doubts.steps)
            if not (sys.stdin.isatty() and sys.stdout.isatty()):
                again = max(doubt.again_from for doubt in standing.doubts.steps)
                if again > clock.now():
                    at = in_zone(again, campaign.timezone)
                    say(f'Before {at}, "again" needs --no-wait: the service may still be at work.')
                raise typer.Exit(3)
            one_by_one.ask(ledger, campaign, who or login_name(), why, soon=now)
        code = _close(ledger, key, as_json=as_json)
    raise typer.Exit(code)


def _one_way_only(
    typed: Typed, source: Path | None, *, export: bool, output: Path | None, accepted: bool
) -> None:
    if accepted and (typed or source is not None or export):
        raise typer.BadParameter("use --accept-ledger alone: it is about the whole ledger")
    others = Typed(candidates=typed.candidates, listed=typed.listed)
    beside_a_list = source is not None and typed == others
    if sum((bool(typed) and not beside_a_list, source is not None, export)) > 1:
        raise typer.BadParameter(
            "use one of --export, --from and the verdict options at a time; only --candidates "
            "goes with --from LIST, for everybody who is not in it"
        )
    if output is not None and not export:
        raise typer.BadParameter("-o goes with --export")


def _export(standing: Standing, output: Path | None) -> None:
    content = verdicts_file.write(standing.doubts.steps)
    if output is None:
        # Bytes, as the terminal's encoding is not the file's.
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return
    from data.own_files import write_whole

    write_whole(output, BOM_UTF8 + content)  # without the mark, Excel takes it for another encoding
    key = standing.campaign.key
    complain(
        f"{counted(len(standing.doubts.steps), 'row')} in {output}. Fill in the column verdict, "
        "then run:",
        f"  {command('settle', key, '--from', output, '--why', 'TEXT')}",
    )


def _decided(
    typed: Typed, source: Path | None, standing: Standing, why: str | None, *, soon: bool
) -> list[Decided]:
    """Find the verdicts, in a file or in the options. Raises BadInput or NotDecided."""
    if source is not None and not verdicts_file.is_one(source):
        return _from_list(source, typed, standing, why, soon=soon)
    if source is not None and typed:
        raise typer.BadParameter("--candidates goes with a list of candidates, not with verdicts")
    if source is not None:
        rows, problems = verdicts_file.read(source, standing)
        return _taken(source, rows, problems, standing, why, soon=soon)
    return _from_options(typed, standing, why, soon=soon)


def _from_list(
    path: Path, typed: Typed, standing: Standing, why: str | None, *, soon: bool
) -> list[Decided]:
    """Read the web application's list as verdicts on all unsure adds, and show what it says."""
    from flows.cli.decide import added_list

    key, others = standing.campaign.key, None
    if typed.candidates is not None:
        others = Word(typed.candidates)
    people = added_list.read(path)
    adds = [doubt for doubt in standing.doubts.steps if doubt.operation is Operation.ADD]
    code = listed(people.missing(adds), Operation.ADD)
    if typed.listed not in (None, code, listed(adds, Operation.ADD)):
        wrong = f"--candidates: not what was listed any more. Look again: {command('settle', key)}"
        complain(wrong)
        raise NotDecided({0: wrong})
    rows = people.verdicts(standing.doubts.steps, others)
    problems = people.elsewhere(standing.doubts.steps)
    decided = _taken(path, rows, problems, standing, why, soon=soon)
    counts = Counter(verdict.word for verdict in decided)
    complain(f"{path} has ids for {counts[Word.ID]:,} of {counted(len(adds), 'unsure add')}")
    if counts[Word.DOUBLE]:
        complain(
            f"  {counted(counts[Word.DOUBLE], 'more record')} of the same people: see "
            "campaign clean-up"
        )
    if (absent := len(adds) - counts[Word.ID]) > 0:
        rest = "stay unsure" if others is None else f"settled as {others}"
        complain(f"  {counted(absent, 'person', 'people')} not in it: {rest}")
    if others is None and absent > 0:
        words = ("--from", path, "--candidates", "again", "--listed", code, "--why", "TEXT")
        again = command("settle", key, *words)
        complain(f"  if the list is complete, they were not added: {again}")
    if decided and sys.stdin.isatty() and sys.stdout.isatty():
        answer = answer_to("Record these verdicts? [y/N] ")
        if (answer or "").casefold() not in ("y", "yes"):
            say("Nothing was decided.")
            raise typer.Exit(1)
    return decided


def _taken(
    path: Path,
    rows: Sequence[tuple[int, Decided]],
    problems: list[Mistake],
    standing: Standing,
    why: str | None,
    *,
    soon: bool,
) -> list[Decided]:
    """Judge the verdicts of a file, each with its line (0: none); or raise BadInput with all."""
    from data.store.clock import now as moment

    decided = [verdict for _, verdict in rows]
    refused = objections(standing.doubts, decided, moment(), soon=soon)
    then = _instead(standing, decided, refused, why, more=bool(problems))
    for position, objection in refused.items():
        place = Place(str(path), rows[position][0] or None)
        problems.append(Mistake(place, "verdict", message=objection))
    if problems:
        raise BadInput(sorted(problems, key=lambda problem: problem.place.line or 0), then=then)
    _reason_given(decided, why)
    return decided


def _from_options(
    typed: Typed, standing: Standing, why: str | None, *, soon: bool
) -> list[Decided]:
    """Find what the options mean. Raises NotDecided, having said what is wrong with each."""
    from data.store.clock import now as moment

    by_option, wrong = meant(typed, standing)
    decided = [verdict for _, verdict in by_option]
    refused = objections(standing.doubts, decided, moment(), soon=soon)
    then = _instead(standing, decided, refused, why, more=bool(wrong))
    counts = Counter(
        f"{by_option[position][0]}: {why_not}" for position, why_not in refused.items()
    )
    wrong += [
        f"{line} ({number} people)" if number > 1 else line for line, number in counts.items()
    ]
    if wrong:
        complain(*wrong)
        raise NotDecided(dict(enumerate(wrong)), then=then)
    _reason_given(decided, why)
    return decided


def _instead(
    standing: Standing,
    decided: Sequence[Decided],
    refused: Mapping[int, str],
    why: str | None,
    *,
    more: bool,
) -> str | None:
    """What to type if the same options would be refused again; None if they can be corrected.

    `more`: something is wrong with the options besides what is `refused`.
    """
    from data.store.clock import now as moment

    key = standing.campaign.key
    if refused and not more and all(decided[position].value for position in refused):
        listing = command("settle" if standing.doubts.steps else "status", key)
        return f"To see where to look and what to type: {listing}"
    if not standing.doubts.steps:
        return f"Nothing in {key} is unsure. To see where it stands: {command('status', key)}"
    if more or not refused or objections(standing.doubts, decided, moment(), soon=True):
        return None
    reason = () if why and why.strip() else ("--why", "TEXT")
    return f"To send it again at once: {command(*sys.argv[1:], '--no-wait', *reason)}"


def _reason_given(decided: Sequence[Decided], why: str | None) -> None:
    heavy = {verdict.word for verdict in decided} & set(NEED_A_REASON)
    if heavy and not (why and why.strip()):
        raise typer.BadParameter(
            f"{' and '.join(sorted(heavy))} needs a reason, which is recorded: --why TEXT"
        )


def _tell_settled(key: str, decided: Sequence[Decided], *, as_json: bool) -> None:
    counts = Counter(str(verdict.word) for verdict in decided)
    by_word = ", ".join(f"{number:,} {word}" for word, number in counts.items())
    recorded = (
        f"{counted(len(decided), 'verdict')} recorded ({by_word})" if decided else "no verdicts"
    )
    say(f"{key}: {recorded}", as_json=as_json)


def _for_program(key: str, unsure: Sequence[Doubt]) -> dict[str, Any]:
    return {"campaign": key, "unsure": [doubt_as_json(doubt) for doubt in unsure]}


def _close(ledger: "Ledger", key: str, *, as_json: bool) -> int:
    """Say what is left and what to type next; returns the exit code."""
    from data.decisions import settling
    from flows.cli.known_campaign import find_campaign
    from tasks.status.standing import in_short

    campaign: Campaign = find_campaign(ledger, key)
    left = ledger.read(settling.find, campaign.id).steps
    if as_json:
        print_json(_for_program(key, left))
    status = in_short(ledger, campaign)
    unsure = f"{in_calls(left)} unsure" if left else "nothing is unsure"
    say("", f"{key}: {unsure}; {summary(status)}", as_json=as_json)
    say(*(f"  {step}" for step in next_steps(status, *run_again(campaign))), as_json=as_json)
    return 3 if left else 0
