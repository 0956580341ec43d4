"""What lies in a watched folder: which files are new or due, and which are still being written.

The ledger knows the files that were run by their content, wherever they lie.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

from config.reading.folder import (
    Entry,
    campaign_files,
    campaigns_of,
    once_each,
    sources,
    stray_files,
)
from config.reading.sources import sources_of
from config.settings import load_local
from data.campaigns import inbox
from data.campaigns.inbox import Passed
from data.store.clock import now
from data.store.ledger import Ledger
from flows import reports
from tasks.inbox import Situation, Traces, at_rest, due, situation, traces

TO_COME = timedelta(minutes=5)  # so long a table may come after the definition that names it


@dataclass(frozen=True, slots=True)
class Arrival:
    """One campaign of a file, or a file that is bad; `content` tells what the file holds."""

    entry: Entry
    content: str
    due: bool

    @property
    def doubled(self) -> bool:
        """Whether another file describes the campaign as well, so that neither is run."""
        return self.entry.key is not None and bool(self.entry.problems)


@dataclass(slots=True)
class Look:
    """What one look into the folder found; `unfinished` are files left for the next time."""

    arrivals: list[Arrival] = field(default_factory=list)
    unfinished: list[Path] = field(default_factory=list)


def is_due(place: Path, at_work: Sequence[Arrival] = ()) -> bool:
    """Whether a look into a folder would find something to do, apart from what is `at_work`.

    Raises LedgerUnusable, BadInput.
    """
    if not _found(place):
        return False
    busy = {arrival.entry.file for arrival in at_work}
    with Ledger.open(load_local().database_url) as ledger:
        return any(
            new is not None or bool(fresh(list(_campaigns(file, ledger)), at_work))
            for file, new in files_there(place, ledger).items()
            if file not in busy
        )


def fresh(arrivals: Sequence[Arrival], at_work: Sequence[Arrival]) -> list[Arrival]:
    """The due ones of files with nothing at work: neither the file nor, under another name, one of
    its campaigns. A file begins as a whole, as looks know its campaigns from then on.
    """
    busy = {arrival.entry.file for arrival in at_work}
    keys = {arrival.entry.key for arrival in at_work} - {None}
    busy |= {arrival.entry.file for arrival in arrivals if arrival.entry.key in keys}
    return [arrival for arrival in arrivals if arrival.due and arrival.entry.file not in busy]


def _found(place: Path) -> list[Path]:
    return [*campaign_files(place), *stray_files(place)]


def files_there(place: Path, ledger: Ledger) -> dict[Path, Traces | None]:
    """The files that are there, with the traces of the new ones; looks know the others."""
    before = {file: traces(sources(file)) for file in _found(place)}
    return {file: None if _is_known(file, ledger) else first for file, first in before.items()}


def _is_known(file: Path, ledger: Ledger) -> bool:
    """Whether looks know what a file holds, and it holds it still; going back is a change."""
    content = sources_of(file, None).digest
    passed = bool(ledger.read(inbox.passed, content))
    return passed and not ledger.read(inbox.changed, file, content, None)


def judge(files: Mapping[Path, Traces | None], ledger: Ledger, quiet: timedelta) -> Look:
    """What of the files is at rest, and what is in it; `quiet` as in `at_rest`."""
    look = Look()
    for file, new in files.items():
        if new is not None and not _finished(file, new, quiet):
            look.unfinished.append(file)
        else:
            look.arrivals += _campaigns(file, ledger)
    entries = once_each([arrival.entry for arrival in look.arrivals])
    look.arrivals = [
        replace(arrival, entry=entry) for arrival, entry in zip(look.arrivals, entries, strict=True)
    ]
    return look


def _finished(file: Path, first: Traces, quiet: timedelta) -> bool:
    """Whether nobody is writing what a campaign is read from. A table that is not there may still
    come, but not for ever: people would wait for it in vain, and nobody would say so.
    """
    second = traces(sources(file))
    at = now()
    there = [source for source in first if first[source] or second.get(source) or source == file]
    patience = quiet if len(there) == len(first) else max(quiet, TO_COME)
    return first.keys() == second.keys() and all(
        at_rest(first[source], second[source], at, patience) for source in there
    )


def _campaigns(file: Path, ledger: Ledger) -> Iterator[Arrival]:
    """What is in a file: as the ledger remembers it, else as it reads."""
    read, at = sources_of(file, None), now()
    content = read.digest
    passed = ledger.read(inbox.passed, content)
    if not passed:
        yield from (Arrival(entry, content, True) for entry in campaigns_of(file, read))
    for last in passed:
        again = ledger.read(inbox.changed, file, content, last.key)
        again = again or due(last, _situation(ledger, file, content, last, at), at)
        yield Arrival(Entry(file, last.key, digest=content), content, again)


def _situation(ledger: Ledger, file: Path, content: str, last: Passed, at: datetime) -> Situation:
    if last.key is not None:
        return situation(ledger, content, last.key, at)
    return Situation(unreported=None if reports.report_of(file).exists() else file.name)
