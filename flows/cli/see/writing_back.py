"""`campaign links --into`: the results written into a copy of a person's own table."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from config.command_line import as_typed, command
from flows.cli.outputs import check_ours
from flows.words.speech import counted

if TYPE_CHECKING:
    from config.reading.own_tables import Named, OwnTable, PeopleAt
    from data.store.tables import Campaign
    from tasks.outputs.exports import Result

TEXTS = frozenset({".csv", ".tsv", ".txt"})
COPIED = (".xlsx", ".xlsm")


def check_places(into: Path, output: Path | None, *, failed_only: bool) -> Path:
    """Refuse an output that is none, the person's own file, or of a kind it cannot be."""
    if output is None:
        raise typer.BadParameter("--into writes a copy: name it with -o", param_hint="--output")
    if output.exists() and into.exists() and output.samefile(into):
        raise typer.BadParameter(
            "this is the original table; name another file for the copy", param_hint="--output"
        )
    kind = into.suffix.lower()
    kinds = [".xlsx"]
    if kind in TEXTS:
        kinds = [kind, ".xlsx"]
    elif kind in COPIED and not failed_only:
        kinds = [kind]
    if output.suffix.lower() not in kinds:
        of_values = "" if kind in (*TEXTS, *COPIED) else ": it has the values, without formatting"
        raise typer.BadParameter(
            f"a copy of {into.name} must end in {' or '.join(kinds)}{of_values}",
            param_hint="--output",
        )
    if failed_only and output.exists():
        # Somebody may be mending an earlier one in that very file.
        raise typer.BadParameter(
            f"{output} already exists; choose another name", param_hint="--output"
        )
    return output


@dataclass(frozen=True, slots=True)
class WritingBack:
    """A person's own table, and a copy of it into which a campaign's results are written.

    `results` are those by email key; `forgotten` finds the results of the forgotten ones among some
    other keys. `definition` says how the table is read, and comes from the last run if none was
    typed. A `sheet` that was typed now, or with the last run of that definition, comes first.
    """

    into: Path
    output: Path
    campaign: "Campaign"
    results: Mapping[str, "Result"]
    definition: Path | None = None
    sheet: str | None = None
    forgotten: Callable[[Collection[str]], Mapping[str, "Result"]] = lambda _: {}

    def whole(self) -> list[str]:
        """Write every row, with the results beside each person; returns what to tell.

        Raises BadInput, Mistyped, CannotWrite.
        """
        from data.own_files import write_whole
        from tasks.outputs.workbook_copy.package import is_package
        from tasks.outputs.writing_back import absent, has_results, into_workbook, with_results

        data, tables, people, results = self._read()
        check_ours(self.output, has_results, what="copy with results")
        if self.into.suffix.lower() in COPIED and is_package(data):
            write_whole(self.output, into_workbook(data, people, results))
            more = []
        else:
            filled = with_results(people, results)
            more = self._write_anew([filled if t is people.table else t for t in tables])
        lines = [self._counted(results.values()), *more]
        if missing := len(absent(people, self.campaign.key, self.results)):
            kept = " that the filter (where) keeps" if self._named().wishes.where else ""
            who = counted(missing, "candidate")
            lines.append(f"{who} of {self.campaign.key} not in any row of {self.into}{kept}")
        return lines

    def unfinished(self) -> list[str]:
        """Write only the rows that are to be fixed and sent again; else as `whole`."""
        from tasks.outputs.writing_back import of_one_campaign, only_unfinished, with_results

        _, tables, people, results = self._read()
        unfinished = {n: result for n, result in results.items() if not result.finished}
        if not unfinished:
            return [f"Every row of {self.into} is done, so {self.output} was not written."]
        kept = []
        for table in tables:
            if table is people.table:
                kept.append(only_unfinished(people, with_results(people, results), unfinished))
            elif table.name.strip().casefold() == "campaigns":
                kept.append(of_one_campaign(table, self.campaign.key))
            else:
                kept.append(table)
        return [
            self._counted(unfinished.values()),
            *self._write_anew(kept),
            *_next(unfinished.values(), self.campaign, self._again()),
        ]

    def _read(self) -> "tuple[bytes, Sequence[OwnTable], PeopleAt, dict[int, Result]]":
        """The file, its tables, where the people are in them, and the result of each row."""
        from config.reading.own_tables import own_tables, people_at
        from tasks.outputs.writing_back import keys_in, results_by_row

        named, key = self._named(), self.campaign.key
        data, tables = own_tables(named)
        people = people_at(named, tables)
        strangers = keys_in(people, key) - self.results.keys()
        by_key = {**self.results, **self.forgotten(strangers)}
        return data, tables, people, results_by_row(people, key, by_key)

    def _named(self) -> "Named":
        from config.reading.own_tables import Named, named_table

        definition, sheet = self._as_last_time()
        return named_table(self.into, definition, self.campaign.key, sheet) or Named(
            self.into, sheet
        )

    def _as_last_time(self) -> tuple[Path | None, str | None]:
        """The definition and the sheet as they were typed, or else with the last run."""
        if self.definition:
            return self.definition, self.sheet
        path = Path(self.campaign.belongs_to or self.campaign.definition)
        last = path if path.suffix.lower() in (".yaml", ".yml") and path.is_file() else None
        return last, self.sheet or self.campaign.sheet

    def _write_anew(self, tables: "Sequence[OwnTable]") -> list[str]:
        """Write tables as values; returns what the copy lacks."""
        from data.own_files import write_whole
        from tasks.outputs.writing_back import as_text_file, as_workbook

        if self.output.suffix.lower() not in TEXTS:
            write_whole(self.output, as_workbook(tables))
            return [f"It has the values of {self.into.name}, without its formatting."]
        content, guarded = as_text_file(tables[0])
        write_whole(self.output, content)
        if not guarded:
            return []
        cells, begin = counted(guarded, "cell"), "begins" if guarded == 1 else "begin"
        return [f"{cells} that a spreadsheet would calculate now {begin} with an apostrophe"]

    def _counted(self, results: "Iterable[Result]") -> str:
        counts = Counter(result.status for result in results)
        in_words = ", ".join(f"{number:,} {status}" for status, number in counts.most_common())
        rows = counted(counts.total(), "row")
        return f"{rows} of {self.campaign.key} in {self.output}: {in_words or 'nobody'}"

    def _again(self) -> str:
        """Run the fixed rows: a workbook with its own campaign, or a table with its definition.

        Everybody who is done is not in it, on purpose.
        """
        definition, sheet = self._as_last_time()
        kind = self.output.suffix.lower()
        # A text has only people in it, and so has a workbook made of one.
        if definition is None and TEXTS & {kind, Path(self.campaign.definition).suffix}:
            return command("run", self.output, "--campaign", "DEFINITION", "--accept-removed")
        if definition is None or kind in TEXTS:
            sheet = None
        return command("run", *as_typed(self.output, definition, sheet=sheet), "--accept-removed")


def _next(unfinished: "Iterable[Result]", campaign: "Campaign", again: str) -> Iterator[str]:
    """Say what brings these people on: a run invites nobody whose invitation was refused."""
    kinds = {(result.status, result.candidate_id is not None) for result in unfinished}
    if ("refused", True) in kinds:
        resend = command("resend", campaign.key, "EMAIL", "--why", "TEXT")
        yield f"To send a refused invitation again: {resend}"
    if any(status == "unsure" for status, _ in kinds):
        yield f"Unsure: {command('settle', campaign.key)}"
    if any(kind != ("refused", True) and kind[0] != "unsure" for kind in kinds):
        yield f"Fix it, then: {again}"
