"""The forms in Prefect's pages: what they decide is sent, or they say what to type."""

import asyncio
from contextlib import nullcontext
from functools import partial

import pytest

from data.decisions.doubts import doubts
from data.eligibility.evidence import facts_of
from data.eligibility.holds import is_still_approved
from data.store.states import Op, State
from flows import forms
from flows.forms import approve_campaign, settle_campaign
from tasks.plan import make_plan
from tests.data.desk import Desk


class Prefect:
    """A server that begins runs, unless it is away or the deployment is paused."""

    def __init__(self) -> None:
        self.is_away = self.is_paused = False
        self.began: list[str] = []

    async def run_now(self, client, file, key: str) -> bool:
        if self.is_away:
            raise ConnectionError
        if not self.is_paused:
            self.began.append(key)
        return not self.is_paused

    async def update_flow_run(self, number, parameters) -> None:
        assert (parameters["who"], parameters["why"]) == (forms.TAKEN_OUT, "")


@pytest.fixture
def prefect(monkeypatch: pytest.MonkeyPatch) -> Prefect:
    server = Prefect()

    client = partial(nullcontext, server)

    async def no_page(*_: object) -> None: ...

    monkeypatch.setattr(forms, "get_client", client)
    monkeypatch.setattr(forms, "run_now", server.run_now)
    monkeypatch.setattr(forms, "publish_page", no_page)
    monkeypatch.setattr(forms, "announce", no_page)
    return server


def approve(desk: Desk, who: str = "mara"):
    """Fill in the form with the code of the plan; says how its run ended."""
    read = desk.read("Ada", invites={"approval": "required"})
    plan = make_plan(read, desk.ledger, desk.settings)
    return asyncio.run(approve_campaign.fn("backend", plan.code, "approve", who))


def approved(desk: Desk) -> bool:
    with desk.at() as (session, campaign_id):
        return is_still_approved(facts_of(session, campaign_id))


@pytest.mark.parametrize(
    ("lacks", "state", "why"),
    [("is_away", "Failed", "no run (ConnectionError)"), ("is_paused", "Completed", "is paused")],
)
def test_where_no_run_begins_the_decision_stands_and_has_a_command(
    desk: Desk, prefect: Prefect, lacks: str, state: str, why: str
) -> None:
    setattr(prefect, lacks, True)
    assert "\nFill in a new one." in approve(desk, forms.TAKEN_OUT).message  # as a retry does
    ended = approve(desk)
    assert ended.name == state
    assert f" {why}, so nothing is sent yet.\ncampaign run /" in ended.message
    assert (approved(desk), prefect.began) == (True, [])


def test_a_verdict_runs_those_who_waited_for_it(desk: Desk, prefect: Prefect) -> None:
    desk.take_in("Ada")
    desk.does(Op.CREATE, state=State.UNSURE)
    (doubt,) = desk.call(doubts)
    sent = settle_campaign.fn("backend", doubt.part_id, "sent", "mara", service_id=101)
    assert asyncio.run(sent).is_completed()
    assert (desk.due(Op.ATTACH), prefect.began) == ([""], ["backend"])


def test_a_verdict_without_its_reason_decides_nothing(desk: Desk, prefect: Prefect) -> None:
    desk.take_in("Ada")
    desk.adds()
    desk.does(Op.INVITE, "Ada", state=State.UNSURE)
    (doubt,) = desk.call(doubts)
    words = ("backend", doubt.part_id, "again", "mara")
    refused = asyncio.run(settle_campaign.fn(*words))
    assert refused.message.startswith("bad input: Say why")
    assert refused.message.endswith("Nothing was changed.")  # a form has no --why to type
    assert desk.state("Ada")[1] == State.UNSURE
    assert asyncio.run(settle_campaign.fn(*words, "no email came")).is_completed()
    assert (desk.state("Ada")[1], prefect.began) == (State.WAITING, ["backend"])
