"""Adds that were refused and sent again: whoever may be there twice is on the list.

The interface shows no error (interface 7), so a service may say no to an add after it did the work.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.settings import load_local, load_service
from data.campaigns import queries
from data.history import records
from flows.run.order import RunContext, conduct
from sandbox.faults.faults import Fault
from tasks.plan.target import CampaignSource
from tests.support.doubtful_campaign import (
    DEFINITION,
    EMAILS,
    KEY,
    DoubtfulCampaign,
    doubtful_campaign,
)

ADA, ZOE, GRACE = EMAILS
pytestmark = pytest.mark.usefixtures("hasty")
MANY = 8  # two of three halves hold several people
AGAIN = ("settle", KEY, "--candidates", "again", "--why", "mended")


@pytest.fixture
def desk(
    each_database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[DoubtfulCampaign]:
    with doubtful_campaign(tmp_path, monkeypatch, capsys) as desk:
        yield desk


def run(desk: DoubtfulCampaign, *faults: Fault) -> None:
    """Do what `campaign run` does; at a service that lies the books do not fit its record."""
    desk.service.faults.clear()
    desk.service.faults.add(*faults)
    with desk.ledger() as ledger:
        asyncio.run(
            conduct(
                CampaignSource(desk.file, KEY), RunContext(ledger, load_service(), load_local())
            )
        )


def no(status: int, count: int = 1, *, after_work: bool, **more: object) -> Fault:
    return Fault(
        "status", "add_candidates", count=count, status=status, after_work=after_work, **more
    )


def listed(desk: DoubtfulCampaign) -> list[dict[str, object]]:
    items: list[dict[str, object]] = desk.type("clean-up", KEY, "--json").object["clean_up"]
    assert desk.type("status", KEY, "--json").object["clean_up"] == items
    return items


def there_twice(desk: DoubtfulCampaign) -> set[str]:
    """Whom the service has more than once, by its own record."""
    there = Counter(one.email1 for one in desk.service.record.candidates)
    return {email for email, times in there.items() if times > 1}


@pytest.mark.parametrize(("status", "noes"), [(400, 1), (413, 2), (422, 3)])
def test_who_may_have_been_added_twice_is_listed_once(
    desk: DoubtfulCampaign, status: int, noes: int
) -> None:
    """Each of them, with the id that is in use; and nobody else's."""
    head, _, _ = DEFINITION.partition("  - ")
    rows = [f"  - {{first_name: P, last_name: Q, email1: p{n}@example.com}}\n" for n in range(MANY)]
    desk.file.write_text(head + "".join(rows))
    run(desk, no(status, noes, after_work=True))
    items = listed(desk)
    with desk.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        people = ledger.read(records.read, campaign.id).people.values()
    in_use = {one.email1: one.candidate_id for one in people if one.candidate_id is not None}
    assert len(there_twice(desk)) == len(in_use) == MANY
    assert {one["email1"]: one["candidate_id"] for one in items} == in_use
    assert len(items) == len(in_use)
    assert {(one["what"], one["certain"]) for one in items} == {("double", False)}
    project = desk.service.record.projects[0].id
    said = desk.type("clean-up", KEY).out
    for item in items:
        assert f"  {item['email1']}: {item['why']}\n" in said
        named = re.findall(r"(project|candidate) (\d+)", str(item["why"]))
        assert dict(named) == {"project": str(project), "candidate": str(item["candidate_id"])}
    assert desk.type("clean-up", KEY, "--done").code == 0
    run(desk)
    assert listed(desk) == []


def test_an_honest_no_to_a_bad_row_leaves_a_doubt_about_the_others(desk: DoubtfulCampaign) -> None:
    """Nobody can tell it from a no after a part of the work. The bad row itself is believed."""
    bad = Fault("status", "add_candidates", count=None, status=422, email=ZOE)
    run(desk, bad)
    assert desk.steps(ZOE)[0] == "refused"
    assert {one["email1"] for one in listed(desk)} == {ADA, GRACE}


def test_what_is_perhaps_there_of_the_forgotten_is_told_while_it_is_known(
    desk: DoubtfulCampaign,
) -> None:
    """By `forget` itself: afterwards no list can name them."""
    run(desk, Fault("status", "add_candidates", count=None, status=422, email=ZOE))
    [why] = [item["why"] for item in listed(desk) if item["email1"] == ADA]
    forgotten = desk.type("forget", ADA.upper(), "--why", "asked", "--yes")
    assert forgotten.code == 0
    assert forgotten.out.count(f"  {why} ({KEY})") == 1
    assert {item["email1"] for item in listed(desk)} == {GRACE}


def test_a_single_row_that_is_refused_for_good_is_no_double(desk: DoubtfulCampaign) -> None:
    """It was sent once. Once a person has it sent again, it may be there twice."""
    run(desk, Fault("status", "add_candidates", count=None, status=422, email=ZOE))
    listed_before = {one["email1"] for one in listed(desk)}
    assert ZOE not in listed_before
    assert desk.type(*AGAIN).code == 0
    assert {one["email1"] for one in listed(desk)} == listed_before
    run(desk)
    assert desk.steps(ZOE) == ("done", "done")
    assert {one["email1"] for one in listed(desk)} == {*listed_before, ZOE}


@pytest.mark.parametrize("status", [401, 403, 429])
def test_a_no_that_was_about_no_row_is_believed(desk: DoubtfulCampaign, status: int) -> None:
    """By HTTP's own words nothing of such a request was taken in; else a service that throttles
    would put everybody on the list."""
    run(desk, no(status, after_work=False))
    run(desk)
    assert [desk.steps(email) for email in EMAILS] == [("done", "done")] * 3
    assert listed(desk) == []


def test_who_is_withdrawn_before_the_parts_were_sent_may_be_there(desk: DoubtfulCampaign) -> None:
    """The add that was refused as a whole was the only one that carried them."""
    run(desk, no(422, after_work=True), no(403, after_work=False))
    assert [desk.steps(email)[0] for email in EMAILS] == ["waiting"] * 3
    assert listed(desk) == []
    assert desk.type("withdraw", KEY, ADA, ZOE, "--why", "asked").code == 0
    items = listed(desk)
    assert [(one["what"], one["certain"], one["email1"]) for one in items] == [
        ("person", False, ADA),
        ("person", False, ZOE),
    ]
    assert {str(one["why"]).split(" in ")[0] for one in items} == {"perhaps"}
