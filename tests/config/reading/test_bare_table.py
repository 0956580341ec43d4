"""An export as it is: what is understood of it, and a definition that leads to it."""

import shlex
from pathlib import Path

import pytest

from config.errors import BadInput
from config.reading.bare_table import understood
from config.reading.folder import SMALL, same_key
from config.reading.reading import read_campaigns
from tests.flows.cli.test_cli import Typed, clean_environment, typed
from tests.sheets.writers import workbook

__all__ = ["clean_environment", "typed"]

HEADER = ("Candidate Name", "Job", "Stage", "Email Addresses", "Applied On")
ROWS = [
    ("Ada Lovelace", "Backend Engineer", "Take Home Test", "ada@work.org", "2026-01-02"),
    ("Grace Hopper", "Backend Engineer", "On-site: 2nd", "grace@work.org", "2026-01-03"),
    ("Alan Turing", "Data Scientist", "Take Home Test", "alan@work.org, at@home.org", "2026-01-04"),
    ("Linus Pauling", "Backend Engineer", "Take Home Test", "linus@work.org", "2026-01-05"),
]


def write_book(path: Path, *, others: bool = False) -> Path:
    rejected = {"Rejected": (HEADER, *ROWS[:1])} if others else {}
    path.write_bytes(workbook({"Candidates Report": (HEADER, *ROWS)} | rejected))
    return path


def uncommented(definition: Path) -> None:
    """Do what the definition says: take away the # of where and of its columns."""
    lines = definition.read_text("utf-8").splitlines()
    at = lines.index("  # where:")
    rest = range(at, len(lines))
    end = next((n for n in rest if not lines[n].startswith("  #")), len(lines))
    chosen = [
        line.replace("# ", "  ", 1) if n else "  where:" for n, line in enumerate(lines[at:end])
    ]
    definition.write_text("\n".join([*lines[:at], *chosen, *lines[end:]]), "utf-8")


def test_an_export_alone_leads_to_a_campaign_by_what_is_printed(
    typed: Typed, tmp_path: Path
) -> None:
    """Each next step works as typed, and its definition passes `check`."""
    write_book(tmp_path / "green house.xlsx")
    answer = typed("check", "green house.xlsx")
    assert answer.code == 2
    assert answer.out.splitlines()[1:] == [
        "  field      column           examples",
        "  full_name  Candidate Name   Ada Lovelace, Grace Hopper, Alan Turing",
        '  email1     Email Addresses  ada@work.org, grace@work.org, "alan@work.org, at@home.org"',
    ]
    then = answer.err.splitlines()[-1]
    assert then == "Then type: campaign new 'green house.yaml' --from 'green house.xlsx'"
    made = typed(*shlex.split(then.partition("campaign ")[2]))
    assert made.code == 0 and "Next: campaign check 'green house.yaml'" in made.out
    # The two addresses in a cell are for a person to decide; the lines to take in are there.
    definition = tmp_path / "green house.yaml"
    assert "not 2: " in typed("check", definition.name).err
    text = definition.read_text("utf-8").replace("  # several: first", "  several: first")
    definition.write_text(text, "utf-8")
    assert typed("check", definition.name).code == 0
    assert "campaign new 'green house-2.yaml'" in typed("check", "green house.xlsx").err


def test_where_is_proposed_from_columns_of_few_values(typed: Typed, tmp_path: Path) -> None:
    """Not of names, addresses and dates; as it stands everybody is kept, once taken in too."""
    (tmp_path / "sub").mkdir()
    write_book(tmp_path / "export.xlsx")
    assert typed("new", "sub/hiring.yaml", "--from", "export.xlsx").code == 0
    text = Path("sub/hiring.yaml").read_text("utf-8")
    assert '  file: "../export.xlsx"\n  split_name: true' in text
    assert "  #   Job: [Backend Engineer, Data Scientist]   # rows: 3, 1\n" in text
    assert '  #   Stage: [Take Home Test, "On-site: 2nd"]   # rows: 3, 1\n' in text
    assert "Applied" not in text and "campaign: hiring" in text
    uncommented(Path("sub/hiring.yaml"))
    text = Path("sub/hiring.yaml").read_text("utf-8").replace(", Data Scientist]", "]")
    Path("sub/hiring.yaml").write_text(text, "utf-8")
    [definition] = read_campaigns(Path("sub/hiring.yaml")).definitions
    assert [person.first_name for person in definition.candidates] == ["Ada", "Grace", "Linus"]


VALUES = ["no", "1", "2.50", 'say "hi"', "a, b", "[x]", "# y", "k: v", "é́", "日本", "'", "~", "{z}"]


@pytest.mark.parametrize("value", VALUES)
def test_a_proposed_value_is_the_one_of_the_table(tmp_path: Path, value: str) -> None:
    """However YAML would read it, in a value and in the name of a column."""
    cell = '"' + value.replace('"', '""') + '"'
    rows = [f"Ann{n},Lee,ann{n}@work.org,{cell}" for n in range(3)]
    table = f"First name,Last name,Email,{cell}\n" + "\n".join([*rows, "Bo,Li,bo@work.org,other"])
    (tmp_path / "people.csv").write_text(table, "utf-8")
    found = understood(tmp_path / "people.csv")
    assert found.choices == {value: {value: 3, "other": 1}}
    definition = tmp_path / "a.yaml"
    head = "campaign: a\nproject: {name: A}\nproblem: 42\n"
    definition.write_text(head + found.candidates(definition), "utf-8")
    uncommented(definition)
    [campaign] = read_campaigns(definition).definitions
    assert campaign.selection is not None and campaign.selection.kept == 4


def test_empty_cells_are_proposed_too(tmp_path: Path) -> None:
    """Or whoever has one would be left out; a column that says who is out is mostly empty."""
    rows = [f"Ann{n},Lee,ann{n}@work.org,{'x' if n == 2 else ''}" for n in range(4)]
    table = "\n".join(["First name,Last name,Email,Withdrawn", *rows])
    (tmp_path / "people.csv").write_text(table, "utf-8")
    definition = tmp_path / "a.yaml"
    proposed = understood(tmp_path / "people.csv").candidates(definition)
    assert '  #   Withdrawn: ["", "x"]   # rows: 3, 1\n' in proposed
    head = "campaign: a\nproject: {name: A}\nproblem: 42\n"
    definition.write_text(head + proposed.replace(', "x"]', "]"), "utf-8")
    uncommented(definition)
    [campaign] = read_campaigns(definition).definitions
    assert campaign.selection is not None and campaign.selection.kept == 3


def test_a_sheet_can_be_named_and_goes_into_the_definition(typed: Typed, tmp_path: Path) -> None:
    """Where two have addresses, the first is proposed for what was typed."""
    write_book(tmp_path / "two.xlsx", others=True)
    answer = typed("new", "two.yaml", "--from", "two.xlsx")
    named = "campaign new two.yaml --from two.xlsx --sheet 'Candidates Report'"
    assert answer.err.splitlines()[-1] == f"Then type: {named}"
    answer = typed("check", "two.xlsx", "--sheet", "rejected")
    then = answer.err.splitlines()[-1]
    assert then == "Then type: campaign new two.yaml --from two.xlsx --sheet rejected"
    assert "Grace" not in answer.out
    assert typed(*shlex.split(then.partition("campaign ")[2])).code == 0
    [definition] = read_campaigns(Path("two.yaml")).definitions
    assert len(definition.candidates) == 1
    assert typed("new", "three.yaml", "--sheet", "rejected").code == 2
    answer = typed("new", "three.xlsx", "--from", "two.xlsx", "--sheet", "rejected")
    assert answer.code == 2
    assert answer.err.endswith("campaign new three.yaml --from two.xlsx --sheet rejected\n")
    assert not Path("three.yaml").exists() and not Path("three.xlsx").exists()


def test_a_table_without_addresses_or_with_two_columns_of_them(
    typed: Typed, tmp_path: Path
) -> None:
    """Without any nothing is written; of two the definition is where a person says which."""
    (tmp_path / "none.csv").write_text("Name,Phone\nAda,1\n")
    with pytest.raises(BadInput, match="1 mistake"):
        understood(tmp_path / "none.csv")
    assert typed("new", "none.yaml", "--from", "none.csv").code == 2
    assert not Path("none.yaml").exists()
    (tmp_path / "two.csv").write_text(
        "First name,Last name,Work email,Personal email\nA,B,a@work.org,a@home.org\n"
    )
    assert typed("new", "two.yaml", "--from", "two.csv").code == 0
    assert "email1: Work email, Personal email;" in typed("check", "two.yaml").err


@pytest.mark.parametrize("command", ["check", "plan", "run", "rehearse"])
def test_a_bare_table_leads_to_a_definition_with_the_sheet(
    typed: Typed, tmp_path: Path, command: str
) -> None:
    """Whichever command it was that named one."""
    write_book(tmp_path / "people.xlsx", others=True)
    bare = typed(command, "people.xlsx", "--sheet", "Rejected")
    step = "campaign new people.yaml --from people.xlsx --sheet Rejected"
    assert (bare.code, step in bare.err) == (2, True)


def test_a_large_table_beside_a_small_one_is_not_waited_for(tmp_path: Path) -> None:
    """`check` looks beside a file for its key, and reads no large table for that."""
    head = "campaign: a\nproject: {name: A}\nproblem: 42\ncandidates: {file: %s}\n"
    row = "first_name,last_name,email1\nAda,Lovelace,ada@work.org\n"
    (tmp_path / "a.yaml").write_text(head % "a.csv")
    (tmp_path / "b.yaml").write_text(head % "b.csv")
    (tmp_path / "c.yaml").write_text(head % "missing.csv")
    for table in ("a.csv", "b.csv"):
        (tmp_path / table).write_text(row)
    assert len(same_key(tmp_path / "a.yaml", ["a"])) == 1
    (tmp_path / "b.csv").write_text(row + "\n" * SMALL)
    assert same_key(tmp_path / "a.yaml", ["a"]) == ()
