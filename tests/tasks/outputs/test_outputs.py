"""`-o`: a slip in a name costs no ledger, no receipt, no definition and nobody's table."""

import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import openpyxl
import pytest

from tests.support.doubtful_campaign import DEFINITION, KEY, DoubtfulCampaign, doubtful_campaign

PEOPLE = "first_name,last_name,email1\nAda,Lovelace,ada@example.com\n"
IN_A_TABLE = DEFINITION.partition("candidates:")[0] + "candidates: {file: people.csv}\n"


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[DoubtfulCampaign]:
    """A campaign that ran, whose people stand in a table of their own."""
    with doubtful_campaign(tmp_path, monkeypatch, capsys) as desk:
        (tmp_path / "people.csv").write_text(PEOPLE)
        desk.file.write_text(IN_A_TABLE)
        desk.run()
        yield desk


def refused(desk: DoubtfulCampaign, place: Path, *words: object) -> str:
    """Type a command that is to write to a place: it ends with 2 and leaves every byte there."""
    before = place.read_bytes() if place.exists() else None
    answer = desk.type(*words, "-o", place)
    assert answer.code == 2, (words, answer)
    assert (place.read_bytes() if place.exists() else None) == before
    return answer.err


@pytest.mark.parametrize("words", ["links KEY", "export ada@example.com", "settle KEY --export"])
def test_a_dash_is_standard_output(desk: DoubtfulCampaign, words: str) -> None:
    """As without -o; no file of that name appears."""
    typed = words.replace("KEY", KEY).split()
    here, there = desk.type(*typed), desk.type(*typed, "-o", "-")
    assert (there.code, there.out) == (0, here.out)
    assert here.out
    assert not (desk.folder / "-").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("links", KEY),
        ("links", KEY, "--into", "others.csv"),
        ("report", KEY, "--force"),
        ("export", "ada@example.com"),
        ("metrics",),
        ("settle", KEY, "--export"),
    ],
    ids=" ".join,
)
def test_no_command_writes_over_what_must_stay(
    desk: DoubtfulCampaign, words: tuple[str, ...]
) -> None:
    """Whatever a command writes, the ledger stays, and so does the table of the campaign."""
    (desk.folder / "others.csv").write_text(PEOPLE)
    if "--into" not in words:  # which writes to no file of another kind
        assert "ledger.db is the ledger" in refused(desk, desk.folder / "ledger.db", *words)
    assert "people.csv is a file" in refused(desk, desk.folder / "people.csv", *words)
    assert desk.type("status", KEY).code == 0


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("ledger.db-wal", "a part"),
        ("ledger.db-shm", "a part"),
        ("hiring.receipt", "a receipt"),
        ("next.receipt", "a receipt"),
        ("hiring.yaml", "a definition"),
        ("other.yml", "a definition"),
        ("kept.db", "a database"),
        ("kept.db-wal", "a database"),
        ("another way/ledger.db", "the ledger"),
    ],
)
def test_what_must_stay_is_named(desk: DoubtfulCampaign, name: str, what: str) -> None:
    """Also where it is not there yet, of another ledger, or named by another way."""
    (desk.folder / "other.yml").write_text("campaign: other\n")
    (desk.folder / "another way").symlink_to(desk.folder)
    with closing(sqlite3.connect(desk.folder / "kept.db")) as kept:
        kept.execute("CREATE TABLE people (name)")
    (desk.folder / "kept.db-wal").write_bytes(b"not committed to the file yet")
    assert f"{name} is {what}" in refused(desk, desk.folder / name, "metrics")


def test_an_output_is_written_over_when_the_command_is_typed_again(desk: DoubtfulCampaign) -> None:
    """What a command wrote before, and whatever else lies there that can be made again."""
    for words in (("metrics",), ("export", "ada@example.com")):
        place = desk.folder / "out.csv"
        place.write_text("from before")
        assert desk.type(*words, "-o", place).code == 0
        assert "from before" not in place.read_text()


@pytest.mark.parametrize(
    ("name", "starts"),
    [
        ("l.csv", b"\xef\xbb\xbffirst_name,"),
        ("l", b"\xef\xbb\xbffirst_name,"),
        ("l.txt", b"\xef\xbb\xbffirst_name,"),
        ("L.XLSX", b"PK"),
        ("l.json", b"["),
    ],
)
def test_links_are_what_their_name_says(desk: DoubtfulCampaign, name: str, starts: bytes) -> None:
    """Without --format; a name that says nothing is that of a csv."""
    assert desk.type("links", KEY, "-o", desk.folder / name).code == 0
    assert (desk.folder / name).read_bytes().startswith(starts)


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (("--format", "csv", "-o", "my list.xlsx"), "my list.csv"),
        (("--format", "csv", "-o", "l.html"), "l.csv"),
        (("--format", "xlsx", "-o", "l.csv"), "l.xlsx"),
        (("--format", "json", "-o", "l.csv"), "l.json"),
        (("--format", "html", "-o", "l.csv"), "l"),
        (("-o", "l.html"), "l"),
    ],
    ids=str,
)
def test_links_under_a_name_that_says_otherwise_are_refused(
    desk: DoubtfulCampaign, words: tuple[str, ...], instead: str
) -> None:
    """Nothing is written, and what is to be typed writes it under another name."""
    before = set(desk.folder.iterdir())
    answer = desk.type("links", KEY, *words)
    assert (answer.code, set(desk.folder.iterdir()) - before) == (2, set())
    assert desk.type(*shlex.split(answer.err.rpartition(": campaign ")[2])).code == 0
    assert [place.name for place in {*desk.folder.iterdir()} - before] == [instead]


@pytest.mark.parametrize("form", ["csv", "xlsx", "json"])
def test_links_replace_only_links(desk: DoubtfulCampaign, form: str) -> None:
    """What this command wrote before, in any form, or an empty file; nobody's own table, and no
    column or sheet that somebody added."""
    place = desk.folder / f"list.{form}"
    words = ("links", KEY, "--format", form, "-o", place)
    place.touch()
    for _ in range(2):
        assert desk.type(*words).code == 0
    ours = place.read_bytes()
    for other in ("csv", "xlsx", "json"):
        desk.type("links", KEY, "--format", other, "-o", desk.folder / f"other.{other}")
        place.write_bytes((desk.folder / f"other.{other}").read_bytes())
        assert desk.type(*words).code == 0
        assert place.read_bytes()[:9] == ours[:9]
    noted = [PEOPLE.encode(), b"[]\n", b"\xff", b"PK\3\4", b"<p>", desk.file.read_bytes()]
    noted.append((desk.folder / "other.csv").read_bytes().replace(b"invite\n", b"invite,mine\n"))
    for add in (
        lambda book: book.create_sheet("mine"),
        lambda book: book["links"].cell(2, 7, "called"),
        lambda book: setattr(book["links"], "title", "mine"),
    ):
        book = openpyxl.load_workbook(desk.folder / "other.xlsx")
        add(book)
        book.save(desk.folder / "noted.xlsx")
        noted.append((desk.folder / "noted.xlsx").read_bytes())
    for strange in noted:
        place.write_bytes(strange)
        assert f"{place} already exists" in refused(desk, place, *words[:-2])


def test_only_an_index_of_the_same_links_is_written_over(desk: DoubtfulCampaign) -> None:
    """The page of a website, or that of another campaign, stays as it is to the byte."""
    folder = desk.folder / "site"
    written = ("links", KEY, "--format", "html", "-o", folder)
    for _ in range(2):
        assert desk.type(*written).code == 0
    index = folder / "index.html"
    for strange in (b"<html>our company", index.read_bytes().replace(KEY.encode(), b"another")):
        index.write_bytes(strange)
        answer = desk.type(*written)
        assert (answer.code, index.read_bytes()) == (2, strange)
        assert str(index) in answer.err and "with -o" in answer.err
