"""What `invites` and `guard` say about when and how many: hours, rates, waves, pilot, guard."""

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest

from config.definition.model import Definition
from config.reading.reading import read_campaigns
from config.timetable.hours import Hours
from config.timetable.timetable import Timetable
from config.timetable.waves import HoldOn, Waves
from config.timetable.window import Window
from tests.config.refusals import messages, mistakes
from tests.sheets.writers import workbook

HEAD = """\
campaign: timed
project: {name: Engineers, timezone: Europe/Paris, endtime: 2026-12-14 18:00}
problem: 42
candidates: [{first_name: Ada, last_name: Lovelace, email1: ada@example.com}]
"""
WEEKDAYS = frozenset(range(5))
OFFICE = Hours(WEEKDAYS, time(9), time(18), frozenset(), "Europe/Paris")
ENDS = datetime(2026, 12, 14, 17, tzinfo=UTC)


def refusal(folder: Path, text: str) -> str:
    return "\n".join(messages(read, folder, text))


def read(folder: Path, text: str) -> Definition:
    file = folder / "timed.yaml"
    file.write_text(text)
    [definition] = read_campaigns(file).definitions
    return definition


@pytest.mark.parametrize(
    ("invites", "found"),
    [
        ("{send: true}", Timetable()),
        ("{hours: Mon-Fri 09:00-18:00}", Timetable(hours=OFFICE)),
        (
            "{hours: Mon-Fri 9-18, holidays: [2026-12-25], timezone: UTC}",
            Timetable(
                hours=Hours(WEEKDAYS, time(9), time(18), frozenset({date(2026, 12, 25)}), "UTC")
            ),
        ),
        ("{per_second: 0.5}", Timetable(gap=timedelta(seconds=2))),
        ("{per_hour: 360}", Timetable(gap=timedelta(seconds=10))),
        ("{per_second: 5, per_hour: 360}", Timetable(gap=timedelta(seconds=10))),
        (
            "{least_time: 3 days}",
            Timetable(latest=ENDS - timedelta(days=3), advised=ENDS - timedelta(days=3)),
        ),
        ("{least_time: warn 3 days}", Timetable(advised=ENDS - timedelta(days=3))),
        ("{pilot: Me@Example.com}", Timetable(pilot="me@example.com")),
        (
            "{waves: [5, 50, rest], between: 1 hour}",
            Timetable(waves=Waves((5, 50), timedelta(hours=1))),
        ),
        ("{hold_on: {refused: 2%, unsure: 1}}", Timetable(hold_on=HoldOn(0.02, 1))),
    ],
)
def test_a_timetable_is_read(tmp_path: Path, invites: str, found: Timetable) -> None:
    """Every rule by itself, in the words of the definition."""
    assert read(tmp_path, f"{HEAD}invites: {invites}\n").invites.timetable == found


@pytest.mark.parametrize(
    ("invites", "field", "said"),
    [
        ("{hours: always}", "invites.hours", "Mon-Fri 09:00-18:00"),
        ("{hours: 9}", "invites.hours", "Mon-Fri 09:00-18:00"),
        ("{holidays: [2026-12-25]}", "invites.holidays", "go with hours"),
        ("{hours: 9-18, holidays: [Christmas]}", "invites.holidays", "dates, as in"),
        ("{hours: 9-18, holidays: 25}", "invites.holidays", "dates, as in"),
        ("{per_second: 0}", "invites.per_second", "above 0"),
        ("{per_hour: fast}", "invites.per_hour", "above 0"),
        ("{per_hour: true}", "invites.per_hour", "above 0"),
        ("{per_hour: .nan}", "invites.per_hour", "above 0"),
        ("{least_time: 3}", "invites.least_time", "3 days"),
        ("{pilot: me}", "invites.pilot", "email"),
        ("{waves: 5}", "invites.waves", "[5, 50, rest]"),
        ("{waves: [rest, 5]}", "invites.waves", "[5, 50, rest]"),
        ("{between: 1 hour}", "invites.between", "goes with waves"),
        ("{hold_on: {}}", "invites.hold_on", "refused: 2%"),
        ("{hold_on: {refused: 2}}", "invites.hold_on.refused", "2%"),
        ("{hold_on: {unsure: 0}}", "invites.hold_on.unsure", "above 0"),
        ("{hold_on: {lost: 1}}", "invites.hold_on.lost", "no field lost"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_place(
    tmp_path: Path, invites: str, field: str, said: str
) -> None:
    """One complaint, about that field, with what was wanted."""
    [problem] = mistakes(read, tmp_path, f"{HEAD}invites: {invites}\n")
    assert problem.field == field
    assert said in f"{problem.message or problem.wanted}"
    assert problem.place.line == 5


def test_a_least_time_needs_an_end_that_is_known_here(tmp_path: Path) -> None:
    """Without the moment at which the project ends, less than three days cannot be told."""
    for project, said in (
        ("{name: A, timezone: UTC}", "endtime and timezone"),
        ("{name: A, endtime: 2026-12-14 18:00}", "endtime and timezone"),
        ("{id: 7}", "give not_after instead"),
    ):
        text = HEAD.replace(HEAD.splitlines()[1], f"project: {project}")
        assert said in refusal(tmp_path, f"{text}invites: {{least_time: 3 days}}\n")


def test_hours_need_a_place(tmp_path: Path) -> None:
    """Nine o'clock is no moment without a timezone."""
    text = HEAD.replace(", timezone: Europe/Paris", "")
    assert "hours need a timezone" in refusal(tmp_path, f"{text}invites: {{hours: 9-18}}\n")


def test_the_pilot_is_a_candidate_of_the_campaign(tmp_path: Path) -> None:
    """Added in front of the others, or simply the one who is there already."""
    added = read(tmp_path, f"{HEAD}invites: {{pilot: me@example.com}}\n")
    assert [person.email1 for person in added.candidates] == ["me@example.com", "ada@example.com"]
    there = read(tmp_path, f"{HEAD}invites: {{pilot: ADA@example.com}}\n")
    assert [person.email1 for person in there.candidates] == ["ada@example.com"]
    assert there.invites.timetable.pilot == "ada@example.com"


def test_a_guard_and_the_clock_of_a_person(tmp_path: Path) -> None:
    """A share of removed people, and a timezone that is never sent."""
    text = HEAD.replace("email1:", "timezone: Asia/Tokyo, email1:")
    definition = read(tmp_path, f"{text}guard: {{removed: 20%}}\n")
    assert definition.guard.removed == 0.2
    assert definition.candidates[0].timezone == "Asia/Tokyo"
    assert "did you mean Asia/Tokyo" in refusal(tmp_path, text.replace("Asia/Tokyo", "Tokyo"))


def test_a_workbook_says_it_in_cells(tmp_path: Path) -> None:
    """The same rules in the sheet `campaign`, lists with commas in one cell."""
    fields = (
        ("campaign", "timed"),
        ("project.name", "Engineers"),
        ("project.timezone", "Europe/Paris"),
        ("problem", 42),
        ("invites.hours", "Mon-Fri 09:00-18:00"),
        ("invites.holidays", "2026-12-25, 2027-01-01"),
        ("invites.per_hour", 200),
        ("invites.waves", "5, 50, rest"),
        ("invites.between", "1 hour"),
        ("invites.hold_on.refused", "2%"),
        ("invites.hold_on.unsure", 1),
        ("guard.removed", "20%"),
    )
    people = (("first_name", "last_name", "email1"), ("Ada", "Lovelace", "ada@example.com"))
    path = tmp_path / "timed.xlsx"
    path.write_bytes(workbook({"campaign": fields, "candidates": people}))
    [definition] = read_campaigns(path).definitions
    assert definition.invites.timetable == Timetable(
        hours=Hours(
            WEEKDAYS,
            time(9),
            time(18),
            frozenset({date(2026, 12, 25), date(2027, 1, 1)}),
            "Europe/Paris",
        ),
        gap=timedelta(seconds=18),
        waves=Waves((5, 50), timedelta(hours=1)),
        hold_on=HoldOn(0.02, 1),
    )
    assert definition.guard.removed == 0.2


def test_the_rules_are_told_in_words() -> None:
    """Whoever approves a plan reads each rule; the pilot's address is nobody's business there."""
    place = "Europe/Paris"
    begins = datetime(2026, 12, 1, 8, tzinfo=UTC)
    table = Timetable(
        window=Window(begins, None, place),
        hours=OFFICE,
        gap=timedelta(seconds=0.5),
        pilot="me@example.com",
        waves=Waves((5, 50), timedelta(hours=1)),
        hold_on=HoldOn(refused=0.02, unsure=3),
    )
    assert dict(table.in_words()) == {
        "when": "from 2026-12-01 09:00 (Europe/Paris)",
        "hours": "Mon-Fri 09:00-18:00 (Europe/Paris)",
        "rate": "at most 7,200 an hour",
        "pilot": "first an invitation to yourself, which you confirm",
        "waves": "5, 50, rest, 1 hour between them",
        "hold on": "2% refused, 3 unsure",
    }
    assert dict(Timetable().in_words()) == {}
    assert dict(Timetable(waves=Waves((5,)), hold_on=HoldOn(unsure=1)).in_words()) == {
        "waves": "5, rest",
        "hold on": "1 unsure",
    }
