"""A definition as it is written, to its value or to every mistake at its line and column."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from config.definition import Definition
from config.errors import BadInput, in_order
from config.validation import build
from config.yaml_file import read_yaml

NOW = datetime(2026, 11, 1, tzinfo=UTC)
FILE = Path("a.yaml")
BASE = {
    "campaign": "campaign: hiring",
    "project": "project: {name: X, timezone: Europe/Paris, endtime: 2026-12-14 18:00}",
    "problem": "problem: 42",
    "candidates": "candidates: {file: people.csv}",
}


def written(*lines: str) -> bytes:
    """A definition of the usual four lines; each of these replaces one of them, or is added."""
    named = {line.partition(":")[0]: line for line in lines}
    return "\n".join((BASE | named).values()).encode()


def read(data: bytes) -> Definition:
    definition, wrong = build(read_yaml(data, FILE), NOW)
    assert wrong == []
    return definition


def mistakes(data: bytes) -> list[str]:
    try:
        _, wrong = build(read_yaml(data, FILE), NOW)
    except BadInput as refused:
        wrong = [*refused.mistakes]
    return [str(each).removeprefix("a.yaml:") for each in in_order(wrong)]


WRONG = r"""
projct: 1  =>  5:1, projct: there is no field projct; did you mean project?
xyz: 1  =>  5:1, xyz: there is no field xyz; the fields are campaign,…
invites: {not_bfore: 1}  =>  5:11, invites.not_bfore: there is no field not_bfore; did you mean no…
candidates: {fle: a.csv}  =>  4:14, fle: … did you mean file?
candidates: {file: a.csv, columns: {email1: <header>}}  =>
    4:45, columns.email1: fill in <header>
candidates: {file: a.csv, columns: {shoes: 38}}  =>  4:44, columns.shoes: there is no field shoes…
campaign:  =>  1:1, campaign: missing, wanted a key of letters,…
campaign: a b  =>  1:11, campaign: found "a b", wanted a key of letters,…
project: {}  =>  2:1, project.name: missing, wanted the project's name, or…
project: {id: 3, name: X}  =>  2:24, project.name: project 3 already exists and is used as it is…
problem: 0  =>  3:10, problem.id: found "0", wanted the number of the problem,…
problem: {id: 1, title: X}  =>  3:25, problem.title: wanted exactly one of…
candidates: x  =>  4:13, candidates: found "x", wanted a list of people,…
candidates:\n- {first_name: Ada, email1: a@}  =>
    5:3, last_name: missing, wanted a last name on one line ;;
    5:29, email1: found "a@", wanted an email address (…)
candidates:\n- {first_name: A, last_name: B, email1: Ann <a@b.org>}  =>
    5:41, email1: found "Ann <a@b.org>", wanted an email address only, …: a@b.org
candidates:\n- {first_name: "A\u202e", last_name: B, email1: a@b.org}  =>
    5:16, first_name: found "A\u202e", wanted a first name on one line
candidates:\n- {first_name: "A\x9b2J", last_name: B, email1: a@b.org}  =>
    5:16, first_name: found "A\x9b2J", wanted a first name on one line
candidates: {file: a.csv, where: {Stage: []}}  =>  4:42, where.Stage: …, wanted columns with the v…
candidates: {file: a.csv, where: {Stage: }}  =>  4:35, where.Stage: missing, wanted columns…
candidates: {file: a.csv, where: [a]}  =>  4:34, where: found a list, wanted columns with the valu…
candidates: [{first_name: Ada, last_name: 12345, email1: a@x.org}]  =>  4:43, last_name: … a name…
candidates: {file: a.csv, hidden_rows: yes}  =>  4:40, hidden_rows: found "yes", wanted skip or read
guard: {removed: 120%}  =>  5:18, guard.removed: found "120%", wanted a share…
invites: {waves: [0]}  =>  5:19, invites.waves: found "0", wanted sizes of the waves…
invites: {between: 1 day}  =>  5:20, invites.between: between goes with waves:…
invites: {holidays: [soon]}  =>  5:22, invites.holidays: found "soon", wanted dates on which no…
invites: {per_hour: 0}  =>  5:21, invites.per_hour: found "0", wanted the most…
schedule: {}  =>  5:1, schedule.every: wanted either  cron:…
schedule: {cron: "0 9 * *"}  =>  5:18, schedule.cron: …, wanted a cron line of five…
campaign: <key> // problem: <number>  =>
    1:11, campaign: fill in <key> ;;
    3:10, problem.id: fill in <number>
candidates: {file: a.csv, where: {Status: [Active, <delete this>], A: [<b>]}}  =>
    4:52, where.Status: fill in <delete this> ;;
    4:72, where.A: fill in <b>
project: {name: X, endtime: 2025-01-01 09:00}  =>  2:29, project.endtime: the project already ende…
project: {name: "", endtime: 2025-01-01 09:00}  =>  2:17, project.name: … ;; 2:30, project.endtime…
project: {name: X, starttime: 2027-01-02 09:00, endtime: 2027-01-01 09:00}  =>
    2:58, project.endtime: wanted a time after starttime
invites: {not_before: 2026-12-15 09:00}  =>  5:23, invites.not_before: the project ends on 2026-12…
invites: {not_before: 2026-12-02 09:00, not_after: 2026-12-01 09:00}  =>
    5:52, invites.not_after: wanted a time after not_before
project: {name: X} // invites: {hours: Mon-Fri 9-18}  =>  5:18, invites.hours: hours needs a timez…
project: {name: X} // schedule: {cron: "0 9 * * 1"}  =>  5:18, schedule.cron: cron needs a timezon…
project: {name: X, timezone: Europe/Pariss}  =>  2:30, project.timezone: …, wanted a timezone …
a: &x 1\nb: *x  =>  5:4: text that begins with & or !…
a: !Rejected  =>  5:4: text that begins with & or !…
candidates: {file: a.csv, where: {<A>: [<b>]}}  =>  4:41, where.<A>: fill in <b>
\tb: 1  =>  5:1: this line is indented with a tab; use spaces
notes: a: b  =>  5:9: put quotes around text that contains a colon
notes: "a  =>  5:8: a quote is opened and never closed
"""


def fits(pattern: str, text: str) -> bool:
    """Whether a text has the pieces of a pattern in order; … stands for anything between them."""
    first, *pieces = pattern.split("…")
    rest = text.removeprefix(first)
    if not text.startswith(first) or (not pieces and rest):
        return False
    for piece in pieces:
        found = rest.find(piece)
        if found < 0:
            return False
        rest = rest[found + len(piece) :]
    return not pieces or pieces[-1] == "" or rest == ""


@pytest.mark.parametrize("row", re.split(r"\n(?! )", WRONG.strip()))
def test_every_mistake_at_its_place(row: str) -> None:
    """Each row: lines of a definition, and the mistakes in them, with … for anything between."""
    typed, _, wanted = row.partition("  =>")
    lines = typed.replace(r"\n", "\n").replace(r"\t", "\t").split(" // ")
    patterns = [each.strip() for each in re.split(r";;\s", wanted)]
    found = mistakes(written(*lines))
    assert len(found) == len(patterns), found
    for pattern, text in zip(patterns, found, strict=True):
        assert fits(pattern, text), text


def test_all_mistakes_are_told_at_once() -> None:
    """In reading order, whatever kind they are of."""
    data = written("problem: x", "invites: {send: maybe, foo: 1}", "guard: {removed: 3}")
    lines = [each.partition(",")[0] for each in mistakes(data)]
    assert lines == ["3:10", "5:17", "5:24", "6:18"]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", "a.yaml: wanted a campaign"),
        (b"- a", "a.yaml:1:1: wanted a campaign"),
        (b"a: b\nc: \xff", "a.yaml:2: this is not text in UTF-8"),
        (b"a: \x00", "a.yaml: this is not YAML"),
        pytest.param(b"[" * 5000, "a.yaml", id="deep"),
    ],
)
def test_what_is_no_definition_is_refused_in_a_sentence(data: bytes, line: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_yaml(data, FILE)
    assert str(refused.value.mistakes[0]).startswith(line)


RIGHT: list[tuple[str, Any]] = [
    ("campaign", "hiring"),
    ("problem.id", 42),
    ("project.endtime", datetime.fromisoformat("2026-12-14 18:00")),
    ("invites.timezone", "Europe/Paris"),
    ("invites.waves", [5, 50]),
    ("invites.not_before", datetime.fromisoformat("2026-12-01 09:00")),
    ("invites.send", False),
    ("guard.removed", 0.05),
    ("schedule.timezone", "Europe/Paris"),
    ("candidates.hidden_rows", "skip"),
    ("invites.approval", "required"),
    ("candidates.where", {"Stage": ["Take-home test", ""], "Round": ["2"], "Yes": ["NO"]}),
]
FULL = written(
    "campaign: HIRING",
    "candidates: {file: a.csv, hidden_rows: skip, where: {Stage: [Take-home test, ''], Round: 2, "
    "Yes: NO}}",
    "invites: {send: no, approval: required, waves: [5, 50, rest], not_before: 2026-12-01T9:00}",
    "guard: {removed: 5%}",
    'schedule: {cron: "0 9 * * 1-5"}',
)


@pytest.mark.parametrize(("name", "value"), RIGHT)
def test_what_is_written_means_what_it_says(name: str, value: Any) -> None:
    """Also NO as text, and a key in any case."""
    found: Any = read(FULL)
    for step in name.split("."):
        found = getattr(found, step)
    assert found == value


def test_the_ledger_keeps_a_definition_as_json() -> None:
    """Read again, it is the same, however late: an ended project is refused only in a file."""
    definition = read(FULL)
    again = Definition.model_validate(definition.model_dump(mode="json"))
    assert again == definition


def test_what_is_sent() -> None:
    """The fields of interface 4.3, times in the service's own form; a person as written."""
    person = "{first_name: NO, last_name: Null, email1: A@b.org, stage_id: 2}"
    definition = read(written(f"candidates:\n- {person}"))
    assert isinstance(definition.candidates, list)
    assert definition.project.body() == {
        "name": "X",
        "description": "",
        "state": "open",
        "starttime": "",
        "endtime": "Dec 14, 2026 6:00 pm",
    }
    sent = {"first_name": "NO", "last_name": "Null", "email1": "A@b.org", "stage_id": 2}
    assert sent.items() <= definition.candidates[0].model_dump().items()
    assert "b.org" not in repr(definition)


def test_the_schema_describes_every_field() -> None:
    """An editor shows what a field is: the line below it in the model."""
    schema = Definition.model_json_schema()
    parts = [schema, *schema["$defs"].values()]
    fields = [field for part in parts for field in part["properties"].values()]
    assert len(fields) > 40
    assert all(field.get("description") for field in fields)
