"""The file of the do-not-contact list: whatever people keep it in, read whole or refused."""

from pathlib import Path

import pytest
import xlsxwriter

from config.errors import BadInput
from config.reading.do_not_contact import EMPTY_LIST, read_do_not_contact
from config.tables.file_bytes import EMPTY, NO_SUCH_FILE
from tests.config.refusals import messages, mistakes

BOTH = {"ada@example.com": "Ada@Example.com", "bo@example.com": "bo@example.com"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("stop.txt", "Ada@Example.com\nbo@example.com\n"),
        (
            "stop.txt",
            "# asked us\n\n  Ada@Example.com \r\nbo@example.com # by phone\r\nBO@example.com",
        ),
        ("stop.txt", "\ufeffAda@Example.com\nbo@example.com"),
        ("stop", "Ada@Example.com\nbo@example.com"),
        ("stop.csv", "Ada@Example.com\nbo@example.com\n"),
        ("stop.csv", "email\nAda@Example.com\nbo@example.com\n"),
        ("stop.csv", "Name;E-Mail;why\nAda;Ada@Example.com;a, b\nBo;bo@example.com;\n"),
        ("stop.tsv", "who\tE-mail address\nAda\tAda@Example.com\nBo\tbo@example.com\n"),
    ],
)
def test_one_a_line_or_a_table_with_an_email_column(
    tmp_path: Path, name: str, content: str
) -> None:
    """Addresses as they are written, by email key; who is listed twice is listed once."""
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")
    assert read_do_not_contact(file) == BOTH


def test_a_workbook_will_do_as_well(tmp_path: Path) -> None:
    """The column is found by its header, the cell that is wrong is named."""
    file = tmp_path / "stop.xlsx"
    with xlsxwriter.Workbook(file) as book:
        sheet = book.add_worksheet("Stop")
        for row, cells in enumerate([("Who", "E-mail"), ("Ada", "ada@example.com"), ("Bo", "bo@")]):
            sheet.write_row(row, 0, cells)
    [problem] = mistakes(read_do_not_contact, file)
    assert str(problem).startswith(f'{file}, Stop!B3, email1: found "bo@", ')


STRAY = 'email,reason\neve@example.com,by phone\nada@example.com,"complained\nbo@example.com,{}\n'


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        pytest.param(STRAY.format("lawyer"), [3], id="a quote that never ends"),
        pytest.param(STRAY.format('lawyer"'), [3], id="two quotes around a line"),
        pytest.param(
            "email\nada@example.com\nbo@example.com\n\nemail,first name,last name\n"
            "cid@example.com,Cid,C\n",
            [2, 3],
            id="a second table",
        ),
        pytest.param("email,reason\nada@example.com,\n,bo@example.com\n", [3], id="another column"),
        pytest.param("email\nada@example.com\n,bo@example.com\n", [3], id="beside the table"),
        pytest.param("asked by bo@example.com\nemail,why\nada@example.com,\n", [1], id="above"),
    ],
)
def test_an_address_that_is_not_on_the_list_is_a_mistake(
    tmp_path: Path, content: str, lines: list[int]
) -> None:
    """Wherever it stands: nobody would be protected by it, and nobody would know."""
    file = tmp_path / "stop.csv"
    file.write_text(content)
    assert [problem.place.line for problem in mistakes(read_do_not_contact, file)] == lines


def test_an_address_that_is_on_the_list_may_stand_elsewhere_too(tmp_path: Path) -> None:
    """It is protected all the same."""
    file = tmp_path / "stop.csv"
    file.write_text(
        "email,login,why\nAda@Example.com,ada@example.com,\nbo@example.com,,see Ada@example.com.\n"
    )
    assert read_do_not_contact(file) == BOTH


def test_an_address_in_another_sheet_or_above_the_header_is_named(tmp_path: Path) -> None:
    """Two tables one above the other, a table that is not read, and the target of a link."""
    file = tmp_path / "stop.xlsx"
    with xlsxwriter.Workbook(file) as book:
        rows = [("Email",), ("ada@example.com",), (), ("Email", "First name")]
        sheet = book.add_worksheet("Stop")
        for row, cells in enumerate(rows):
            sheet.write_row(row, 0, cells)
        sheet.write_url(5, 1, "mailto:cid@example.com", string="Cid")
        sheet.write_string(5, 0, "bo@example.com")
        book.add_worksheet("Old").write_string(1, 1, "eve@example.com")
    with pytest.raises(BadInput) as refused:
        read_do_not_contact(file)
    assert [str(problem).partition(": ")[0] for problem in refused.value.problems] == [
        f"{file}, Stop!A2",
        f"{file}, Stop!B6",
        f"{file}, Old!B2",
    ]
    assert "example" not in str(refused.value.problems[0]).removeprefix(str(file))


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    """A list that is read in part protects in part, so none of it is taken."""
    file = tmp_path / "stop.txt"
    file.write_text("ada@\n# fine\n@example.com\nbo@example.com\nAnn <ann@example.com>\n")
    assert [problem.place.line for problem in mistakes(read_do_not_contact, file)] == [1, 3, 5]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("stop.txt", None, NO_SUCH_FILE),
        ("stop.txt", "", EMPTY_LIST),
        ("stop.txt", "\n \n", EMPTY),
        ("stop.csv", "name,phone\nAda,1\n", ".csv, email1: "),
        ("stop.csv", "email\nada@example.com\n,\n \nbo\n", 'found "bo", '),
    ],
)
def test_a_list_that_may_have_got_lost_is_refused(
    tmp_path: Path, name: str, content: str | None, told: str
) -> None:
    """Missing, empty or without addresses: nobody would be protected, and nobody would know."""
    file = tmp_path / name
    if content is not None:
        file.write_text(content, encoding="utf-8")
    assert told in messages(read_do_not_contact, file)[0]


def test_a_list_of_nobody_says_so(tmp_path: Path) -> None:
    """A remark is enough."""
    file = tmp_path / "stop.txt"
    file.write_text("# nobody yet\n")
    assert read_do_not_contact(file) == {}
