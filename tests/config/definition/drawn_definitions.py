"""Definitions for the schema's tests: good ones, and drawn ones with some fields changed."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from config.definition.building import MODELS
from config.definition.fields import CandidateFields

Location = tuple[str | int, ...]
Change = tuple[Location, Any]
LEFT_OUT = object()
# Such a field counts as not there, to `check` alone.
NOTHING_UNKNOWN = ("colour", None)

PEOPLE = [
    {"first_name": "Ada", "last_name": "Lovelace", "email1": "ada@example.com", "stage_id": 2},
    {"first_name": "Grace", "last_name": "Hopper", "email1": "grace@example.com", "notes": ""},
]
NEW: dict[str, Any] = {
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
    "candidates": PEOPLE,
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
        "hold_on": {"unsure": 1},
        "cooldown": "30 days",
        "trust": "wire",
    },
    "guard": {},
    "schedule": {"every": "1 hour"},
}
FILE = {"file": "people.csv", "where": {"Job": ["Engineer", 7]}, "columns": {"stage_id": None}}
FROM_FILE = NEW | {
    "project": {"id": 9},
    "problem": {"title": "Rate limiter"},
    "candidates": FILE | {"several": "first", "when_unsure": "add_again", "split_name": False},
    "invites": {"approval": "required", "timezone": "UTC", "not_after": "2030-01-07 09:00"},
    "schedule": {"every": "1 week", "timezone": "UTC"},
}
LISTED = NEW | {"candidates": {"people": PEOPLE, "when_unsure": "ask"}, "invites": {}}
BASES = (NEW, FROM_FILE, LISTED)
TABLE = "first_name,last_name,email1,Job\nAda,Lovelace,ada@example.com,Engineer\nG,H,g@h.test,7\n"

ODD = [
    *(None, True, False, 0, -1, 1, 7, 7.0, 2.5, 10**7, 2**63, "", "  ", "7", "rest", "nobody"),
    *([], ["a"], [None], [7], {}, {"id": 7}, {"x": 1}, {"people": PEOPLE}, PEOPLE),
]
ZONES = ["Europe/Paris", " UTC ", "Europe/Pari", "Mars", "Etc/GMT+1", "Europe / Paris"]
EMAILS = ["ada@example.com", " grace@example.com", "ada", "a@b@example.com", "ada@"]
MOMENTS = [
    *("2030-01-07 09:00", "2030-01-30T9:00:00", "2030-01-30", "Jan 30, 2030 9:00 am", "tomorrow"),
    *("2030-02-30 09:00", "2030-01-30 09:00 +01:00", "2030-01-30 09:00:30", "2030-03-31 02:30"),
]
SPANS = ["2 days", "36 HOURS", "1 Week", " 90minutes ", "0 days", "2 dyas", "2", "5000 days"]
RATES = [*(2.5, 7, 0.0, -1, 10**7, "2.5", "1e3", " 7 ", "many", "0")]
SHARES = ["2%", "2.5 %", " 20% ", "0%", "101%", "2", 0.02, "two%"]
NUMBERS = [1, 7, 0, -1, 7.0, 2.5, "7", 2**63, True]
TEXTS = ["Ada", " Zoë ", "", "  ", "a\x07b", "#REF!", "x" * 10_001, 7, "2030-01-07"]
POOLS: dict[str, list[Any]] = {
    "timezone": ZONES,
    **dict.fromkeys(("email1", "pilot"), EMAILS),
    **dict.fromkeys(("starttime", "endtime", "not_before", "not_after"), MOMENTS),
    **dict.fromkeys(("within", "every", "between", "cooldown"), SPANS),
    "least_time": [*SPANS, *(f"warn {span}" for span in SPANS), "warn", "Warn 3 days"],
    **dict.fromkeys(("per_second", "per_hour"), RATES),
    **dict.fromkeys(("refused", "removed"), SHARES),
    **dict.fromkeys(("id", "stage_id", "unsure"), NUMBERS),
    "campaign": ["autumn", "Autumn", "-a", "a" * 101, "2026", 2026, "a b"],
    "problem": [42, 0, "42", {"id": 42}, {"title": "Rate limiter"}, {"unlisted": True}],
    "hours": [
        *("Mon-Fri 09:00-18:00", "9-17", "Sat, Sun 10:00 – 12:00", "09:00-08:00", "Someday 9-17"),
        *("Mon-Fri", "09:00-25:00", "  9-17  ", 9),
    ],
    "holidays": [
        *(["2030-01-08"], [], ["2030-02-30"], ["20300108", " 2030-W02-2 "], ["8 Jan"], [20300108]),
        *("2030-01-08; 2030-01-09", "Christmas", "", ["2030-01-08", ""]),
    ],
    "waves": [
        *([5, 50, "rest"], [5], ["rest"], [], [0], [5, "REST "], [5, "all"], ["rest", 5], [5.0]),
        *("5, 50, rest", "[5,50]", "all", "rest", ["5"], 5, [True, "rest"], [5, "rest", "rest"]),
    ],
    "approval": [
        *("required", " required", "within 2 days", "within", "yes", {}, {"within": "2 days"}),
    ],
    "cron": ["0 9 * * 1-5", "0 9 * *", "0 9 * * Mon", "a b c d e", "0 0 31 2 *", "@daily"],
    "trust": ["status", "wire", "Wire"],
    "several": ["first", "last", "first\n"],
    "when_unsure": ["ask", "add_again", "Ask"],
    "file": ["people.csv", " people.csv", "people.md", "missing.csv"],
    "where": [{"Job": "Engineer"}, {"Job": []}, {"Job": ""}, {"Job": [7, True]}, {"Job": None}],
    "hold_on": [{"refused": "2%"}, {"unsure": 1}, {"refused": None}],
}


def fields() -> Iterator[Location]:
    """Every place for a field that there is, and some for which there is none."""
    for around, model in MODELS.items():
        yield from ((*around, name) for name in (*model.model_fields, "colour"))
    for around in (("candidates", 0), ("candidates", "people", 1)):
        yield from ((*around, name) for name in (*CandidateFields.model_fields, "colour"))
    yield ("candidates", 1)
    yield ("candidates", "where", "Job")


FIELDS = list(fields())


@st.composite
def changes(draw: st.DrawFn) -> Change:
    """A field, and what is put there: nothing, something odd, or mostly what belongs there."""
    location = draw(st.sampled_from(FIELDS))
    kind = draw(st.sampled_from(("left out", "odd", "apt", "apt", "apt")))
    if kind == "left out":
        return location, LEFT_OUT
    apt = POOLS.get(str(location[-1]), TEXTS)
    return location, draw(st.sampled_from(ODD if kind == "odd" else apt))


def changed(base: dict[str, Any], *made: Change) -> dict[str, Any]:
    """The definition with these fields set or left out, as far as there is a place for them."""
    definition = deepcopy(base)
    for location, value in made:
        *outer, name = location
        around: Any = definition
        for step in outer:
            around = _inside(around, step)
        if not _is_place(around, name) or (name, value) == NOTHING_UNKNOWN:
            continue
        around[name] = deepcopy(value)
        if value is LEFT_OUT:
            del around[name]
    return definition


def _inside(around: Any, step: str | int) -> Any:
    if isinstance(around, dict) and isinstance(step, str):
        return around.setdefault(step, {})
    if isinstance(around, list) and isinstance(step, int) and step < len(around):
        return around[step]
    return None


def _is_place(around: Any, name: str | int) -> bool:
    if isinstance(around, list):
        return isinstance(name, int) and name < len(around)
    return isinstance(around, dict) and isinstance(name, str)


DEFINITIONS = st.builds(
    lambda base, made: changed(base, *made),
    st.sampled_from(BASES),
    st.lists(changes(), min_size=1, max_size=3),
)


def put(*changes: Change) -> dict[str, Any]:
    """The new definition with these fields set."""
    return changed(NEW, *changes)


IN_INVITES: dict[str, list[Any]] = {
    "send": ["yes"],
    "approval": ["yes", "within", {"within": 2}],
    "hours": ["Mon-Fri", 9],
    "holidays": [["Christmas"], [7], "Christmas"],
    "per_second": ["many", 0, -1, 10**7, True],
    "least_time": ["3", "warn", "soon"],
    "pilot": ["ada", 7],
    "waves": [5, [], [0], ["rest"], ["5"], [5, "all"], "all", "rest"],
    "between": [7, "2", "2 dyas", ""],
    "hold_on": [{}, {"unsure": 0}, {"refused": 0.2}, {"refused": "two%"}],
    "trust": ["nobody"],
    "timezone": ["Europe / Paris", 1],
    "not_before": ["tomorrow", "2030-01-07", "2030-01-07 09:00 +01:00", 7],
}
# What a schema can refuse, and `check` refuses.
REFUSED = [
    *(put((("invites", name), value)) for name, bad in IN_INVITES.items() for value in bad),
    *(put(((name,), LEFT_OUT)) for name in ("campaign", "project", "problem", "candidates")),
    *(put((("campaign",), value)) for value in ("Not A Key", 7, "")),
    *(put((("project", "name"), value)) for value in (LEFT_OUT, None, "", "  ", 7)),
    *(put((("problem",), value)) for value in (0, "42", True, {"colour": 1}, {})),
    *(put((("candidates",), value)) for value in ([], "people.csv", {}, {"people": []}, None)),
    *(put((("candidates", 0, "email1"), value)) for value in (LEFT_OUT, None, 7, "ada")),
    *(put((("candidates", 0, "stage_id"), value)) for value in ("two", -1)),
    *(put((("guard", "removed"), value)) for value in (0.2, "2")),
    *(put(((*around, "colour"), 1)) for around in ((), ("invites",), ("candidates", 0))),
    put((("stage_id",), -1)),
    put((("project", "starttime"), "2030-01-07 09:00:30")),
    put((("project", "id"), 9)),
    put((("problem",), {"id": 1, "title": "A"})),
    put((("problem",), {"title": "A", "unlisted": True})),
    put((("schedule", "cron"), "0 9 * * 1-5")),
    put((("schedule",), {})),
    put((("schedule",), {"cron": "@daily"})),
    put((("invites", "hours"), LEFT_OUT)),  # holidays go with hours
    put((("invites", "waves"), LEFT_OUT)),  # and between with waves
    put((("project", "timezone"), LEFT_OUT), (("invites", "least_time"), LEFT_OUT)),
    put((("project", "endtime"), " ")),  # least_time needs it
    changed(LISTED, (("candidates", "file"), "people.csv")),
    changed(LISTED, (("candidates", "where"), {"Job": "Engineer"})),
    *(changed(FROM_FILE, (("candidates", "where"), bad)) for bad in (None, {}, {"Job": []})),
    *(changed(FROM_FILE, (("candidates", name), "x")) for name in ("several", "when_unsure")),
]
