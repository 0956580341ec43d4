"""A column of people who are out, such as `Do not contact`: refused until somebody decides."""

import json
from pathlib import Path

import pytest

from config.reading.reading import read_campaigns
from tests.config.refusals import messages
from tests.config.tables.test_where import HEADER, PEOPLE, book, definition, emails, table
from tests.flows.cli.test_cli import Typed, clean_environment, typed
from tests.support import yaml_definition as sample
from tests.support.documents import fits

__all__ = ["clean_environment", "typed"]


@pytest.mark.parametrize(
    ("header", "cells", "where"),
    [
        ("Do not contact", ["yes", "", "no", "No"], ["", "No"]),
        ("DNC?", ["x", "", "", ""], ""),
        ("Withdrawn (date)", ["2026-11-02", "-", "-", "-"], "-"),
        ("Nicht kontaktieren", ["ja", "nein", "ja", "nein"], "nein"),
        ("Opted out", ["TRUE", "FALSE", "0", "FALSE"], ["FALSE", "0"]),
        ("Ne pas contacter", ["oui", "oui", "oui", "oui"], None),
        ("Не связываться", ["да", "нет", "Нет", "да"], "Нет"),
        ("連絡不可", ["はい", "いいえ", "", ""], ["いいえ", ""]),
        ("Has Opted Out of Email", ["1", "0", "0", "0"], "0"),
    ],
)
def test_who_asked_not_to_be_contacted_is_pointed_at(
    typed: Typed, header: str, cells: list[str], where: object
) -> None:
    """With the `where` that leaves them out: typed as it is shown, nobody is pointed at again."""
    rows = zip(PEOPLE[:4], cells, strict=True)
    table([[*HEADER, header], *([*person, cell] for person, cell in rows)])
    definition("{Job: [Backend Engineer, Frontend Engineer]}")
    path = Path("hiring.yaml")
    path.write_text(path.read_text().partition("  where:")[0])
    asked = [number for number, cell in enumerate(cells) if cell in {cells[0]}]
    refusal = typed("check", path, "--json")
    [mistake] = refusal.object["problems"]
    assert (refusal.code, mistake["line"], mistake["message"].split()[0]) == (2, 2, str(len(asked)))
    assert mistake["message"].endswith("under candidates") == (where is not None)
    if where is None:
        return
    shown = mistake["message"].partition("put  ")[2].removesuffix("  under candidates")
    assert shown == f"where: {json.dumps({header: where}, ensure_ascii=False)}"
    path.write_text(path.read_text() + f"  {shown}\n")
    assert emails(read_campaigns(path)) == [PEOPLE[n][2] for n in range(4) if n not in asked]
    # Somebody who chooses by this column has seen it.
    definition(json.dumps({header: cells[0]}))
    assert emails(read_campaigns(path)) == [PEOPLE[n][2] for n in asked]
    # Beside other columns it is added to them, and counts only the rows that they keep.
    definition("{Job: Backend Engineer}")
    [beside] = messages(read_campaigns, path)
    assert "; to leave them out, add to where  " in beside
    definition("{Job: Frontend Engineer}")
    if 3 not in asked:
        assert emails(read_campaigns(path)) == [PEOPLE[3][2]]


def test_who_asked_not_to_be_contacted_is_left_out_of_each_campaign_of_a_workbook(
    typed: Typed,
) -> None:
    """Typed as it is shown into the sheet campaigns, nobody is pointed at again."""
    cells = [["one", ""], ["one", "x"], ["two", "no"], ["two", "asked"]]
    people = [[key, *person[:3], out] for (key, out), person in zip(cells, PEOPLE, strict=False)]
    rows = [["campaign", "name", "problem"], ["one", "One", 1], ["two", "Two", 2]]
    candidates = [["campaign", *HEADER[:3], "Withdrawn"], *people]
    problems = typed("check", book(campaigns=rows, candidates=candidates), "--json").object
    puts = [each["message"].partition("put  ")[2] for each in problems["problems"]]
    column = "candidates.where.Withdrawn"
    there = f"into the sheet campaigns, under {column} for"
    assert puts == [f'""  {there} one', f"no  {there} two"]
    rows = [[*row, put] for row, put in zip(rows, [column, '""', "no"], strict=True)]
    reading = read_campaigns(book(campaigns=rows, candidates=candidates))
    assert [len(each.candidates) for each in reading.definitions] == [1, 1]


@pytest.mark.parametrize("cell", ["", "no", "N", "false", "0", "none", "nein", "non", "–", "NÃO"])
def test_nobody_is_pointed_at_who_did_not_ask(cell: str) -> None:
    """In whatever language the cell says no; a column of another name is only not used."""
    for header, value in (("Do not email", cell), ("Contacted", "yes")):
        table([[*HEADER[:3], header], *([*person[:3], value] for person in PEOPLE[:3])])
        Path("hiring.yaml").write_text(f"{sample.HEAD}candidates: {{file: people.csv}}\n")
        assert len(emails(read_campaigns(Path("hiring.yaml")))) == 3


def test_rows_of_other_campaigns_are_not_left_out_by_one() -> None:
    """Of a table for several campaigns, the rows that no `where` leaves out are counted."""
    rows = [
        ["campaign", "name", "problem", "candidates.where.DNC"],
        ["a", "A", 1, '""'],
        ["b", "B", 2, None],
    ]
    out = (("a", "x"), ("a", None), ("b", "x"), ("b", None))
    people = [[key, *PEOPLE[n][:3], text] for n, (key, text) in enumerate(out)]
    path = book(campaigns=rows, candidates=[["campaign", *HEADER[:3], "DNC"], *people])
    [mistake] = messages(read_campaigns, path)
    assert fits(
        'people.xlsx, candidates!E4: 1 row … "x" …, under candidates.where.DNC for b', mistake
    )
