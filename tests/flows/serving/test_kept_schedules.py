"""What a person switched off or changed in Prefect's pages stays so, whatever is typed again."""

from datetime import UTC, timedelta
from typing import Any
from uuid import uuid4

import pytest
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.objects import DeploymentSchedule
from prefect.client.schemas.responses import DeploymentResponse
from prefect.schedules import Schedule

from flows.serving.deployments import every
from flows.serving.kept_schedules import Kept, kept
from tests.support.prefects.prefect_home import PrefectServer, Standing, WarmDesk

pytestmark = pytest.mark.xdist_group("schedules")

NINE = Schedule(cron="0 9 * * 1-5", timezone="Europe/Paris")
TEN = Schedule(cron="0 10 * * 1-5", timezone="Europe/Paris")


def registered(as_kept: Kept, *, paused: bool = False, **change: Any) -> DeploymentResponse:
    """The deployment that comes of it, once somebody changed its first schedule so."""
    schedules = [DeploymentSchedule.model_validate(one.model_dump()) for one in as_kept.schedules]
    if change and schedules:
        schedules[0] = schedules[0].model_copy(update=change)
    return DeploymentResponse(
        name="x",
        flow_id=uuid4(),
        version=as_kept.version,
        schedules=schedules,
        paused=as_kept.paused or paused,
    )


def crons(as_kept: Kept) -> list[tuple[str, bool]]:
    return [(one.schedule.cron, one.active) for one in as_kept.schedules]  # type: ignore[union-attr]


def other(schedule: Schedule) -> Any:
    return DeploymentScheduleCreate.from_schedule(schedule).schedule


OFF = {"active": False}
CHANGED = {"schedule": other(TEN)}


@pytest.mark.parametrize(
    ("before", "change", "wanted", "came", "words"),
    [
        (NINE, {}, NINE, [("0 9 * * 1-5", True)], None),
        (NINE, {}, TEN, [("0 10 * * 1-5", True)], None),
        (NINE, OFF, NINE, [("0 9 * * 1-5", False)], "switched off"),
        (NINE, OFF, TEN, [("0 10 * * 1-5", False)], "switched off"),
        (NINE, CHANGED, NINE, [("0 10 * * 1-5", True)], "changed in Prefect"),
        (TEN, {"schedule": other(NINE)} | OFF, TEN, [("0 9 * * 1-5", False)], "changed in Prefect"),
        (None, {}, NINE, [("0 9 * * 1-5", True)], None),
        (NINE, {}, None, [], None),
    ],
)
def test_what_a_person_did_comes_first(
    before: Schedule | None,
    change: dict[str, Any],
    wanted: Schedule | None,
    came: list[tuple[str, bool]],
    words: str | None,
) -> None:
    """What the file says anew is taken over; what was done in Prefect since is kept and said."""
    found = kept(wanted, registered(kept(before, None), **change))
    assert crons(found) == came
    assert (words or "") in (found.words or "") and bool(words) == bool(found.words)
    assert len(found.superseded) == (before is not None and wanted is None)
    again = kept(wanted, registered(found))
    assert (crons(again), bool(again.words)) == (came, bool(words))


def test_a_schedule_that_was_removed_there_comes_back_switched_off() -> None:
    """Somebody stopped it; to have it again is one click."""
    there = registered(kept(NINE, None)).model_copy(update={"schedules": []})
    found = kept(NINE, there)
    assert crons(found) == [("0 9 * * 1-5", False)]
    assert "switched off" in (found.words or "")


def test_a_schedule_that_was_added_there_stays() -> None:
    """Beside our own, and where we have none."""
    added = DeploymentSchedule(schedule=other(TEN), active=True)
    for wanted, came in ((NINE, [("0 9 * * 1-5", True)]), (None, [])):
        there = registered(kept(wanted, None))
        there = there.model_copy(update={"schedules": [*there.schedules, added]})
        assert crons(kept(wanted, there)) == [*came, ("0 10 * * 1-5", True)]


def test_what_an_earlier_version_registered_is_taken_over() -> None:
    """It has no slug; switched off it stays."""
    before = registered(kept(NINE, None), slug=None, active=False)
    found = kept(TEN, before.model_copy(update={"version": "1a2b"}))
    assert crons(found) == [("0 10 * * 1-5", False)]


def test_an_interval_is_known_however_it_is_written() -> None:
    """Its anchor comes back from a server in another zone."""
    one = every(timedelta(minutes=30), "Europe/Paris")
    there = registered(kept(one, None))
    schedule = there.schedules[0].schedule
    moved = schedule.model_copy(update={"anchor_date": schedule.anchor_date.astimezone(UTC)})
    there.schedules[0] = there.schedules[0].model_copy(update={"schedule": moved})
    assert kept(one, there).words is None


@pytest.fixture
def standing(automated: Standing) -> Standing:
    return automated


def test_campaigns_that_no_file_has_any_more(desk: WarmDesk, prefect: PrefectServer) -> None:
    """Said by deploy, removed when told to; neither one elsewhere nor one whose file has a slip."""
    folder = desk.folder / "year"
    folder.mkdir()
    other = desk.campaign("elsewhere", 1)
    files = {}
    for key in ("spring", "summer", "autumn"):
        files[key] = desk.campaign(key, 1).rename(folder / f"{key}.yaml")
    (desk.folder / "people.csv").rename(folder / "people.csv")
    desk.people(1)
    assert desk.type("deploy", folder).code == desk.type("deploy", other).code == 0
    other.unlink()
    files["spring"].unlink()
    files["summer"].write_text("campaign: summer\n")

    def deployed() -> set[str]:
        return {one["name"] for one in prefect.ask("deployments")} & {*files, "elsewhere"}

    end = desk.type("deploy", folder)
    [warning] = [line for line in end.err.splitlines() if "--prune" in line]
    assert warning.startswith("Warning: campaign/spring ")
    assert warning.endswith(f": campaign deploy {folder} --prune")
    assert deployed() == {*files, "elsewhere"}
    end = desk.type("deploy", folder, "--prune")
    assert "Removed: campaign/spring" in end.out
    assert deployed() == {"summer", "autumn", "elsewhere"}
    assert "--prune" not in desk.type("deploy", folder).err


def test_switched_off_in_prefect_it_stays_off(desk: WarmDesk, prefect: PrefectServer) -> None:
    """As a server keeps it: off, changed, paused, gone from the file; deployed again each time."""
    file = desk.campaign("calm", 1)
    body = file.read_text()

    def deployed(schedule: str) -> tuple[dict[str, Any], str]:
        file.write_text(body + schedule)
        end = desk.type("deploy", file)
        assert end.code == 0, end.err
        return prefect.call("GET", "deployments/name/campaign/calm"), end.err

    nine = 'schedule: {cron: "0 9 * * 1-5", timezone: Europe/Paris}\n'
    there, words = deployed(nine)
    assert words == ""
    assert deployed(nine)[1] == ""
    [schedule] = there["schedules"]
    path = f"deployments/{there['id']}/schedules/{schedule['id']}"
    prefect.call("PATCH", path, {"active": False})
    for line in (nine, nine.replace("9", "8")):
        there, words = deployed(line)
        assert [one["active"] for one in there["schedules"]] == [False]
        assert "the schedule of campaign/calm is switched off in Prefect" in words
    ten = {"cron": "0 10 * * *", "timezone": "UTC"}
    prefect.call("PATCH", path, {"active": True, "schedule": ten})
    there, words = deployed(nine)
    assert [one["schedule"]["cron"] for one in there["schedules"]] == ["0 10 * * *"]
    assert "was changed in Prefect" in words
    prefect.call("POST", f"deployments/{there['id']}/pause_deployment")
    there, words = deployed(nine)
    assert there["paused"] is True
    prefect.call("POST", f"deployments/{there['id']}/resume_deployment")
    prefect.call("PATCH", path, {"schedule": {"cron": "0 9 * * 1-5", "timezone": "Europe/Paris"}})
    assert deployed("")[0]["schedules"] == []
