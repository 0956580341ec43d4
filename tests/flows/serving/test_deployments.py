"""From files and folders to what Prefect starts: which deployments, and when they run."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from prefect.exceptions import ObjectNotFound
from prefect.schedules import Schedule
from prefect.settings import Settings

from flows.cli.main import main
from flows.cli.serve.serve import schedule_of
from flows.engine.prefect_settings import kept_for
from flows.serving.deployments import (
    FLOWS,
    forms,
    in_pool,
    of_inbox,
    of_wave_runs,
    planned_of,
    renew,
)
from flows.words.complaints import Mistyped

WRITTEN = """\
campaign: {key}
project: {{name: Engineers, timezone: Europe/Paris}}
problem: 42
candidates: [{{first_name: Ada, last_name: Lovelace, email1: ada@example.com}}]
"""


def write(folder: Path, key: str, more: str = "", name: str | None = None) -> Path:
    file = folder / f"{name or key}.yaml"
    file.write_text(WRITTEN.format(key=key) + more)
    return file


def test_a_file_becomes_one_deployment_per_campaign(tmp_path: Path) -> None:
    """Under the campaign's key, with the whole path: a worker may stand in any folder."""
    [one], bad = planned_of([write(tmp_path, "alone")], None)
    assert bad == []
    assert (one.flow.name, one.name) == ("campaign", "alone")
    assert one.parameters == {"file": str(tmp_path / "alone.yaml"), "campaign": "alone"}
    assert one.when == "on demand"


@pytest.mark.parametrize(
    ("own", "given", "when"),
    [
        ('schedule: {cron: "0 9 * * 1-5"}', None, "0 9 * * 1-5 (Europe/Paris)"),
        ("schedule: {every: 2 hours}", None, "every 2 hours"),
        ("", "0 6 * * *", "0 6 * * * (UTC)"),
        ('schedule: {cron: "0 9 * * 1-5"}', "0 6 * * *", "0 9 * * 1-5 (Europe/Paris)"),
    ],
)
def test_a_definitions_own_schedule_comes_first(
    tmp_path: Path, own: str, given: str | None, when: str
) -> None:
    """What is typed is for the campaigns that say nothing themselves."""
    typed = Schedule(cron=given, timezone="UTC") if given else None
    [one], _ = planned_of([write(tmp_path, "timed", own)], typed)
    assert one.when == when


def test_a_folder_is_a_batch_and_its_campaigns(tmp_path: Path) -> None:
    """What is typed is the batch's schedule; a bad file is told and keeps no other out."""
    folder = tmp_path / "year"
    folder.mkdir()
    write(folder, "spring")
    write(folder, "summer", "schedule: {every: 1 day}")
    (folder / "bad.yaml").write_text("campaign: bad\n")
    planned, bad = planned_of([folder], Schedule(cron="0 6 * * *", timezone="UTC"))
    assert {f"{one.flow.name}/{one.name}": one.when for one in planned} == {
        "batch/year": "0 6 * * * (UTC)",
        "campaign/spring": "on demand",
        "campaign/summer": "every 1 day",
    }
    assert [entry.file.name for entry in bad] == ["bad.yaml"]


def test_a_file_named_beside_its_folder_counts_once(tmp_path: Path) -> None:
    """Nobody meant two campaigns, and what is typed as the schedule is for it by name."""
    file = write(tmp_path, "spring")
    planned, bad = planned_of([file, tmp_path], Schedule(cron="0 6 * * *", timezone="UTC"))
    assert bad == []
    assert [(one.flow.name, one.when) for one in planned] == [
        ("batch", "0 6 * * * (UTC)"),
        ("campaign", "0 6 * * * (UTC)"),
    ]


def test_one_key_in_two_files_is_deployed_from_neither(tmp_path: Path) -> None:
    """The second deployment would silently take the first one's place."""
    files = [write(tmp_path, "same"), write(tmp_path, "same", name="other")]
    planned, bad = planned_of(files, None)
    assert planned == []
    assert len(bad) == 2


def test_workers_are_told_to_give_signs_of_life(tmp_path: Path) -> None:
    """Without them, a run would be taken for gone while it is at work."""
    [one], _ = planned_of([write(tmp_path, "alive")], None)
    nothing_there = AsyncMock()
    nothing_there.read_deployment_by_name.side_effect = ObjectNotFound(Exception())
    made, remarks = asyncio.run(renew(nothing_there, one, **in_pool("pool")))
    assert not remarks
    assert made.job_variables["env"]["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"] == "30"
    assert made.work_pool_name == "pool"


def test_every_flow_is_looked_after(tmp_path: Path) -> None:
    """A flow that a look does not know would crash unseen."""
    write(tmp_path, "known")
    found = planned_of([tmp_path], None)[0]
    planned = [*found, *forms(), of_inbox(tmp_path), of_wave_runs("campaigns")]
    assert {one.flow.name for one in planned} == set(FLOWS)


@pytest.mark.parametrize(
    ("name", "usable"),
    [("Bad Name", "bad-name"), ("a_b", "a-b"), ("a/../b", "a-b"), ("Ä", "production")],
)
def test_a_name_that_prefect_does_not_take_is_told_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, usable: str
) -> None:
    """With the characters that it may have, and a command that can succeed."""
    monkeypatch.setattr(
        "flows.engine.prefect_settings.prepare", lambda **_: None
    )  # of this process
    monkeypatch.setattr("sys.argv", ["campaign", "credentials", name])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert f"Type: campaign credentials {usable}" in said
    assert "pydantic" not in said


@pytest.mark.parametrize(("keep", "days"), [(None, 30), (timedelta(days=7), 7)])
def test_what_a_server_keeps_is_bounded(
    monkeypatch: pytest.MonkeyPatch, keep: timedelta | None, days: int
) -> None:
    """As Prefect reads the settings: runs as long as people's data, events half an hour."""
    for name, value in kept_for(keep).items():
        monkeypatch.setenv(name, value)
    server = Settings().server
    assert server.services.db_vacuum.enabled_vacuum_types >= {"events", "flow_runs", "orphans"}
    assert server.services.db_vacuum.retention_period == timedelta(days=days)
    assert server.events.retention_period <= timedelta(minutes=30)
    assert server.services.db_vacuum.loop_seconds <= 600


def test_an_interval_counts_from_a_fixed_day() -> None:
    """Else each restart would put the next run off by a whole interval."""
    first, second = schedule_of(None, 30, None), schedule_of(None, 30, None)
    assert first is not None
    assert second is not None
    assert first.interval == timedelta(minutes=30)
    assert first.anchor_date == second.anchor_date < datetime.now(UTC)


@pytest.mark.parametrize(
    ("cron", "every", "timezone", "said"),
    [
        ("daily", None, None, "--cron"),
        ("0 9 * * 1-5", 30, None, "not both"),
        ("0 9 * * 1-5", None, "Paris", "Europe/Paris"),
        (None, None, "../etc", "Europe/Paris"),
    ],
)
def test_a_schedule_that_cannot_be_read_is_told(
    cron: str | None, every: int | None, timezone: str | None, said: str
) -> None:
    """With what was found and what would do."""
    with pytest.raises(Mistyped, match=said):
        schedule_of(cron, every, timezone)
