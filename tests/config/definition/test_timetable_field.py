"""What `invites` and `guard` say about when and how many: hours, rates, waves, pilot, guard."""

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest

from config.definition.invite_fields import NEEDS_AN_END, WITH_HOURS, WITH_WAVES, needs_a_zone
from config.definition.model import Definition
from config.reading.reading import read_campaigns
from config.timetable.hours import Hours
from config.timetable.timetable import Timetable
from config.timetable.waves import HoldOn, Waves
from config.timetable.window import Window
from tests.config.refusals import mistakes
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
    ("invites", "field", "value"),
    [
        ("{hours: always}", "invites.hours", '"always"'),
        ("{hours: 9}", "invites.hours", "9"),
        ("{holidays: [2026-12-25]}", "invites.holidays", WITH_HOURS),
        ("{hours: 9-18, holidays: [Christmas]}", "invites.holidays", "a list"),
        ("{hours: 9-18, holidays: 25}", "invites.holidays", "25"),
        ("{per_second: 0}", "invites.per_second", "0"),
        ("{per_hour: fast}", "invites.per_hour", '"fast"'),
        ("{per_hour: true}", "invites.per_hour", "true"),
        ("{per_hour: .nan}", "invites.per_hour", '".nan"'),
        ("{least_time: 3}", "invites.least_time", "3"),
        ("{pilot: me}", "invites.pilot", '"me"'),
        ("{waves: 5}", "invites.waves", "5"),
        ("{waves: [rest, 5]}", "invites.waves", "a list"),
        ("{between: 1 hour}", "invites.between", WITH_WAVES),
        ("{hold_on: {}}", "invites.hold_on", "an empty mapping"),
        ("{hold_on: {refused: 2}}", "invites.hold_on.refused", "2"),
        ("{hold_on: {unsure: 0}}", "invites.hold_on.unsure", "0"),
        ("{hold_on: {lost: 1}}", "invites.hold_on.lost", '"lost"'),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_place(
    tmp_path: Path, invites: str, field: str, value: str
) -> None:
    """One complaint, about that field, with what was found."""
    [mistake] = mistakes(read, tmp_path, f"{HEAD}invites: {invites}\n")
    assert (mistake.place.line, mistake.field) == (5, field)
    assert value in (mistake.found, mistake.message)


def test_a_least_time_needs_an_end_that_is_known_here(tmp_path: Path) -> None:
    """Without the moment at which the project ends, less than three days cannot be told."""
    for project, said in (
        ("{name: A, timezone: UTC}", NEEDS_AN_END),
        ("{name: A, endtime: 2026-12-14 18:00}", NEEDS_AN_END),
        ("{id: 7}", "not_after"),
    ):
        text = HEAD.replace(HEAD.splitlines()[1], f"project: {project}")
        [mistake] = mistakes(read, tmp_path, f"{text}invites: {{least_time: 3 days}}\n")
        assert mistake.field == "invites.least_time"
        assert said in str(mistake.message)


def test_hours_need_a_place(tmp_path: Path) -> None:
    """Nine o'clock is no moment without a timezone."""
    text = HEAD.replace(", timezone: Europe/Paris", "")
    [mistake] = mistakes(read, tmp_path, f"{text}invites: {{hours: 9-18}}\n")
    assert mistake.message == needs_a_zone("hours")


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
    assert definition.guard == 0.2
    assert definition.candidates[0].timezone == "Asia/Tokyo"
    [mistake] = mistakes(read, tmp_path, text.replace("Asia/Tokyo", "Tokyo"))
    assert (mistake.field, mistake.found) == ("timezone", '"Tokyo"')
    assert "Asia/Tokyo?" in str(mistake.wanted)


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
    assert definition.guard == 0.2


def test_the_rules_are_told_in_words() -> None:
    """Whoever approves a plan reads each rule; the pilot's address is nobody's business there."""
    begins = datetime(2026, 12, 1, 8, tzinfo=UTC)
    table = Timetable(
        window=Window(begins, None, "Europe/Paris"),
        hours=OFFICE,
        gap=timedelta(seconds=0.5),
        pilot="me@example.com",
        waves=Waves((5, 50), timedelta(hours=1)),
        hold_on=HoldOn(refused=0.02, unsure=3),
    )
    told = dict(table.in_words())
    assert told.keys() == {"when", "hours", "rate", "pilot", "waves", "hold on"}
    assert (told["when"], told["hours"]) == (str(table.window), str(OFFICE))
    assert "7,200" in told["rate"]
    assert told["pilot"] and "@" not in told["pilot"]
    assert told["waves"].startswith("5, 50, rest, 1 hour")
    assert told["hold on"] == "2% refused, 3 unsure"
    assert dict(Timetable().in_words()) == {}
    assert dict(Timetable(waves=Waves((5,)), hold_on=HoldOn(unsure=1)).in_words()) == {
        "waves": "5, rest",
        "hold on": "1 unsure",
    }
