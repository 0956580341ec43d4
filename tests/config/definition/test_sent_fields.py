"""What leaves the house: which column is sent as what, and what people should look at first."""

import json
from pathlib import Path

import pytest
import xlsxwriter

from config.definition.sent_fields import sent
from config.reading.folder import campaigns_at
from config.reading.reading import read_campaigns
from flows.cli.run.sending import shown_by
from tests.flows.cli.test_cli import Typed, clean_environment, typed

__all__ = ["clean_environment", "typed"]

TIMES = "starttime: 2026-12-01 09:00, endtime: 2026-12-14 18:00"
HEAD = f"campaign: autumn\nproject: {{name: Autumn, {TIMES}}}\nproblem: 42\n"
ROWS = (
    ("Nachname", "Vorname", "E-Mail", "Bemerkungen", "Quelle", "Gehalt"),
    ("Lovelace", "Ada", "ada@mail.com", "weak on algorithms, asks 120k", "", "120k"),
    ("Hopper", "Grace", "grace@mail.com", "visa?", "referral", "90k"),
)


def table(path: Path, columns: str = "") -> Path:
    """Write a table of people as a recruiter has it, and the definition that names it."""
    path.write_text("\n".join(";".join(row) for row in ROWS), encoding="utf-8")
    definition = path.with_suffix(".yaml")
    definition.write_text(f"{HEAD}candidates: {{file: {path.name}{columns}}}\n", "utf-8")
    return definition


def test_check_shows_in_one_table_what_was_understood(typed: Typed, tmp_path: Path) -> None:
    """Each field with its column and the first three different values; also to programs."""
    Path("people.csv").write_text(
        "姓,名,メール,応募経路,Notes\n"
        "山田,花子,hanako@mail.com,紹介,Mornings\n"
        '佐藤,太郎,taro@mail.com,紹介,"Monday, Tuesday and any other day of a week\nthat suits"\n'
        "鈴木,花子,hanako2@mail.com,広告,\n"
        "田中,次郎,jiro@mail.com,,\n",
        "utf-8",
    )
    Path("a.yaml").write_text(f"{HEAD}candidates: {{file: people.csv}}\n", "utf-8")
    lines = typed("check", "a.yaml").out.splitlines()
    at = lines.index("  sent        field       column    examples")
    assert lines[at + 1 : at + 7] == [
        "              first_name  名        花子, 太郎, 次郎",
        "              last_name   姓        山田, 佐藤, 鈴木",
        "              email1      メール    hanako@mail.com, taro@mail.com, hanako2@mail.com",
        "              source      応募経路  紹介, 広告",
        '              notes       Notes     Mornings, "Monday, Tuesday and any other day of a …"',
        "              stage_id    -         1",
    ]
    [campaign] = typed("check", "a.yaml", "--json").object["campaigns"]
    assert campaign["understood"][3] == {
        "field": "source",
        "column": "応募経路",
        "examples": ["紹介", "広告"],
    }
    assert [each["example"] for each in campaign["sent"]][:2] == ["花子", "山田"]


def test_check_and_plan_say_which_column_is_sent_as_what(typed: Typed, tmp_path: Path) -> None:
    """Also to programs: each field with its header, and the first of its values."""
    table(tmp_path / "people.csv")
    line = (
        "  sent        Vorname as first_name (Ada), Nachname as last_name (Lovelace), "
        "E-Mail as email1 (ada@mail.com), Quelle as source (referral), stage_id (1)"
    )
    assert "Vorname   Ada, Grace" in typed("check", "people.yaml").out
    assert line in typed("plan", "people.yaml").out.splitlines()
    for command in ("check", "plan"):
        [campaign] = typed(command, "people.yaml", "--json").object["campaigns"]
        assert campaign["sent"] == [
            {"column": "Vorname", "field": "first_name", "example": "Ada"},
            {"column": "Nachname", "field": "last_name", "example": "Lovelace"},
            {"column": "E-Mail", "field": "email1", "example": "ada@mail.com"},
            {"column": "Quelle", "field": "source", "example": "referral"},
            {"column": None, "field": "stage_id", "example": 1},
        ]


def test_people_in_the_definition_and_split_names_are_listed_too(
    typed: Typed, tmp_path: Path
) -> None:
    """There the field is its own column; and one column may be two fields."""
    person = "{first_name: Ada, last_name: L, email1: a@mail.com, notes: Mornings, stage_id: 3}"
    Path("list.yaml").write_text(f"{HEAD}candidates:\n  - {person}\n", "utf-8")
    said = "  sent        first_name (Ada), last_name (L), email1 (a@mail.com), notes (Mornings), "
    assert f"{said}stage_id (3)" in typed("plan", "list.yaml").out.splitlines()
    table = typed("check", "list.yaml").out.splitlines()
    assert table[4:6] == ["  sent        field       examples", "              first_name  Ada"]
    Path("full.csv").write_text("Name,Email\nAda Lovelace,a@mail.com\n", "utf-8")
    full = f"{HEAD}candidates: {{file: full.csv, split_name: true}}\n"
    Path("full.yaml").write_text(full, "utf-8")
    told = typed("plan", "full.yaml").out
    assert "Name as first_name (Ada), Name as last_name (Lovelace), Email as email1" in told


def test_a_plan_names_somebody_who_is_to_be_added(typed: Typed, tmp_path: Path) -> None:
    """Of a definition whose first people were added long ago."""
    table(tmp_path / "people.csv")
    [definition] = read_campaigns(tmp_path / "people.yaml").definitions
    grace = definition.candidates[1]
    assert sent(definition, [grace])[0].examples == (grace.first_name,)
    assert sent(definition)[0].examples[0] != grace.first_name


REMARKS = ["Bemerkungen", "Comments", "REMARKS", "Note", "Notes (internal)"]


@pytest.mark.parametrize("header", REMARKS)
def test_remarks_are_sent_only_where_somebody_says_so(
    typed: Typed, tmp_path: Path, header: str
) -> None:
    """What a recruiter wrote for colleagues is not told to the service, and how it would be."""
    Path("people.csv").write_text(
        f"first_name,last_name,email1,{header}\nAda,L,ada@mail.com,weak on algorithms\n", "utf-8"
    )
    definition = Path("autumn.yaml")
    definition.write_text(f"{HEAD}candidates: {{file: people.csv}}\n", "utf-8")
    [person] = read_campaigns(definition).definitions[0].candidates
    assert person.notes == ""
    wish = f'columns: {{notes: "{header}"}}'
    unused, how = typed("check", "autumn.yaml", "--json").object["notes"]
    assert unused.endswith(f": {header}") and how.endswith(f"  {wish}")
    definition.write_text(f"{HEAD}candidates: {{file: people.csv, {wish}}}\n", "utf-8")
    assert f"{header} as notes (weak on algorithms)" in typed("plan", "autumn.yaml").out


@pytest.mark.parametrize("header", ["notes", "Notes", " NOTES"])
def test_a_column_called_notes_is_sent_as_notes(tmp_path: Path, header: str) -> None:
    """Whoever uses the field's own name means it."""
    people = tmp_path / "people.csv"
    people.write_text(f"Vorname,Nachname,Mail,{header}\nAda,L,ada@mail.com,Mornings\n", "utf-8")
    (tmp_path / "a.yaml").write_text(f"{HEAD}candidates: {{file: people.csv}}\n", "utf-8")
    [person] = read_campaigns(tmp_path / "a.yaml").definitions[0].candidates
    assert person.notes == "Mornings"


def test_hidden_rows_are_counted_in_a_plan(typed: Typed) -> None:
    """Whoever filtered a sheet sees two people of three, and would invite three."""
    definition = read_campaigns(filtered(Path("filtered.xlsx"))).definitions[0]
    assert [person.hidden for person in definition.candidates] == [False, True, False]
    assert "  invite      3 emails, 1 " in typed("plan", "filtered.xlsx").out
    plan = typed("plan", "filtered.xlsx", "--json").object
    assert (plan["campaigns"][0]["invite"], plan["campaigns"][0]["hidden"]) == (3, 1)
    [note, *_] = plan["notes"]
    assert note.startswith("filtered.xlsx, candidates: 1 ") and note.endswith(": 3")


def filtered(path: Path) -> Path:
    """Write a workbook in which the second person is hidden."""
    with xlsxwriter.Workbook(path) as book:
        head = book.add_worksheet("campaign")
        for number, row in enumerate([("campaign", "filtered"), ("name", "F"), ("problem", 42)]):
            head.write_row(number, 0, row)
        people = book.add_worksheet("candidates")
        people.write_row(0, 0, ("first_name", "last_name", "email1"))
        for number, name in enumerate(("ada", "bo", "cy"), start=1):
            people.write_row(number, 0, (name, "X", f"{name}@mail.com"))
        people.set_row(2, None, None, {"hidden": True})
    return path


SAMPLES = ["a@example.com", "a@sub.example.org", "a@x.test", "a@host.example"]


@pytest.mark.parametrize("address", SAMPLES)
def test_sample_addresses_are_pointed_at(typed: Typed, address: str) -> None:
    """A note, no error: the untouched starter passes, and nobody sends it unawares."""
    person = f"  - {{first_name: A, last_name: B, email1: {address}}}\n"
    Path("a.yaml").write_text(f"{HEAD}candidates:\n{person}", "utf-8")
    [note] = noted(typed, "a.yaml")
    assert note.startswith("a.yaml: ") and f": {address};" in note


def test_sample_addresses_are_pointed_at_in_their_own_file(typed: Typed) -> None:
    """That of the people, where the definition names one."""
    Path("people.csv").write_text("first_name,last_name,email1\nA,B,a@example.com\n")
    Path("a.yaml").write_text(f"{HEAD}candidates: {{file: people.csv}}\n", "utf-8")
    [note] = noted(typed, "a.yaml")
    assert note.startswith("people.csv: ")


def test_an_untouched_starter_is_pointed_at(typed: Typed) -> None:
    """Its people are samples, in YAML and in a workbook; an address of one's own is none."""
    for name in ("new.yaml", "fresh.xlsx"):
        typed("new", name)
        [note, *_] = typed("check", name, "--json").object["notes"]
        assert note.startswith(f"{name}: 2 ") and ": ada@example.com, grace@example.com;" in note
    Path("own.yaml").write_text(
        f"{HEAD}candidates:\n  - {{first_name: A, last_name: B, email1: a@myexample.com}}\n"
    )
    assert typed("check", "own.yaml", "--json").object["notes"] == []


def test_two_files_of_a_folder_with_one_key_are_refused(typed: Typed, tmp_path: Path) -> None:
    """Nobody can tell which of them is meant; beside a single file it is a note."""
    folder = tmp_path / "hires"
    folder.mkdir()
    table(folder / "first.csv")
    table(folder / "second.csv")
    answer = typed("check", "hires", "--json")
    assert answer.code == 2
    first, second = answer.object["problems"]
    assert (first["file"], first["field"]) == ("hires/first.yaml", "campaign")
    assert (second["file"], second["field"]) == ("hires/second.yaml", "campaign")
    assert " second.yaml " in first["message"] and " first.yaml " in second["message"]
    # Each of them by itself is usable, so what a run names is the folder.
    (folder / "bad.yaml").write_text("campaign: bad\n", "utf-8")
    named = [shown_by(entry, folder).name for entry in campaigns_at(folder)]
    assert named == ["bad.yaml", "hires", "hires"]
    (folder / "bad.yaml").unlink()
    then = "Then type: campaign check hires, or campaign plan FILE"
    assert typed("plan", "hires").err.splitlines()[-1] == then
    for words in (("hires/first.yaml",), ("hires/first.csv", "--campaign", "hires/first.yaml")):
        assert " second.yaml " in typed("check", *words, "--json").object["notes"][-1]
    other = (folder / "second.yaml").read_text("utf-8").replace("autumn", "winter")
    (folder / "second.yaml").write_text(other, "utf-8")
    answer = typed("check", "hires")
    assert answer.code == 0 and "autumn" in answer.out and "winter" in answer.out
    assert answer.out.splitlines()[-1] == "OK. Next: campaign run hires"
    assert json.loads(typed("check", "hires", "--json").out)["ok"] is True
    assert "second.yaml" not in typed("check", "hires/first.yaml").out


def noted(typed: Typed, file: str) -> list[str]:
    """The notes of check, the same for people and programs, and before a run as well."""
    answer = typed("check", file)
    assert answer.code == 0
    told = [line for line in answer.out.splitlines() if line.startswith("Note: ")]
    notes = list(typed("check", file, "--json").object["notes"])
    assert told == [f"Note: {note}" for note in notes]
    assert typed("plan", file, "--json").object["notes"] == notes
    assert set(told) <= set(typed("plan", file).err.splitlines())
    return notes


def noted_of(typed: Typed, head: str, *addresses: str) -> list[str]:
    """The same of a table with these addresses."""
    rows = [f"A{n},B,{address}" for n, address in enumerate(addresses)]
    Path("people.csv").write_text("\n".join(["first_name,last_name,email1", *rows]), "utf-8")
    Path("a.yaml").write_text(f"{head}candidates: {{file: people.csv}}\n", "utf-8")
    return noted(typed, "a.yaml")


@pytest.mark.parametrize(
    ("addresses", "note"),
    [
        (("ada@mail.com", "bo@mail.com"), None),
        (("ada@mail.com", "Bo@Mail.com"), 'people.csv:3, email1: "Bo@Mail.com" has '),
        (
            ("Ada@mail.com", "bo@mail.com", "CY@mail.com", "dI@mail.com"),
            'people.csv:2, email1: "Ada@mail.com" and 2 more ',
        ),
        (("müller@mail.com", "straße@mail.com"), None),
    ],
)
def test_capitals_in_addresses_are_pointed_at_once(
    typed: Typed, addresses: tuple[str, ...], note: str | None
) -> None:
    """The login must equal the address (interface 4.7): sent as typed, and a person may look."""
    notes = noted_of(typed, HEAD, *addresses)
    assert [told.startswith(note or "-") for told in notes] == ([True] if note else [])


@pytest.mark.parametrize(
    ("project", "left_out"),
    [
        (f"{{name: A, {TIMES}}}", None),
        ("{name: A}", {"starttime", "endtime"}),
        ("{name: A, starttime: 2026-12-01 09:00}", {"endtime"}),
        ("{name: A, endtime: 2026-12-14 18:00}", {"starttime"}),
        ("{id: 7}", None),  # made in the web application, with times or without
    ],
)
def test_times_left_out_of_a_project_are_pointed_at(
    typed: Typed, project: str, left_out: set[str] | None
) -> None:
    """They are sent as empty text (interface 4.3), and no document says what that means."""
    notes = noted_of(typed, f"campaign: autumn\nproject: {project}\nproblem: 42\n", "ada@mail.com")
    named = [{name for name in ("starttime", "endtime") if name in note} for note in notes]
    assert named == ([left_out] if left_out else [])


def test_one_name_with_two_addresses_is_noted(typed: Typed, tmp_path: Path) -> None:
    """Perhaps one person, who would be invited twice; nothing stops."""
    rows = ["ADA,Lovelace,ada@home.org", "Bob,Ross,bob@mail.com", "Ada,Lovelace,ada@mail.com"]
    Path("p.csv").write_text(
        "\n".join(["first name,last name,email", *rows, "Bob,ROSS,b@mail.com"])
    )
    Path("p.yaml").write_text(f"{HEAD}candidates: {{file: p.csv}}\n", "utf-8")
    [note] = noted(typed, "p.yaml")
    assert note.startswith('p.csv:4, email1: "Ada Lovelace" has ada@mail.com ')
    assert " ada@home.org at p.csv:2;" in note and note.endswith(" 1 more")
