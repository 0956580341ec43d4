"""`invites: {not_before, not_after}`: read at their place, kept whenever a run starts."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from config.definition.invite_fields import needs_a_zone
from config.mistakes import Mistake
from config.reading.reading import read_campaigns
from config.timetable import moments
from config.timetable.window import Phase, Window
from data.campaigns import approvals
from data.campaigns.approvals import Answer
from data.store.states import By, Ending
from flows.run.ending import Finish
from flows.run.order import CampaignSource, RunContext, conduct
from sandbox.faults.faults import Fault
from tests.config.refusals import mistakes
from tests.support.campaigns import Heard, Office, people, settings_of

PARIS = "{name: Engineers, timezone: Europe/Paris}"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def wall(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


# -- the decision -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("begin", "end", "zone", "at", "phase"),
    [
        # Both ends belong to it, to the second.
        ("2026-12-01 09:00", "2026-12-04 18:00", "UTC", "2026-12-01 08:59:59", Phase.EARLY),
        ("2026-12-01 09:00", "2026-12-04 18:00", "UTC", "2026-12-01 09:00:00", Phase.OPEN),
        ("2026-12-01 09:00", "2026-12-04 18:00", "UTC", "2026-12-04 18:00:00", Phase.OPEN),
        ("2026-12-01 09:00", "2026-12-04 18:00", "UTC", "2026-12-04 18:00:01", Phase.LATE),
        # Open on one side.
        ("2026-12-01 09:00", None, "UTC", "2036-01-01 00:00:00", Phase.OPEN),
        (None, "2026-12-04 18:00", "UTC", "1999-01-01 00:00:00", Phase.OPEN),
        (None, "2026-12-04 18:00", "UTC", "2026-12-05 00:00:00", Phase.LATE),
        # Clocks elsewhere: nine in Paris is eight in winter and seven in summer.
        ("2026-12-01 09:00", None, "Europe/Paris", "2026-12-01 07:59:59", Phase.EARLY),
        ("2026-12-01 09:00", None, "Europe/Paris", "2026-12-01 08:00:00", Phase.OPEN),
        ("2026-07-01 09:00", None, "Europe/Paris", "2026-07-01 07:00:00", Phase.OPEN),
        ("2026-12-01 09:00", None, "Asia/Kathmandu", "2026-12-01 03:14:59", Phase.EARLY),
        ("2026-12-01 09:00", None, "Asia/Kathmandu", "2026-12-01 03:15:00", Phase.OPEN),
        ("2026-12-01 09:00", None, "Pacific/Kiritimati", "2026-11-30 19:00:00", Phase.OPEN),
        # Midnight, there and here.
        ("2026-12-01 00:00", None, "America/New_York", "2026-12-01 00:00:00", Phase.EARLY),
        ("2026-12-01 00:00", None, "America/New_York", "2026-12-01 05:00:00", Phase.OPEN),
        (None, "2026-12-01 00:00", "Asia/Tokyo", "2026-11-30 15:00:00", Phase.OPEN),
        (None, "2026-12-01 00:00", "Asia/Tokyo", "2026-11-30 15:00:01", Phase.LATE),
        # Over a change of the clocks: on the day they go forward, 01:59 is followed by 03:00.
        ("2026-03-29 03:00", None, "Europe/Paris", "2026-03-29 00:59:59", Phase.EARLY),
        ("2026-03-29 03:00", None, "Europe/Paris", "2026-03-29 01:00:00", Phase.OPEN),
        (None, "2026-10-25 01:59", "Europe/Paris", "2026-10-24 23:59:00", Phase.OPEN),
        (None, "2026-10-25 03:00", "Europe/Paris", "2026-10-25 02:00:00", Phase.OPEN),
        (None, "2026-10-25 03:00", "Europe/Paris", "2026-10-25 02:00:01", Phase.LATE),
        # A leap day is a day.
        ("2028-02-29 09:00", "2028-02-29 18:00", "UTC", "2028-02-28 23:59:59", Phase.EARLY),
        ("2028-02-29 09:00", "2028-02-29 18:00", "UTC", "2028-02-29 12:00:00", Phase.OPEN),
        ("2028-02-29 09:00", "2028-02-29 18:00", "UTC", "2028-03-01 00:00:00", Phase.LATE),
    ],
)
def test_when_it_is_time(
    begin: str | None, end: str | None, zone: str, at: str, phase: Phase
) -> None:
    """A window is two moments, whatever clocks show where the run happens to start."""
    window = Window.of(wall(begin), wall(end), zone)
    assert window is not None
    assert window.phase(utc(at)) is phase


def test_a_window_across_the_hour_that_comes_twice_is_an_hour_longer() -> None:
    """Ends are compared as moments: in one zone Python would compare what the clocks show."""
    window = Window.of(wall("2026-10-25 01:00"), wall("2026-10-25 04:00"), "Europe/Paris")
    assert window and window.not_before and window.not_after
    assert window.not_after - window.not_before == timedelta(hours=4)
    assert str(window) == "from 2026-10-25 01:00 until 2026-10-25 04:00 (Europe/Paris)"
    assert str(replace(window, not_before=None)) == "until 2026-10-25 04:00 (Europe/Paris)"
    assert str(replace(window, not_after=None)) == "from 2026-10-25 01:00 (Europe/Paris)"


def test_without_times_there_is_no_window() -> None:
    """Invitations may go out at any time."""
    assert Window.of(None, None, "") is None


# -- the definition ---------------------------------------------------------------------------


def read(
    folder: Path, invites: str, project: str = PARIS
) -> tuple[Window | None, Sequence[Mistake]]:
    """The window of a definition, and what there is to look at; raises BadInput."""
    path = folder / "timed.yaml"
    path.write_text(
        f"campaign: timed\nproject: {project}\nproblem: 42\ninvites: {invites}\n"
        "candidates: [{first_name: Ada, last_name: Lovelace, email1: ada@example.com}]\n"
    )
    reading = read_campaigns(path)
    return reading.definitions[0].invites.timetable.window, reading.warnings


def test_times_are_read_in_the_zone_of_the_project_or_their_own(tmp_path: Path) -> None:
    """The nearer timezone counts."""
    times = "not_before: 2026-12-01 09:00, not_after: 'Dec 4, 2026 6:00 pm'"
    assert read(tmp_path, f"{{{times}}}")[0] == Window(
        utc("2026-12-01 08:00"), utc("2026-12-04 17:00"), "Europe/Paris"
    )
    assert read(tmp_path, f"{{{times}, timezone: Asia/Tokyo}}", "{name: Engineers}")[0] == Window(
        utc("2026-12-01 00:00"), utc("2026-12-04 09:00"), "Asia/Tokyo"
    )
    assert read(tmp_path, f"{{{times}, timezone: Asia/Tokyo}}", "{id: 7}")[0] is not None


@pytest.mark.parametrize(
    ("invites", "project", "where", "value"),
    [
        (
            "{not_before: 2026-12-01 09:00}",
            "{id: 7}",
            "4:23, invites.not_before",
            needs_a_zone("not_before"),
        ),
        (
            "{not_before: 2026-03-29 02:30}",
            PARIS,
            "4:23, invites.not_before",
            moments.clock_change(datetime(2026, 3, 29, 2, 30), "Europe/Paris"),  # noqa: DTZ001
        ),
        (
            "{not_after: 2026-10-25 02:30}",
            PARIS,
            "4:22, invites.not_after",
            moments.clock_change(datetime(2026, 10, 25, 2, 30), "Europe/Paris"),  # noqa: DTZ001
        ),
        ("{not_before: 2026-11-30}", PARIS, "4:23, invites.not_before", "2026-11-30 09:00"),
        ("{not_before: 2026-02-29 09:00}", PARIS, "4:23, invites.not_before", moments.NO_SUCH),
        ("{not_before: 2026-12-01 09:00Z}", PARIS, "4:23, invites.not_before", moments.NO_OFFSET),
        (
            "{not_before: 2026-12-01 09:00, not_after: 2026-12-01 09:00}",
            PARIS,
            "4:52, invites.not_after",
            "not_before",
        ),
        ("{not_befor: 2026-12-01 09:00}", PARIS, "4:11, invites.not_befor", "not_before?"),
        (
            "{not_after: 2026-12-01 09:00, timezone: Mars}",
            PARIS,
            "4:50, invites.timezone",
            '"Mars"',
        ),
    ],
)
def test_a_bad_time_is_told_with_its_place(
    tmp_path: Path, invites: str, project: str, where: str, value: str
) -> None:
    """One complaint, by the rules of starttime; a time without a place is no moment."""
    [mistake] = mistakes(read, tmp_path, invites, project)
    assert f"{mistake.place}, {mistake.field}" == f"{tmp_path / 'timed.yaml'}:{where}"
    assert value == mistake.found or value in (mistake.message or mistake.wanted or "")


@pytest.mark.parametrize(
    ("invites", "field", "bound"),
    [
        ("{not_before: 2026-12-01 09:00, not_after: 2026-12-04 18:00}", None, ""),
        ("{not_before: 2026-12-14 18:00}", "invites.not_before", "2026-12-14 18:00"),
        ("{not_after: 2026-12-15 09:00}", "invites.not_after", "2026-12-14 18:00"),
        ("{not_after: 2026-12-01 09:00}", "invites.not_after", "2026-12-01 09:00"),
        ("{not_after: 2026-12-15 09:00, timezone: Asia/Tokyo}", None, ""),
    ],
)
def test_times_outside_the_project_are_something_to_look_at(
    tmp_path: Path, invites: str, field: str | None, bound: str
) -> None:
    """Nobody can work in a project that is over, though it may be meant all the same."""
    dates = "starttime: 2026-12-01 09:00, endtime: 2026-12-14 18:00"
    _, warned = read(tmp_path, invites, f"{{name: Engineers, timezone: Europe/Paris, {dates}}}")
    assert [warning.field for warning in warned] == ([field] if field else [])
    assert all(str(warning.message).endswith(f", {bound}") for warning in warned)


# -- the run ----------------------------------------------------------------------------------


@dataclass
class Clock:
    """A clock that a test sets."""

    at: datetime

    def __call__(self) -> datetime:
        return self.at


def write(office: Office, *names: str, more: str = "") -> Path:
    times = "not_before: 2026-12-01 09:00, not_after: 2026-12-04 18:00"
    return office.write(
        "timed", people(*names), project=PARIS, more=f"invites: {{{times}{more}}}\n"
    )


def run(office: Office, path: Path, clock: Callable[[], datetime], **more: object) -> Finish:
    with office.ledger() as ledger:
        desk = RunContext(ledger, settings_of(office.service), office.local, clock=clock, **more)  # type: ignore[arg-type]
        return asyncio.run(conduct(CampaignSource(path, path.stem), desk))


def test_before_its_time_everything_is_prepared_and_nobody_invited(office: Office) -> None:
    """What is wrong is found early; the second early run asks nothing; then each gets one email."""
    path = write(office, "ada", "grace")
    end = run(office, path, Clock(utc("2026-12-01 07:59:59")))
    assert end.ending is Ending.NOT_YET
    assert end.reason and "2026-12-01 09:00 (Europe/Paris)" in end.reason
    assert office.changing() == ["create_project", "attach_problem", "add_candidates"]
    before = office.service.api_requests()
    assert run(office, path, Clock(utc("2026-12-01 07:59:59"))).ending is Ending.NOT_YET
    assert office.service.api_requests() == before
    assert run(office, path, Clock(utc("2026-12-01 08:00:00"))).ending is Ending.COMPLETED
    assert office.emails() == {"ada@example.com": 1, "grace@example.com": 1}


def test_after_its_time_nothing_is_sent(office: Office) -> None:
    """A run that starts late makes no request at all and says what would let it go on."""
    path = write(office, "ada")
    end = run(office, path, Clock(utc("2026-12-05 03:00")))
    assert end.ending is Ending.STOPPED
    assert end.reason and "ended on 2026-12-04 18:00 (Europe/Paris)" in end.reason
    assert office.service.record.requests == []


def test_who_came_too_late_is_not_even_added(office: Office) -> None:
    """The interface has no delete: nobody is put into a project who cannot be invited."""
    run(office, write(office, "ada"), Clock(utc("2026-12-02 09:00")))
    before = office.service.api_requests()
    end = run(office, write(office, "ada", "grace"), Clock(utc("2026-12-05 03:00")))
    assert end.ending is Ending.STOPPED
    assert office.service.api_requests() == before


def test_a_finished_campaign_stays_finished_after_its_time(office: Office) -> None:
    """Nothing is left to send, so that no time is missed."""
    path = write(office, "ada")
    run(office, path, Clock(utc("2026-12-02 09:00")))
    assert run(office, path, Clock(utc("2027-01-01 00:00"))).ending is Ending.COMPLETED


def test_without_invitations_their_time_does_not_matter(office: Office) -> None:
    """`send: false` adds and links whenever it is run."""
    path = write(office, "ada", more=", send: false")
    assert run(office, path, Clock(utc("2027-01-01 00:00"))).ending is Ending.COMPLETED
    assert office.changing()[-1] == "add_candidates"


def test_the_window_of_an_unchanged_definition_is_remembered(office: Office) -> None:
    """The ledger recognises a definition by its bytes, and keeps to its times all the same."""
    path = write(office, "ada", "grace")
    office.service.faults.add(Fault("status", "invite", status=403, count=None))
    assert run(office, path, Clock(utc("2026-12-02 09:00"))).ending is Ending.STOPPED
    office.service.faults.clear()
    before = office.service.api_requests()
    end = run(office, path, Clock(utc("2026-12-05 03:00")))
    assert end.reason and "invites.not_after" in end.reason
    assert office.service.api_requests() == before
    assert office.emails() == {}


def test_a_later_end_lets_it_go_on(office: Office) -> None:
    """The new time counts as soon as the definition says so."""
    path = write(office, "ada")
    late = Clock(utc("2026-12-05 03:00"))
    assert run(office, path, late).ending is Ending.STOPPED
    path.write_text(path.read_text().replace("2026-12-04", "2026-12-08"))
    assert run(office, path, late).ending is Ending.COMPLETED


def test_time_runs_out_in_the_middle_of_a_wave(office: Office) -> None:
    """Checked before each invitation: no pause of the service pushes one into the night."""
    office.local = office.local.model_copy(update={"invites_in_flight": 1})
    clock = Clock(utc("2026-12-04 16:59:59"))
    path = write(office, "ada", "grace", "edsger")

    def hears(sent: object) -> None:
        if office.emails():
            clock.at = utc("2026-12-04 17:00:01")

    end = run(office, path, clock, observer=Heard(on_sent=hears))
    assert end.ending is Ending.STOPPED
    assert len(office.emails()) == 1
    assert end.counts["waiting"] == 2
    assert end.counts["unsure"] == end.counts["sending"] == 0


def test_no_wave_begins_after_the_end(office: Office) -> None:
    """The step is not even shown as begun."""
    clock = Clock(utc("2026-12-02 09:00"))
    steps: list[str] = []

    async def perform(name: str, step: Callable[[], object]) -> object:
        steps.append(name)
        done = await step()  # type: ignore[misc]
        if name.startswith("add candidates"):
            clock.at = utc("2026-12-05 03:00")
        return done

    end = run(office, write(office, "ada"), clock, perform=perform)
    assert end.ending is Ending.STOPPED
    assert not any(step.startswith("invitations") for step in steps)
    assert office.emails() == {}


def test_an_approval_covers_what_is_sent_when_its_time_comes(office: Office) -> None:
    """The plan names the invitations and their time; approved early, it is not asked for again."""
    path = write(office, "ada", more=", approval: required")
    early = Clock(utc("2026-11-01 09:00"))
    end = run(office, path, early)
    assert end.ending is Ending.AWAITS_APPROVAL
    assert end.plan is not None
    assert "invite: 1 by email" in end.plan.told
    assert "from 2026-12-01 09:00 until 2026-12-04 18:00 (Europe/Paris)" in end.plan.told
    with office.ledger() as ledger:
        ledger.write(approvals.answer, end.plan, Answer.APPROVED, By("Mia", ""))
    assert run(office, path, early).ending is Ending.NOT_YET
    assert office.changing()[-1] == "add_candidates"
    assert run(office, path, Clock(utc("2026-12-02 09:00"))).ending is Ending.COMPLETED
    assert office.emails() == {"ada@example.com": 1}


def test_who_needs_a_person_is_told_before_the_time_as_well(office: Office) -> None:
    """A refused person shows early, while there is time to mend it."""
    office.service.faults.add(
        Fault("status", "add_candidates", status=422, email="grace@example.com", count=None)
    )
    end = run(office, write(office, "ada", "grace"), Clock(utc("2026-11-01 09:00")))
    assert end.ending is Ending.NEEDS_ATTENTION
    assert end.reason and "2026-12-01 09:00" in end.reason
    assert office.emails() == {}
