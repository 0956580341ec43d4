"""Links as files: nothing that others wrote may act in them, and they open right everywhere."""

import csv
import json
from collections.abc import Iterator
from io import BytesIO, StringIO
from pathlib import Path

import openpyxl
import pytest

from data.own_files import write_pieces
from tasks.outputs.exports import (
    COLUMNS,
    Link,
    as_csv,
    as_csv_file,
    as_html,
    as_json,
    as_xlsx,
)

URL = "https://app.example.com/embedded/welcome?projectId=101&candidateId=5001"
ADA = Link("Zoë", "O'Brien; Ph.D.", "zoe@example.com", 5001, URL, "done")
WAITING = Link("Grace", "Hopper", "grace@example.com", None, None, "waiting")

FORMULAS = [
    '=HYPERLINK("http://evil.example","click")',
    "+1+1",
    "-2+3",
    "@SUM(1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "\uff1d1+1",
    "\uff20SUM(1)",
    "{=1+1}",
]


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(content.decode("utf-8-sig"), newline="")))


def test_a_csv_says_what_the_ledger_says() -> None:
    """Every candidate has a row, with empty cells for what is not known yet."""
    first, second = rows_of(b"".join(as_csv([ADA, WAITING])))
    assert tuple(first) == COLUMNS
    assert list(first.values()) == ["Zoë", "O'Brien; Ph.D.", "zoe@example.com", "5001", URL, "done"]
    assert list(second.values()) == ["Grace", "Hopper", "grace@example.com", "", "", "waiting"]


def test_a_csv_file_opens_as_utf8_and_a_pipe_gets_no_mark() -> None:
    """Excel needs a byte-order mark to read accents; a program that reads a pipe does not."""
    plain, marked = (b"".join(write([ADA])) for write in (as_csv, as_csv_file))
    assert marked == "\ufeff".encode() + plain
    assert not plain.startswith("\ufeff".encode())


@pytest.mark.parametrize("typed", FORMULAS[:-1])
def test_no_cell_of_a_csv_is_a_formula(typed: str) -> None:
    """A name that begins like a formula is text, in each of the text columns."""
    [row] = rows_of(b"".join(as_csv([Link(typed, typed, typed, 1, None, "done")])))
    assert {row["first_name"], row["last_name"], row["email1"]} == {"'" + typed}


def test_no_cell_begins_where_a_semicolon_is() -> None:
    """A spreadsheet that splits at semicolons finds no formula inside a name."""
    ada = Link("Ada;=1+1", "Lovelace", "ada@example.com", 1, None, "done")
    content = b"".join(as_csv([ada]))
    cells = next(csv.reader([content.decode().splitlines()[1]], delimiter=";"))
    assert not any(cell.startswith("=") for cell in cells)


@pytest.mark.parametrize("typed", FORMULAS)
def test_no_cell_of_a_workbook_is_a_formula_or_a_link_of_others(typed: str) -> None:
    """Texts are strings exactly as they are; only our own address can be clicked."""
    content = as_xlsx([Link(typed, "http://evil.example", "a@example.com", 5001, URL, "done")])
    sheet = openpyxl.load_workbook(BytesIO(content))["links"]
    cells = sheet[2]
    assert [cell.data_type for cell in cells] == ["s", "s", "s", "n", "s", "s"]
    # How the file format spells a carriage return.
    assert cells[0].value.replace("_x000D_", "\r") == typed
    assert cells[3].value == 5001
    assert [cell.hyperlink and cell.hyperlink.target for cell in cells] == [
        *[None] * 4,
        URL,
        None,
    ]


def test_a_large_id_keeps_every_digit_in_a_workbook() -> None:
    """A spreadsheet rounds numbers of more than 15 digits; an id must not become another one."""
    number = 2**63 - 1
    content = as_xlsx([Link("Ada", "Lovelace", "ada@example.com", number, URL, "done")])
    sheet = openpyxl.load_workbook(BytesIO(content))["links"]
    assert sheet["D2"].value == str(number)


def test_json_holds_texts_exactly_and_null_for_the_unknown() -> None:
    """A program gets what was typed, guarded by nothing."""
    formula = Link("=1+1", "Zoë", "-ada@example.com", None, None, "waiting")
    assert json.loads(b"".join(as_json([formula]))) == [
        {
            "first_name": "=1+1",
            "last_name": "Zoë",
            "email1": "-ada@example.com",
            "candidate_id": None,
            "embed_url": None,
            "invite": "waiting",
        }
    ]


def test_a_page_shows_the_snippet_and_runs_nothing() -> None:
    """Names are text, and an iframe is shown to be copied instead of being loaded."""
    evil = Link("<script>alert(1)</script>", '"><img src=x>', "ada@example.com", 5001, URL, "done")
    page = as_html([evil, WAITING], title="A <b> & co", mark="", pages={}).decode()
    assert "<script" not in page and "<img" not in page and "<iframe" not in page
    assert "A &lt;b&gt; &amp; co" in page
    assert page.count("&lt;iframe ") == 1
    assert "fullscreen; clipboard-read; clipboard-write; keyboard-map" in page
    assert "projectId=101&amp;candidateId=5001" in page
    assert "not known yet" in page


def test_links_that_break_off_leave_the_file_before(tmp_path: Path) -> None:
    """They are written as they are read: a ledger that cannot be read further costs no link."""
    path = tmp_path / "links.csv"
    write_pieces(path, as_csv([ADA]))

    def broken() -> Iterator[Link]:
        yield from [WAITING] * 5_000  # more than one piece
        raise LookupError

    with pytest.raises(LookupError):
        write_pieces(path, as_csv(broken()))
    assert path.read_bytes() == b"".join(as_csv([ADA]))
    assert [file.name for file in tmp_path.iterdir()] == ["links.csv"]
