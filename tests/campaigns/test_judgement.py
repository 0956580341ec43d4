"""Pilot, waves, hours, hold and guard, end to end: the sandbox's record is the judge."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from config.reading.reading import read_campaigns
from data.campaigns import pauses, queries
from data.history import records
from data.store.states import By, Ending
from flows.cli.prepare.forecast import Forecast, forecast
from flows.run.ending import Finish
from flows.run.order import CampaignSource, RunContext, conduct
from flows.words.closing import next_steps
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tasks.plan.pilot import NothingToConfirm, confirm
from tasks.plan.plan import Cause, make_plan
from tasks.plan.target import beside
from tasks.sending import sender as sending
from tasks.sending.gate import Gate
from tests.support.campaigns import Office, people, settings_of
from tests.support.ledgers.journal import attempts

MONDAY = datetime(2025, 12, 1, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)
KEY = "judged"

# Where a ledger lies is all the same to what is only typed, shown or asked.
on_each_database = pytest.mark.usefixtures("each_database")


@dataclass
class Clock:
    """What every clock of a run shows."""

    at: datetime = MONDAY

    def __call__(self) -> datetime:
        return self.at


@dataclass
class Judged:
    """A campaign, the clock by which it is sent, and whom it lists."""

    office: Office
    clock: Clock

    def write(self, rows: str, invites: str = "{}", more: str = "") -> Path:
        project = "{name: Engineers, timezone: UTC, endtime: 2026-01-15 18:00}"
        return self.office.write(KEY, rows, project=project, more=f"invites: {invites}\n{more}")

    def run(self, path: Path, **desk: Any) -> Finish:
        with self.office.ledger() as ledger:
            service = settings_of(self.office.service)
            at = RunContext(ledger, service, self.office.local, clock=self.clock, **desk)
            return asyncio.run(conduct(CampaignSource(path, KEY), at))

    def confirm(self) -> None:
        with self.office.ledger() as ledger:
            campaign = ledger.read(queries.find_campaign, KEY)
            assert campaign is not None
            confirm(ledger, campaign, "grace", "looks right")

    def invited(self) -> list[str]:
        return [one.email.partition("@")[0] for one in self.office.service.record.invitations]


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judged]:
    clock = Clock()
    monkeypatch.setattr(sending, "now", clock)
    with Sandbox() as service:
        yield Judged(Office.at(tmp_path, service, invites_in_flight=2), clock)


TEN = people(*(f"p{number}" for number in range(10)))


@on_each_database
def test_the_pilot_is_invited_alone_until_somebody_confirms(judged: Judged) -> None:
    """Everybody is added, one email goes to oneself, and no run sends another before the word."""
    path = judged.write(TEN, "{pilot: me@example.com}")
    assert judged.run(path).ending is Ending.AWAITS_APPROVAL
    assert judged.invited() == ["me"]
    [step] = next_steps(judged.office.status(KEY), "judged.yaml")
    assert step.startswith("pilot: ") and step.endswith(f" campaign confirm {KEY}")
    requests = len(judged.office.changing())
    again = judged.run(path)
    assert again.ending is Ending.AWAITS_APPROVAL
    assert f"campaign confirm {KEY}" in str(again.reason)
    assert len(judged.office.changing()) == requests
    judged.confirm()
    assert next_steps(judged.office.status(KEY), "f")[0] == "waiting: campaign run f"
    assert judged.run(path).ending is Ending.COMPLETED
    assert sorted(judged.invited()) == sorted(["me", *(f"p{number}" for number in range(10))])


def test_there_is_nothing_to_confirm_before_the_pilot_got_its_invitation(judged: Judged) -> None:
    """A word given too early would let an unseen email through."""
    path = judged.write(TEN, "{pilot: me@example.com, not_before: 2025-12-02 09:00}")
    assert judged.run(path).ending is Ending.NOT_YET
    with pytest.raises(NothingToConfirm, match=f"^{KEY}: "):
        judged.confirm()
    judged.run(judged.write(TEN))
    with pytest.raises(NothingToConfirm, match=r"\(invites\.pilot\)"):
        judged.confirm()


def test_one_pilot_serves_many_campaigns_of_one_problem(judged: Judged) -> None:
    """Whoever looks at each campaign first is not held for having looked at another."""
    judged.run(judged.write(TEN, "{pilot: me@example.com}"))
    other = judged.office.write("other", people("zoe"), more="invites: {pilot: me@example.com}\n")
    with judged.office.ledger() as ledger:
        desk = RunContext(ledger, settings_of(judged.office.service), judged.office.local)
        end = asyncio.run(conduct(CampaignSource(other, "other"), desk))
    assert end.ending is Ending.AWAITS_APPROVAL
    assert judged.invited() == ["me", "me"]


def test_waves_grow_and_wait_for_each_other(judged: Judged) -> None:
    """Two, then three an hour later, then the rest; a run that comes too early sends nothing."""
    path = judged.write(TEN, "{waves: [2, 3, rest], between: 1 hour}")
    ends = []
    for _ in range(4):
        ends.append((judged.run(path), len(judged.invited())))
        judged.clock.at += HOUR / 2
    assert [sent for _, sent in ends] == [2, 2, 5, 5]
    assert [end.again for end, _ in ends[:2]] == [MONDAY + HOUR] * 2
    assert judged.run(path).ending is Ending.COMPLETED
    assert len(set(judged.invited())) == 10


@on_each_database
def test_a_wave_with_too_many_refusals_holds_the_campaign(judged: Judged) -> None:
    """Nobody of the next wave is invited before a person has let it go on; then all are."""
    judged.office.service.faults.add(Fault("status", "invite", status=422))
    path = judged.write(TEN, "{waves: [4, rest], hold_on: {refused: 20%}}")
    end = judged.run(path)
    assert end.ending is Ending.STOPPED
    assert "1 of" in str(end.reason)
    assert f"campaign resume {KEY}" in str(end.reason)
    held = judged.invited()
    assert len(held) <= 4
    assert judged.run(path).ending is Ending.STOPPED
    assert judged.invited() == held
    judged.clock.at = datetime.now(UTC) + HOUR  # a person's word is written at the real time
    with judged.office.ledger() as ledger:
        ledger.write(pauses.resume, KEY, By("grace", "a known address"))
    assert judged.run(path).ending is Ending.NEEDS_ATTENTION
    assert len(set(judged.invited())) == len(judged.invited()) == 9


def test_people_are_invited_by_their_own_clocks(judged: Judged) -> None:
    """Nine to six is nine to six where the person is."""
    judged.office.write(KEY, "")
    rows = "first_name,last_name,email1,zone\nAda,A,ada@example.com,Asia/Tokyo\n"
    rows += "Bo,B,bo@example.com,\nCy,C,cy@example.com,America/New_York\n"
    (judged.office.folder / "zoned.csv").write_text(rows)
    path = judged.office.folder / f"{KEY}.yaml"
    path.write_text(
        f"campaign: {KEY}\nproject: {{name: A, timezone: Europe/Paris}}\nproblem: 42\n"
        "candidates: {file: zoned.csv, columns: {timezone: zone}}\n"
        "invites: {hours: Mon-Fri 09:00-18:00}\n"
    )
    seen = []
    for _ in range(3):
        end = judged.run(path)
        seen.append((judged.clock.at.hour, sorted(judged.invited())))
        judged.clock.at = end.again or judged.clock.at
    assert seen == [(8, ["ada", "bo"]), (14, ["ada", "bo", "cy"]), (14, ["ada", "bo", "cy"])]


@on_each_database
def test_a_shrunken_sheet_stops_the_run_and_asks(judged: Judged) -> None:
    """Nothing is sent and nobody is struck out, however often it is run, before the word."""
    judged.run(judged.write(TEN))
    path = judged.write(people("p1", "p2", "new"), more="guard: {removed: 50%}\n")
    for _ in range(2):
        end = judged.run(path)
        assert end.ending is Ending.STOPPED
        assert "8 of 10 people are gone" in str(end.reason)
        assert "--accept-removed" in str(end.reason)
        assert len(judged.invited()) == 10
    assert judged.run(path, accept_removed="rita").ending is Ending.COMPLETED
    with judged.office.ledger() as ledger:
        [said] = ledger.read(records.read, 1).decisions
    assert (said.verdict, said.who) == ("removed-accepted", "rita")
    assert "8 of 10 people are gone" in said.why
    assert judged.invited()[10:] == ["new"]
    assert judged.run(path).ending is Ending.COMPLETED


def test_whoever_would_have_too_little_time_is_not_invited(judged: Judged) -> None:
    """Three days before the end is the last moment; behind it the reason is told."""
    path = judged.write(TEN, "{least_time: 3 days}")
    judged.clock.at = datetime(2026, 1, 12, 18, 1, tzinfo=UTC)
    end = judged.run(path)
    assert (end.ending, judged.invited()) == (Ending.STOPPED, [])
    assert "least_time" in str(end.reason)
    judged.clock.at = datetime(2026, 1, 12, 18, tzinfo=UTC)
    assert judged.run(path).ending is Ending.COMPLETED


@pytest.mark.parametrize(
    ("invites", "rule", "mended", "sent"),
    [
        (
            "{waves: [2, rest], between: 3 days, not_after: 2025-12-03 18:00}",
            "not_after",
            "{waves: [2, rest], between: 3 days, not_after: 2025-12-05 18:00}",
            2,
        ),
        (
            "{hours: 'Sat 09:00-10:00', not_after: 2025-12-05 18:00}",
            "not_after",
            "{hours: 'Sat 09:00-10:00', not_after: 2025-12-06 18:00}",
            0,
        ),
        (
            "{hours: 'Sat 09:00-10:00', least_time: 41 days}",
            "least_time",
            "{hours: 'Sat 09:00-10:00', least_time: 3 days}",
            0,
        ),
    ],
)
def test_nobody_waits_for_a_time_that_does_not_come(
    judged: Judged, invites: str, rule: str, mended: str, sent: int
) -> None:
    """Whoever can change it hears of it while it can be changed, and not after the end."""
    path = judged.write(TEN, invites)
    for _ in range(2):
        end = judged.run(path)
        assert (end.ending, end.again, end.mend) == (Ending.NEEDS_ATTENTION, None, True)
        assert f"invites.{rule}" in str(end.reason)
        assert len(judged.invited()) == sent
    end = judged.run(judged.write(TEN, mended))
    assert end.ending is Ending.NOT_YET
    judged.clock.at = end.again or judged.clock.at
    assert judged.run(path).ending is Ending.COMPLETED
    assert len(judged.invited()) == 10


def test_hours_that_never_come_are_for_a_person(judged: Judged) -> None:
    """Nothing would go on by itself, however long anybody waits."""
    days = ", ".join(f"2025-12-{day:02}" for day in range(6, 32, 7))
    for year in (2026, 2027):
        first = datetime(year, 1, 3 if year == 2026 else 2, tzinfo=UTC)
        days += "".join(f", {first + timedelta(weeks=week):%Y-%m-%d}" for week in range(53))
    end = judged.run(judged.write(TEN, f"{{hours: 'Sat 09:00-10:00', holidays: [{days}]}}"))
    assert (end.ending, end.mend) == (Ending.NEEDS_ATTENTION, True)


# A server goes by its own clock, which nobody can set: tests/data/sending/test_pace.py.
def test_the_rate_is_kept_from_one_run_to_the_next(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five an hour are twelve minutes between two emails, whichever run sends them."""
    waited: list[timedelta] = []

    async def wait(_: Gate, seconds: float) -> None:
        waited.append(timedelta(seconds=seconds))
        judged.clock.at += waited[-1]

    monkeypatch.setattr(Gate, "wait", wait)
    monkeypatch.setattr("data.store.clock.now", judged.clock)
    for names in (["ada"], ["ada", "bo"], ["ada", "bo", "cy"]):
        judged.run(judged.write(people(*names), "{per_hour: 5}"))
        judged.clock.at += HOUR / 60
    assert judged.invited() == ["ada", "bo", "cy"]
    assert waited == [HOUR / 60 * 11] * 2
    with judged.office.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        sent = [one for one in ledger.read(attempts, campaign.id) if one.operation == "invite"]
    assert {two.claimed_at - one.claimed_at for one, two in pairwise(sent)} == {HOUR / 5}


RULES = st.fixed_dictionaries(
    {},
    optional={
        "hours": st.sampled_from(["Mon-Fri 09:00-18:00", "'Sat, Sun 10-12'", "00:00-08:30"]),
        "not_before": st.sampled_from(["2025-12-01 12:00", "2025-12-06 03:00"]),
        "not_after": st.sampled_from(["2025-12-06 04:00", "2025-12-31 12:00"]),
        "pilot": st.sampled_from(["me@example.com", "p1@example.com"]),
        "waves": st.lists(st.integers(1, 3), min_size=1, max_size=3).map(
            lambda sizes: f"[{', '.join(map(str, sizes))}, rest]"
        ),
        "least_time": st.sampled_from(["3 days", "45 days", "warn 45 days"]),
    },
)
ZONES = st.sampled_from(["", "", "Asia/Tokyo", "America/New_York", "Asia/Kathmandu"])


@settings(
    max_examples=25,
    phases=[Phase.generate],  # a run takes too long to look for a smaller one
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    rules=RULES,
    first=st.lists(ZONES, max_size=3),
    more=st.lists(ZONES, max_size=6),
    gone=st.integers(0, 2),
    paused=st.booleans(),
)
def test_what_is_forecast_is_what_is_done(
    rules: dict[str, str],
    first: list[str],
    more: list[str],
    gone: int,
    paused: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Over random definitions and ledgers, every run makes exactly the requests that the plan told,
    and sends to exactly whom it named.
    """
    clock = Clock()
    monkeypatch.setattr(sending, "now", clock)
    with TemporaryDirectory() as folder, Sandbox() as service:
        judged = Judged(Office.at(Path(folder), service, invites_in_flight=2), clock)
        if first:
            judged.run(_define(judged, {}, first))
        path = _define(judged, rules, first + more, gone, "guard: {removed: 30%}")
        if paused and first:
            _say(judged, pauses.pause)
        while True:
            plan, done, asked = _plan(judged, path), judged.invited(), judged.office.changing()
            end = judged.run(path)
            sent = judged.invited()[len(done) :]
            calls = Counter(judged.office.changing()[len(asked) :])
            assert sorted(sent) == sorted(_now(plan, clock.at))
            assert calls == _calls(plan, len(sent))
            if plan.stop is not None and plan.stop.cause is Cause.GUARD:
                path = _define(judged, rules, first + more, gone)
            elif plan.stop is not None and plan.stop.cause is Cause.PAUSED:
                _say(judged, pauses.resume)
            elif end.ending is Ending.AWAITS_APPROVAL:
                judged.confirm()
            elif end.again is not None:
                assert end.again > clock.at
                clock.at = end.again
            else:
                break
        assert [one for one, other in pairwise(sorted(judged.invited())) if one == other] == []
        assert _now(_plan(judged, path), clock.at) == []


def _define(
    judged: Judged, rules: dict[str, str], zones: list[str], gone: int = 0, more: str = ""
) -> Path:
    """List people by the clocks of their `zones`, but for the first who are `gone`."""
    rows = [f"P,Q,p{number}@example.com,{zone}" for number, zone in enumerate(zones)][gone:]
    table = judged.office.folder / "zoned.csv"
    table.write_text("\n".join(["first_name,last_name,email1,zone", *rows, "P,Q,z@example.com,"]))
    path = judged.office.folder / f"{KEY}.yaml"
    between = "between: 5 hours" if "waves" in rules else ""
    told = ", ".join([*(f"{name}: {value}" for name, value in rules.items()), between])
    path.write_text(
        f"campaign: {KEY}\n"
        "project: {name: A, timezone: Europe/Paris, endtime: 2026-01-15 18:00}\nproblem: 42\n"
        "candidates: {file: zoned.csv, columns: {timezone: zone}}\n"
        f"invites: {{{told.rstrip(', ')}}}\n{more}\n"
    )
    return path


def _say(judged: Judged, word: Any) -> None:
    with judged.office.ledger() as ledger:
        ledger.write(word, KEY, By("grace", "a look at the text"))


def _plan(judged: Judged, path: Path) -> Forecast:
    """What `campaign plan` would tell at the clock's moment."""
    [definition] = read_campaigns(path).definitions
    service = settings_of(judged.office.service).base_url
    with judged.office.ledger() as ledger:
        plan = make_plan(beside(definition, "", ledger, service), ledger, judged.clock.at)
        return forecast(plan, per_request=judged.office.local.candidates_per_request, ledger=ledger)


def _calls(plan: Forecast, invited: int) -> Counter[str]:
    """The changing requests of a run that begins now, by operation."""
    if plan.stop is not None:
        return Counter()
    told = {
        "create_project": plan.create,
        "attach_problem": plan.attach,
        "add_candidates": plan.requests,
        "invite": invited,
    }
    return +Counter({name: int(number) for name, number in told.items()})


def _now(plan: Forecast, at: datetime) -> list[str]:
    """Whom a run that begins now sends to: all that go at this very moment, up to the pilot."""
    now: list[str] = []
    if plan.ahead is None or plan.stop is not None:
        return now
    for leg in plan.ahead.legs.legs[: plan.ahead.legs.asked]:
        if leg.begins != at:
            break
        now += [plan.ahead.keys[row].partition("@")[0] for row in leg.rows]
    return now
