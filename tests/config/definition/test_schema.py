"""The schema that editors read and `campaign check` say the same, wherever a schema can say it."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from config.definition.schema import schema
from config.errors import BadInput
from config.reading.reading import read_campaigns
from config.reading.starter import write_starter

SCHEMA = Draft202012Validator(schema())
GOOD: dict[str, Any] = {
    "campaign": "autumn-2026",
    "project": {
        "name": "Backend engineer",
        "description": "",
        "state": "open",
        "starttime": "2030-01-07 09:00",
        "endtime": "2030-01-21 18:00",
        "timezone": "Europe/Paris",
    },
    "problem": 42,
    "stage_id": 1,
    "candidates": [
        {"first_name": "Ada", "last_name": "Lovelace", "email1": "ada@example.com", "stage_id": 2},
        {"first_name": "Grace", "last_name": "Hopper", "email1": "grace@example.com", "notes": ""},
    ],
    "invites": {
        "send": True,
        "approval": {"within": "2 days"},
        "not_before": "2030-01-07 09:00",
        "hours": "Mon-Fri 09:00-18:00",
        "holidays": ["2030-01-08"],
        "per_second": 2.5,
        "per_hour": 100,
        "least_time": "warn 3 days",
        "pilot": "ada@example.com",
        "waves": [5, 50, "rest"],
        "between": "1 hour",
        "hold_on": {"refused": "2%", "unsure": 1},
        "cooldown": "30 days",
        "trust": "wire",
    },
    "guard": {"removed": "20%"},
    "schedule": {"every": "1 hour"},
}
Path_ = tuple[Any, ...]


def paths(part: Any, at: Path_ = ()) -> list[Path_]:
    """Every place in a definition, from the top."""
    inner = part.items() if isinstance(part, dict) else enumerate(part)
    inside = [(*at, name) for name, _ in inner] if isinstance(part, dict | list) else []
    return inside + [
        deeper
        for one in inside
        if isinstance(here := place(part, one[len(at) :]), dict | list)
        for deeper in paths(here, one)
    ]


def place(part: Any, path: Path_) -> Any:
    for name in path:
        part = part[name]
    return part


PLACES = paths(GOOD)
VALUES = [
    None,
    True,
    False,
    0,
    -1,
    7,
    2.5,
    "",
    "rest",
    "nobody",
    [],
    ["a"],
    {},
    {"id": 7},
    {"x": 1},
]
CHANGES = st.tuples(
    st.sampled_from(PLACES),
    st.sampled_from(["replace", "leave out", "add"]),
    st.sampled_from(VALUES),
)


def changed(*changes: tuple[Path_, str, Any]) -> dict[str, Any]:
    """The good definition with some places changed, as far as they are still there."""
    made = deepcopy(GOOD)
    for path, how, value in changes:
        try:
            around = place(made, path[:-1])
            if how == "leave out":
                del around[path[-1]]
            elif how == "replace":
                around[path[-1]] = deepcopy(value)
            elif isinstance(around, dict):  # while it is empty, `check` takes it for not there
                around["colour"] = "red" if value is None else deepcopy(value)
        except (KeyError, IndexError, TypeError):
            continue
    return made


def accepted(made: dict[str, Any], folder: Path) -> bool:
    file = folder / "drawn.yaml"
    file.write_text(json.dumps(made), encoding="utf-8")  # JSON is YAML
    try:
        read_campaigns(file)
    except BadInput:
        return False
    return True


def test_what_is_good_is_good_to_both(tmp_path: Path) -> None:
    assert accepted(GOOD, tmp_path)
    assert SCHEMA.is_valid(GOOD)


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(CHANGES, min_size=1, max_size=2))
def test_an_editor_underlines_nothing_that_check_accepts(tmp_path: Path, changes: Any) -> None:
    made = changed(*changes)
    if accepted(made, tmp_path):
        assert not [error.message for error in SCHEMA.iter_errors(made)], made


SAYABLE = [
    (("campaign",), "leave out", None),
    (("campaign",), "replace", "Not A Key"),
    (("campaign",), "replace", 7),
    (("project",), "leave out", None),
    (("project", "name"), "leave out", None),
    (("project", "state"), "replace", ["open"]),
    (("project", "starttime"), "replace", 7),
    (("problem",), "replace", 0),
    (("problem",), "replace", "42"),
    (("problem",), "replace", True),
    (("problem",), "replace", {"colour": 1}),
    (("candidates",), "leave out", None),
    (("candidates",), "replace", []),
    (("candidates",), "replace", "people.csv"),
    (("candidates", 0, "first_name"), "leave out", None),
    (("candidates", 0, "email1"), "replace", 7),
    (("candidates", 0, "stage_id"), "replace", "two"),
    (("candidates", 0, "stage_id"), "replace", -1),
    (("stage_id",), "replace", -1),
    (("invites", "send"), "replace", "yes"),
    (("invites", "waves"), "replace", 5),
    (("invites", "between"), "replace", 7),
    (("invites", "trust"), "replace", "nobody"),
    (("invites", "hold_on", "unsure"), "replace", 0),
    (("invites", "send"), "add", 1),
    (("project", "name"), "add", 1),
    (("guard", "removed"), "replace", 0.2),
    (("guard", "removed"), "add", 1),
    (("campaign",), "add", 1),
]


@pytest.mark.parametrize("change", SAYABLE, ids=str)
def test_what_a_schema_can_say_both_refuse(tmp_path: Path, change: tuple[Path_, str, Any]) -> None:
    made = changed(change)
    assert (SCHEMA.is_valid(made), accepted(made, tmp_path)) == (False, False)


def test_the_schema_is_one_and_each_field_has_words() -> None:
    """An editor shows them where a field is completed."""
    Draft202012Validator.check_schema(SCHEMA.schema)
    fields = SCHEMA.schema["properties"]
    assert [name for name, field in fields.items() if not field.get("description")] == []


def test_a_starter_names_the_schema(tmp_path: Path) -> None:
    """In the line that the YAML language server reads, beside the file: it works offline."""
    write_starter(tmp_path / "hiring.yaml")
    first = (tmp_path / "hiring.yaml").read_text("utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=campaign.schema.json"
