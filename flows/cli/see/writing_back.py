"""`campaign links --into`: the results written into a copy of a person's own table."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from config.command_line import command
from flows.words.speech import as_typed, counted

if TYPE_CHECKING:
    from config.reading.own_tables import Named, OwnTable, PeopleAt
    from data.store.tables import Campaign
    from tasks.outputs.exports import Result

TEXTS = frozenset({".csv", ".tsv", ".txt"})
COPIED = (".xlsx", ".xlsm")


@dataclass(frozen=True, slots=True)
class Known:
    """The results by email key, and a function that finds the forgotten ones among some keys."""

    results: Mapping[str, "Result"]
    forgotten: Callable[[Collection[str]], Mapping[str, "Result"]] = lambda _: {}

    def among(self, people: "PeopleAt", campaign: str) -> Mapping[str, "Result"]:
        """The results, with those who stand in a table although they were forgotten."""
        from tasks.outputs.writing_back import keys_in

        strangers = keys_in(people, campaign) - self.results.keys()
        return {**self.results, **self.forgotten(strangers)}


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


def write_back(
    into: Path,
    output: Path,
    definition: Path | None,
    campaign: "Campaign",
    known_results: Known,
    sheet: str | None = None,
) -> list[str]:
    """Write the whole table with the results beside each person; returns what to tell.

    `definition` says how the table is read. Raises BadInput, CannotWrite.
    """
    from config.reading.own_tables import own_tables, people_at
    from data.own_files import write_whole
    from tasks.outputs.workbook_copy.package import is_package
    from tasks.outputs.writing_back import absent, into_workbook, results_by_row, with_results

    named = _named(into, definition, campaign, sheet)
    data, tables = own_tables(named)
    people = people_at(named, tables)
    results = results_by_row(people, campaign.key, known_results.among(people, campaign.key))
    if into.suffix.lower() in COPIED and is_package(data):
        write_whole(output, into_workbook(data, people, results))
        more = []
    else:
        filled = with_results(people, results)
        more = _write_anew(into, output, [filled if t is people.table else t for t in tables])
    lines = [_counted(results.values(), campaign, output), *more]
    if missing := len(absent(people, campaign.key, known_results.results)):
        kept = " that the filter (where) keeps" if named.wishes.where else ""
        lines.append(
            f"{counted(missing, 'candidate')} of {campaign.key} not in any row of {into}{kept}"
        )
    return lines


def write_unfinished(
    into: Path,
    output: Path,
    definition: Path | None,
    campaign: "Campaign",
    known_results: Known,
    sheet: str | None = None,
) -> list[str]:
    """Write a table of only the rows that are to be mended and sent again; else as `write_back`."""
    from config.reading.own_tables import own_tables, people_at
    from tasks.outputs.writing_back import (
        of_one_campaign,
        only_unfinished,
        results_by_row,
        with_results,
    )

    named = _named(into, definition, campaign, sheet)
    _, tables = own_tables(named)
    people = people_at(named, tables)
    results = results_by_row(people, campaign.key, known_results.among(people, campaign.key))
    unfinished = {n: result for n, result in results.items() if not result.finished}
    if not unfinished:
        return [f"Every row of {into} is done, so {output} was not written."]
    kept = []
    for table in tables:
        if table is people.table:
            kept.append(only_unfinished(people, with_results(people, results), unfinished))
        elif table.name.strip().casefold() == "campaigns":
            kept.append(of_one_campaign(table, campaign.key))
        else:
            kept.append(table)
    return [
        _counted(unfinished.values(), campaign, output),
        *_write_anew(into, output, kept),
        *_next(unfinished.values(), campaign, _again(output, definition, campaign, sheet)),
    ]


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


def _named(into: Path, definition: Path | None, campaign: "Campaign", sheet: str | None) -> "Named":
    """How to read the table: by its definition, which was typed or is known from the last run. A
    `sheet` that was typed now, or with the last run of that definition, comes first.
    """
    from config.reading.own_tables import Named, named_table

    sheet = sheet or (None if definition else campaign.sheet)
    definition = definition or _last_definition(campaign)
    return named_table(into, definition, campaign.key, sheet) or Named(into, sheet)


def _last_definition(campaign: "Campaign") -> Path | None:
    path = Path(campaign.belongs_to or campaign.definition)
    return path if path.suffix.lower() in (".yaml", ".yml") and path.is_file() else None


def _write_anew(into: Path, output: Path, tables: "Sequence[OwnTable]") -> list[str]:
    """Write tables as values; returns what the copy lacks."""
    from data.own_files import write_whole
    from tasks.outputs.writing_back import as_text_file, as_workbook

    if output.suffix.lower() not in TEXTS:
        write_whole(output, as_workbook(tables))
        return [f"It has the values of {into.name}, without its formatting."]
    content, guarded = as_text_file(tables[0])
    write_whole(output, content)
    if not guarded:
        return []
    cells = counted(guarded, "cell")
    return [f"{cells} that a spreadsheet would calculate now begin with an apostrophe"]


def _counted(results: "Iterable[Result]", campaign: "Campaign", output: Path) -> str:
    counts = Counter(result.status for result in results)
    counts_in_words = ", ".join(f"{number:,} {status}" for status, number in counts.most_common())
    rows = counted(counts.total(), "row")
    return f"{rows} of {campaign.key} in {output}: {counts_in_words or 'nobody'}"


def _again(output: Path, definition: Path | None, campaign: "Campaign", sheet: str | None) -> str:
    """Run the mended rows: a workbook with its own campaign, or a table with its definition."""
    sheet = sheet or (None if definition else campaign.sheet)
    definition = definition or _last_definition(campaign)
    # A text has only people in it, and so has a workbook made of one.
    if definition is None and TEXTS & {output.suffix.lower(), Path(campaign.definition).suffix}:
        return command("run", output, "--campaign", "DEFINITION")
    if definition is None or output.suffix.lower() in TEXTS:
        sheet = None
    return command("run", *as_typed(output, definition, sheet=sheet))
