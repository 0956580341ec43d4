"""`schedule` in a definition: a cron line in a place, or every so often."""

from datetime import timedelta
from pathlib import Path

import pytest

from config.definition.fields import CRON_NEEDS_A_ZONE, ONE_OF_BOTH
from config.definition.model import Schedule
from config.reading.reading import read_campaigns
from config.timetable.schedule import read_cron
from tests.config.refusals import mistakes
from tests.sheets.writers import workbook

HEAD = """\
campaign: planned
problem: 42
candidates: [{first_name: Ada, last_name: Lovelace, email1: ada@example.com}]
"""
HERE = "project: {name: Engineers, timezone: Europe/Paris}\n"
NOWHERE = "project: {name: Engineers}\n"


def schedule_of(folder: Path, text: str) -> Schedule | None:
    path = folder / "planned.yaml"
    path.write_text(HEAD + text)
    [definition] = read_campaigns(path).definitions
    return definition.schedule


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("0 9 * * 1-5", "0 9 * * 1-5"),
        ("  */15   8-18 1,15 * MON-fri ", "*/15 8-18 1,15 * MON-fri"),
        ("0 0 29 2 *", "0 0 29 2 *"),
        ("30 6 * jan,JUL 7", "30 6 * jan,JUL 7"),
    ],
)
def test_a_cron_line_is_read(typed: str, line: str) -> None:
    """Five fields; spaces between them are free."""
    assert read_cron(typed) == line


@pytest.mark.parametrize(
    "typed",
    [
        *("", "daily", "@daily", "0 9 * *", "0 9 * * 1-5 2026", "0 0 9 * * *"),
        *("60 9 * * *", "0 24 * * *", "0 9 0 * *", "0 9 * 13 *", "0 9 * * 8", "0 9 * * 5-1"),
        *("0 9 L * *", "0 9 * * 1#2", "0 9 ? * *", "0 9 * * payday", "0 9 30 2 *", "0 9 * * */0"),
    ],
)
def test_what_is_no_cron_line_is_refused(typed: str) -> None:
    """Neither what only some schedulers understand, nor what never comes due."""
    with pytest.raises(ValueError, match="a cron line"):
        read_cron(typed)


def test_prefect_reads_the_same_cron_lines() -> None:
    """What passes `check` can become a deployment's schedule."""
    from prefect.client.schemas.schedules import CronSchedule

    for line in ("0 9 * * 1-5", "*/15 8-18 1,15 * MON-fri", "0 0 29 2 *", "30 6 * jan,JUL 7"):
        assert CronSchedule(cron=read_cron(line), timezone="Europe/Paris").cron == line


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        (HERE, None),
        (HERE + 'schedule: {cron: "0 9 * * 1-5"}', Schedule("0 9 * * 1-5", None, "Europe/Paris")),
        (
            HERE + 'schedule: {cron: "0 9 * * 1-5", timezone: Asia/Tokyo}',
            Schedule("0 9 * * 1-5", None, "Asia/Tokyo"),
        ),
        (
            NOWHERE + 'schedule: {cron: "0 9 * * *", timezone: UTC}',
            Schedule("0 9 * * *", None, "UTC"),
        ),
        (NOWHERE + "schedule: {every: 1 hour}", Schedule(None, timedelta(hours=1), None)),
        (
            HERE + "schedule: {every: 90 minutes}",
            Schedule(None, timedelta(minutes=90), "Europe/Paris"),
        ),
    ],
)
def test_a_schedule_is_read(tmp_path: Path, text: str, schedule: Schedule | None) -> None:
    """In its own timezone, else in the project's; a span needs none."""
    assert schedule_of(tmp_path, text) == schedule


@pytest.mark.parametrize(
    ("text", "where", "value"),
    [
        (NOWHERE + 'schedule: {cron: "0 9 * * *"}', "5:18, schedule.cron", CRON_NEEDS_A_ZONE),
        (
            HERE + 'schedule: {cron: "0 9 * * *", every: 1 hour}',
            "5:38, schedule.every",
            ONE_OF_BOTH,
        ),
        (HERE + "schedule: {}", "5:11, schedule.every", ONE_OF_BOTH),
        (HERE + "schedule: daily", "5:11, schedule", '"daily"'),
        (HERE + "schedule: {cron: 9}", "5:18, schedule.cron", "9"),
        (HERE + "schedule: {cron: tomorrow}", "5:18, schedule.cron", '"tomorrow"'),
        (HERE + "schedule: {every: 1}", "5:19, schedule.every", "1"),
        (HERE + "schedule: {every: 1 hour, corn: x}", "5:27, schedule.corn", "cron?"),
        (HERE + "cron: 1 hour", "5:1, cron", "schedule.cron?"),
        (
            HERE + 'schedule: {cron: "0 9 * * *", timezone: Paris}',
            "5:41, schedule.timezone",
            "Europe/Paris?",
        ),
    ],
)
def test_what_is_no_schedule_is_told_with_its_place(
    tmp_path: Path, text: str, where: str, value: str
) -> None:
    """A schedule that cannot be read must not become a campaign that nobody runs."""
    (mistake,) = mistakes(schedule_of, tmp_path, text)
    assert f"{mistake.place}, {mistake.field}" == f"{tmp_path / 'planned.yaml'}:{where}"
    assert value == mistake.found or value in (mistake.message or mistake.wanted or "")


def test_a_bad_timezone_is_told_once(tmp_path: Path) -> None:
    """The project's zone is what is wrong; that the schedule would need it is no second mistake."""
    text = 'project: {name: Engineers, timezone: Pariss}\nschedule: {cron: "0 9 * * *"}'
    (mistake,) = mistakes(schedule_of, tmp_path, text)
    assert mistake.field == "project.timezone"


def test_a_workbook_has_a_schedule_too(tmp_path: Path) -> None:
    """One cell each, spelt with dots or without."""
    fields = (
        ("campaign", "planned"),
        ("project.name", "Engineers"),
        ("problem", 42),
        ("cron", "0 9 * * 1-5"),
        ("schedule.timezone", "Europe/Paris"),
    )
    people = (("first_name", "last_name", "email1"), ("Ada", "Lovelace", "ada@example.com"))
    path = tmp_path / "planned.xlsx"
    path.write_bytes(workbook({"campaign": fields, "candidates": people}))
    [definition] = read_campaigns(path).definitions
    assert definition.schedule == Schedule("0 9 * * 1-5", None, "Europe/Paris")
