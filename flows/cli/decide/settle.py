"""`campaign settle`: a person's verdicts on what is unsure."""

import sys
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from config.command_line import command
from config.errors import BadInput
from config.mistakes import Mistake, Place
from config.timetable.moments import minute_from
from data.decisions.verdicts import NEED_A_REASON, Decided, Doubt, NotDecided, listed, objections
from data.store import clock
from data.store.states import Operation, Word
from flows.cli.arguments import Key, Who, by, given
from flows.cli.decide import one_by_one, verdicts_file
from flows.cli.decide import typed_verdicts as options
from flows.cli.decide.typed_verdicts import Typed, meant
from flows.cli.ledgers import find_campaign, known_campaign, open_ledger
from flows.cli.outputs import check_output
from flows.words.closing import next_steps, summary
from flows.words.complaints import Mistyped
from flows.words.doubts import Standing, in_calls, show, standing_of
from flows.words.doubts import as_json as doubt_as_json
from flows.words.speech import (
    agrees,
    answer_program,
    complain,
    counted,
    manner,
    on_a_terminal,
    print_bytes,
    run_again,
    say,
)

if TYPE_CHECKING:
    from data.store.ledger import Ledger
    from data.store.tables import Campaign


def settle(
    key: Key,
    project: options.ForProject = None,
    problem: options.ForProblem = None,
    candidate: options.ForCandidate = None,
    candidates: options.ForCandidates = None,
    invites: options.ForInvites = None,
    listed: options.Listed = None,
    source: options.Filled = None,
    export: options.Export = False,
    output: options.Output = None,
    why: options.Why = None,
    who: Who = None,
    now: options.Now = False,
    accepted: options.AcceptLedger = False,
) -> None:
    """Decide what is unsure, after you have looked.

    Lists every call whose answer was lost, and what to type for each. On a terminal it asks one by
    one. Nothing is sent now: the next run goes on from your verdicts.
    """
    from data.decisions import settling

    typed = Typed(project, problem, candidate or (), candidates, invites, listed)
    _one_way_only(typed, source, export=export, output=output, accepted=accepted)
    if accepted:
        _accept_ledger(key, who, why)
        return
    with known_campaign(key) as (ledger, campaign):
        standing = standing_of(ledger, campaign)
        unsure = standing.doubts.steps
        if export:
            check_output(output, ledger)
            if output is not None or not manner().as_json:
                _export(standing, output)
            if unsure or output is None:
                _answer(key, unsure)
                return
        if typed or source is not None:
            decided = _decided(_Judge(standing, why, now), typed, source)
            try:
                ledger.write(settling.settle, campaign.id, decided, by(who, why), soon=now)
            except NotDecided:  # somebody else decided meanwhile: say it as if it were typed now
                _decided(_Judge(standing_of(ledger, campaign), why, now), typed, source)
                raise
            counts = Counter(str(verdict.word) for verdict in decided)
            by_word = ", ".join(f"{number:,} {word}" for word, number in counts.items())
            recorded = f"{counted(len(decided), 'verdict')} recorded ({by_word})"
            say(f"{key}: {recorded if decided else 'no verdicts'}", "")
        elif unsure and not manner().as_json:
            _list(campaign, unsure)
            one_by_one.ask(ledger, campaign, by(who, why).who, why, soon=now)
            say("")
        code = _close(ledger, key)
    raise typer.Exit(code)


def _decided(judge: "_Judge", typed: Typed, source: Path | None) -> list[Decided]:
    """Find the verdicts. Raises NotDecided, or BadInput that says that nothing was decided."""
    try:
        return judge.verdicts(typed, source)
    except BadInput as error:
        so = "nothing was decided"
        raise BadInput(error.problems, error.warnings, error.then, so) from None


def _list(campaign: "Campaign", unsure: Sequence[Doubt]) -> None:
    """Show everything; where nobody can be asked about it, end with 3."""
    show(campaign, unsure)
    if on_a_terminal():
        return
    again = max(doubt.again_from for doubt in unsure)
    if again > clock.now():
        at = minute_from(again, campaign.timezone)
        say(f'Before {at}, "again" needs --no-wait: the service may still be at work.')
    raise typer.Exit(3)


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
        print_bytes(content)
        return
    from data.own_files import CannotWrite, write_whole

    take_it = command("settle", standing.campaign.key, "--from", output, "--why", "TEXT")
    if output.is_file() and verdicts_file.is_filled_in(output):
        mend = f"Record them, or name another file:\n  {take_it}"
        raise CannotWrite(output, "somebody wrote verdicts into it", mend)
    write_whole(output, BOM_UTF8 + content)  # without the mark, Excel takes it for another encoding
    rows = f"{counted(len(standing.doubts.steps), 'row')} in {output}"
    if not standing.doubts.steps:
        complain(rows)
        return
    complain(f"{rows}. Fill in the column verdict, then run:", f"  {take_it}")


def _accept_ledger(key: str, who: str | None, why: str | None) -> None:
    """Accept what stopped runs found in receipts: a person says that this ledger is the right one.

    Raises Mistyped where no run has stopped because of one; LedgerUnusable.
    """
    from data.campaigns import queries
    from data.receipts import receipt_doubts

    reason = given(why, "--accept-ledger")
    with open_ledger() as ledger:
        accepted = ledger.write(receipt_doubts.accept, key, by(who, reason))
        if not accepted:
            raise Mistyped(
                f"The ledger {ledger.place} has no run of {key} that stopped because of a receipt, "
                "so there is nothing to accept. If you saw a run stop, CAMPAIGN_DATABASE_URL named "
                "another ledger then."
            )
        campaign = ledger.read(queries.find_campaign, key)
    again = run_again(campaign) if campaign else ["FILE"]
    answer_program({"campaign": key, "accepted": accepted})
    say(
        f"{key}: {counted(accepted, 'receipt')} accepted; the campaign's ledger is now "
        f"{ledger.place}",
        f"  next: see whom a run would add or invite: {command('plan', *again)}",
        f"    then: {command('run', *again)}",
    )


@dataclass(frozen=True, slots=True)
class _Judge:
    """Finds the verdicts that a person means, and refuses what cannot be accepted.

    `why` is the reason that was typed; `soon`: a person accepts that the service may be at work.
    """

    standing: Standing
    why: str | None
    soon: bool

    def verdicts(self, typed: Typed, source: Path | None) -> list[Decided]:
        """Find the verdicts, in a file or in the options. Raises BadInput or NotDecided."""
        if source is None:
            return self._from_options(typed)
        if not verdicts_file.is_one(source):
            return self._from_list(source, typed)
        if typed:
            raise typer.BadParameter(
                "--candidates goes with a list of candidates, not with verdicts"
            )
        return self._from_file(source, "verdict", *verdicts_file.read(source, self.standing))

    def _from_list(self, path: Path, typed: Typed) -> list[Decided]:
        """Read the web application's list as verdicts on all unsure adds, and show what it says."""
        from flows.cli.decide import added_list

        key, doubts = self.standing.campaign.key, self.standing.doubts.steps
        others = None if typed.candidates is None else Word(typed.candidates)
        people = added_list.read(path)
        adds = [doubt for doubt in doubts if doubt.operation is Operation.ADD]
        code = listed(people.missing(adds), Operation.ADD)
        if typed.listed not in (None, code, listed(adds, Operation.ADD)):
            again = command("settle", key)
            wrong = f"--candidates: not what was listed any more. Look again: {again}"
            complain(wrong)
            raise NotDecided({0: wrong})
        verdicts, elsewhere = people.verdicts(doubts, others), people.elsewhere(doubts)
        decided = self._from_file(path, "id", verdicts, elsewhere)
        counts = Counter(verdict.word for verdict in decided)
        complain(f"{path} has ids for {counts[Word.ID]:,} of {counted(len(adds), 'unsure add')}")
        if counts[Word.DOUBLE]:
            more = counted(counts[Word.DOUBLE], "more record")
            complain(f"  {more} of the same people: see campaign clean-up")
        if (absent := len(adds) - counts[Word.ID]) > 0:
            rest = "stay unsure" if others is None else f"settled as {others}"
            complain(f"  {counted(absent, 'person', 'people')} not in it: {rest}")
        if others is None and absent > 0:
            words = ("--from", path, "--candidates", "again", "--listed", code, "--why", "TEXT")
            again = command("settle", key, *words)
            complain(f"  if the list is complete, they were not added: {again}")
        if decided and on_a_terminal() and not agrees("Record these verdicts? [y/N] "):
            say("Nothing was decided.")
            raise typer.Exit(1)
        return decided

    def _from_file(
        self,
        path: Path,
        column: str,
        rows: Sequence[tuple[int, Decided]],
        problems: list[Mistake],
    ) -> list[Decided]:
        """Judge the verdicts of a file, each with its line (0: none). Raises BadInput with all.

        `column` is the one that says them.
        """
        decided = [verdict for _, verdict in rows]
        refused = self._refused(decided)
        then = self._instead(decided, refused, more=bool(problems))
        counts = Counter((rows[n][0] or None, objection) for n, objection in refused.items())
        for (line, objection), number in counts.items():
            message = f"{objection} ({number:,} people)" if number > 1 else objection
            problems.append(Mistake(Place(str(path), line), column, message=message))
        if problems:
            raise BadInput(sorted(problems, key=lambda problem: problem.place.line or 0), then=then)
        return self._with_reason(decided)

    def _from_options(self, typed: Typed) -> list[Decided]:
        """Find what the options mean. Raises NotDecided, having said what is wrong with each."""
        by_option, wrong = meant(typed, self.standing)
        decided = [verdict for _, verdict in by_option]
        refused = self._refused(decided)
        then = self._instead(decided, refused, more=bool(wrong))
        counts = Counter(f"{by_option[n][0]}: {why_not}" for n, why_not in refused.items())
        wrong += [
            f"{line} ({number} people)" if number > 1 else line for line, number in counts.items()
        ]
        if wrong:
            complain(*wrong)
            raise NotDecided(dict(enumerate(wrong)), then=then)
        return self._with_reason(decided)

    def _refused(self, decided: Sequence[Decided]) -> dict[int, str]:
        return objections(self.standing.doubts, decided, clock.now(), soon=self.soon)

    def _instead(
        self, decided: Sequence[Decided], refused: Mapping[int, str], *, more: bool
    ) -> str | None:
        """What to type if the same options would be refused again; None if they can be corrected.

        `more`: something is wrong with the options besides what is `refused`.
        """
        key, doubts = self.standing.campaign.key, self.standing.doubts
        if refused and not more and all(decided[position].value for position in refused):
            listing = command("settle" if doubts.steps else "status", key)
            return f"To see where to look and what to type: {listing}"
        if not doubts.steps:
            return f"Nothing in {key} is unsure. To see where it stands: {command('status', key)}"
        if more or not refused or objections(doubts, decided, clock.now(), soon=True):
            return None
        reason = () if self.why and self.why.strip() else ("--why", "TEXT")
        return f"To send it again at once: {command(*sys.argv[1:], '--no-wait', *reason)}"

    def _with_reason(self, decided: list[Decided]) -> list[Decided]:
        """The same verdicts. Raises BadParameter where one of them needs a reason and has none."""
        if heavy := {verdict.word for verdict in decided} & set(NEED_A_REASON):
            given(self.why, " and ".join(sorted(heavy)))
        return decided


def _answer(key: str, unsure: Sequence[Doubt]) -> None:
    answer_program({"campaign": key, "unsure": [doubt_as_json(doubt) for doubt in unsure]})


def _close(ledger: "Ledger", key: str) -> int:
    """Say what is left and what to type next; returns the exit code."""
    from data.decisions import settling
    from tasks.status.asking import before_a_run
    from tasks.status.standing import in_short

    campaign = find_campaign(ledger, key)
    left = ledger.read(settling.find, campaign.id).steps
    _answer(key, left)
    status = in_short(ledger, campaign)
    unsure = f"{in_calls(left)} unsure" if left else "nothing is unsure"
    say(f"{key}: {unsure}; {summary(status)}")
    steps = next_steps(status, *run_again(campaign), instead=before_a_run(ledger, campaign))
    say(*(f"  {step}" for step in steps))
    return 3 if left else 0
