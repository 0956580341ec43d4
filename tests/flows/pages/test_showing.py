"""The pages that Prefect shows: what they tell, what they never tell, and how they stay small."""

import asyncio
import re
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock
from uuid import uuid4
from xml.etree import ElementTree

import pytest
from prefect.exceptions import ObjectNotFound
from prefect.states import Cancelling

from config.errors import BadInput, BadSettings, CampaignError
from config.mistakes import Mistake, Place
from config.reading.folder import Entry
from config.reading.reading import read_campaigns
from data.campaigns.approvals import Answer
from data.campaigns.intake import overtaken
from data.decisions.verdicts import Doubt, listed
from data.privacy.masking import masked_email, masked_name
from data.sending.recovery import TakenOver
from data.store.states import Ending, Operation, Step
from data.store.tables import Approval, Campaign, Candidate
from flows.campaign import _name
from flows.pages import seen
from flows.pages.final_states import broken_off
from flows.pages.markdown import SETTLE, SHOWN, artifact_key, dated, how_far, percent, plan, summary
from flows.pages.wrong_places import left_out_files, where_wrong
from flows.report.funnel import ANYWHERE, funnel
from flows.run.ending import Finish

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


def counts(**more: int) -> dict[str, int]:
    names = ("candidates", "added", "invited", "waiting", "sending", "unsure", "refused")
    return dict.fromkeys((*names, "withdrawn", "withdrawn_since", "removed"), 0) | more


def campaign(**more: Any) -> Campaign:
    told: dict[str, Any] = {
        "id": 1,
        "key": "backend-2026",
        "service": "https://api.example.com",
        "app_url": "https://app.example.com",
        "definition": "/people/backend.yaml",
        "digest": "",
        "name": "Backend engineer",
        "project_state": Step.DONE,
        "project_id": 101,
        "problem_state": Step.DONE,
        "problem_id": 42,
        "created_at": NOON,
    }
    return Campaign(**told | more)


def person(number: int, invite: Step = Step.DONE, **more: Any) -> Candidate:
    told: dict[str, Any] = {
        "id": number,
        "campaign_id": 1,
        "email_key": f"ada{number}@example.com",
        "first_name": "Ada",
        "last_name": "Lovelace",
        "email1": f"ada{number}@example.com",
        "stage_id": 1,
        "candidate_id": 5000 + number,
        "add_state": Step.DONE,
        "invite_state": invite,
    }
    return Candidate(**told | more)


def doubt(operation: Operation = Operation.INVITE, row: int | None = 7) -> Doubt:
    evidence = "No answer came in time [ReadTimeout]"
    email = "" if row is None else "ada7@example.com"
    return Doubt(operation, 12, NOON, phase=2, evidence=evidence, row=row, email1=email)


def page(reason: str | None = None, numbers: dict[str, int] | None = None, **more: Any) -> str:
    numbers = numbers or counts(candidates=2, added=2, invited=2)
    given: dict[str, Any] = {
        "campaign": campaign(),
        "people": [person(1), person(2)],
        "doubts": [],
    }
    end = Finish("backend-2026", Ending.COMPLETED, reason, numbers)
    return summary(end=end, **(given | more))


# -- names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("email", "masked"),
    [
        ("ada@example.com", "a***@e***.com"),
        ("ada@mail.example.co.uk", "a***@m***.uk"),
        ("ada@localhost", "a***@l***"),
        ("@", "@"),
        ("ada", "a***"),
        ("ada@home@example.com", "a***@e***.com"),
        ("", ""),
    ],
)
def test_an_address_is_masked(email: str, masked: str) -> None:
    """Enough to recognise, not enough to write to."""
    assert masked_email(email) == masked


@pytest.mark.parametrize(
    ("first", "last", "masked"),
    [("Ada", "Lovelace", "A*** L***"), ("Zoë", "", "Z***"), (" ada", "de la Cruz", "a*** d***")],
)
def test_a_name_is_masked(first: str, last: str, masked: str) -> None:
    """A letter of each name, and not how long it is."""
    assert masked_name(first, last) == masked


@pytest.mark.parametrize(
    ("campaign", "key"),
    [
        ("backend-2026", "campaign-backend-2026"),
        ("backend.2026", "campaign-backend-2026-"),
        ("backend_2026", "campaign-backend-2026-"),
    ],
)
def test_an_artifact_has_a_key_that_prefect_takes(campaign: str, key: str) -> None:
    """One for each campaign, the same with every run."""
    assert artifact_key("campaign", campaign).startswith(key)
    assert re.fullmatch(r"[a-z0-9-]+", artifact_key("campaign", campaign))


def test_two_campaigns_never_share_an_artifact() -> None:
    """Keys that lose the same characters stay apart."""
    keys = {artifact_key("campaign", key) for key in ("a-b", "a.b", "a_b")}
    assert len(keys) == 3


# -- how far ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "send", "share"),
    [
        ({}, True, 100.0),
        ({"candidates": 4}, True, 0.0),
        ({"candidates": 4, "added": 4}, True, 50.0),
        ({"candidates": 4, "added": 4}, False, 100.0),
        ({"candidates": 4, "added": 4, "invited": 3, "unsure": 1}, True, 87.5),
        ({"candidates": 3, "added": 2, "invited": 2, "withdrawn": 1}, True, 100.0),
        ({"candidates": 1, "added": 1, "withdrawn": 1}, True, 100.0),
        (
            {"candidates": 4, "added": 4, "invited": 2, "withdrawn": 2, "withdrawn_since": 2},
            True,
            75.0,
        ),
    ],
)
def test_how_much_is_done(told: dict[str, int], send: bool, share: float) -> None:
    """Adding is half of the way where invitations are sent; only what is done counts."""
    assert percent(counts(**told), send=send) == share


def test_how_far_in_words() -> None:
    """What needs a person is said only where there is something."""
    some = counts(candidates=1200, added=1200, invited=1100, unsure=3)
    assert how_far(some, send=True) == "1,200 of 1,200 added, 1,100 of 1,200 invited, 3 unsure"
    assert how_far(counts(candidates=2, added=2), send=False) == "2 of 2 added"


def widths(picture: str, colour: str) -> list[float]:
    bars = ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}rect")
    return [float(bar.attrib["width"]) for bar in bars if bar.attrib["fill"] == colour]


def test_the_funnel_draws_in_proportion() -> None:
    """Everyone, added, invited; and of the last step who is unsure or refused."""
    picture = funnel(counts(candidates=4, added=4, invited=2, unsure=1, refused=1), send=True)
    whole, added, invited = widths(picture, ANYWHERE.done)
    assert whole == added == 2 * invited
    assert widths(picture, ANYWHERE.doubt) == widths(picture, ANYWHERE.refused) == [invited / 2]


def test_one_among_thousands_is_seen_in_the_funnel() -> None:
    """A doubt that is too thin to be drawn would be no doubt to whoever looks."""
    picture = funnel(counts(candidates=10_000, added=10_000, invited=9_999, unsure=1), send=True)
    assert widths(picture, ANYWHERE.doubt) == [3.0]
    assert len(picture) < 3000


def test_without_invitations_the_funnel_ends_with_who_was_added() -> None:
    """A campaign that only adds has nobody to invite."""
    picture = funnel(counts(candidates=3, added=2, refused=1), send=False)
    assert "invited" not in picture
    assert len(widths(picture, ANYWHERE.refused)) == 1


# -- the campaign's page ----------------------------------------------------------------------


def test_a_finished_campaign_asks_nobody_for_anything() -> None:
    """Counts, picture, people and files; no word of doubt."""
    told = page(written=Path("/out/backend-2026"))
    assert told.startswith("# backend-2026: 2 of 2 added, 2 of 2 invited\n")
    assert "`/out/backend-2026`" in told
    for word in ("Unsure", "Refused", "Stopped"):
        assert word not in told


def test_the_picture_is_in_the_page() -> None:
    """Nothing is fetched from anywhere: the page shows it offline, with words beside it."""
    [encoded] = re.findall(r"!\[2 of 2 added.*\]\(data:image/svg\+xml;base64,([^)]+)\)", page())
    assert b64decode(encoded).startswith(b"<svg")


def test_nobody_is_named() -> None:
    """People are masked wherever they stand: in the table, among the doubts, in a reason."""
    told = page(doubts=[doubt()], people=[person(7, Step.UNSURE)])
    assert "Ada" not in told
    assert "Lovelace" not in told
    assert "ada7" not in told
    assert r"A\*\*\* L\*\*\*" in told


def test_what_is_unsure_comes_with_how_to_settle_it() -> None:
    """The command, the form, the number and the code that it takes, and the verdicts that fit."""
    doubts = [doubt(), doubt(Operation.CREATE, row=None)]
    told = page(doubts=doubts)
    assert "campaign settle backend-2026" in told
    assert "**settle campaign**" in told
    code = listed(doubts, Operation.INVITE)
    verdicts = "Verdicts: sent, again, withdraw."
    assert f"What: invite. Listed: `{code}`. {verdicts}\n\n| person | who |" in told
    assert f"`{code}`" not in page(doubts=[doubt(row=8), *doubts])
    assert "| 7 | " in told
    assert "No answer came in time." in told
    assert "ReadTimeout" not in told
    assert 'whether the project "Backend engineer" exists' in told


def test_a_form_is_a_link_where_it_is_deployed() -> None:
    """One press away from the page, for whoever never learned where Prefect has its forms."""
    told = page(doubts=[doubt()], forms={SETTLE: "http://here/deployments/deployment/1/run"})
    assert "[settle campaign](http://here/deployments/deployment/1/run)" in told


def test_what_was_refused_comes_with_what_to_mend() -> None:
    """The file by its name, and the commands."""
    told = page(people=[person(1, Step.REFUSED)])
    assert "## Refused: 1" in told
    assert "`campaign resend backend-2026 EMAIL --why TEXT`" in told
    assert "--candidates" not in told
    told = page(people=[person(1, Step.WAITING, add_state=Step.REFUSED)])
    assert "`backend.yaml`" in told and "`campaign status backend-2026`" in told
    assert "if the row was right, the same command says what to type" in told
    assert "resend" not in told


def test_why_a_run_stopped_is_on_top() -> None:
    """Whoever opens the page reads it first."""
    lines = page(reason="It was paused by grace.").split("\n\n")
    assert lines[1] == "**Stopped.** It was paused by grace."


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (BadInput.at(Place("a.yaml"), "a mistake"), "BadInput"),
        (BadSettings("a setting"), "BadInput"),
        (CampaignError("the service"), "Stopped"),
        (ValueError("a fault of ours"), "Stopped"),
        (ObjectNotFound(OSError()), "Stopped"),
        (TakenOver(timedelta(minutes=14)), "Stopped"),
        (overtaken("spring"), "Stopped"),
    ],
)
def test_what_was_typed_wrong_is_bad_input_in_every_flow(error: Exception, name: str) -> None:
    """Nor does any speak of a command to somebody who has typed none."""
    state = broken_off(error)
    assert (state.name, "command" in str(state.message)) == (name, False)


def test_a_page_stays_small() -> None:
    """Ten thousand people are a bounded table, with those who need a person in it."""
    people = [person(number) for number in range(1, 10_000)] + [person(10_000, Step.UNSURE)]
    number = counts(candidates=10_000, added=10_000, invited=9_999, unsure=1)
    told = page(numbers=number, people=people, doubts=[doubt()] * 200)
    assert len(told) < 40_000
    assert "| 10000 |" in told
    assert f"and {10_000 - SHOWN:,} more" in told
    assert f"and {200 - SHOWN:,} more" in told


def test_text_of_others_has_no_power() -> None:
    """No tag, no link, no further cell comes from what somebody wrote."""
    hostile = "<img src=x> [a](javascript:b) | `c` \n# d"
    told = page(reason=hostile, campaign=campaign(service=hostile))
    assert "<img" not in told
    assert "[a]" not in told
    assert "\n# d" not in told
    assert r"\| \`c\`" in told


# -- a plan that waits ------------------------------------------------------------------------


def test_a_plan_tells_how_to_answer_it() -> None:
    """What would be sent, until when it waits, its code, the form and the command."""
    words = "add: 3 to the project\ninvite: 3 by email\nopen: Dec 1, 2026 9:00 am to no end"
    asked = Approval(campaign_key="backend-2026", digest="3f9a1c2e" + "0" * 56, told=words)
    told = plan(asked.model_copy(update={"answer_by": NOON, "timezone": "Asia/Tokyo"}))
    assert "plan 3f9a1c2e waits for approval" in told
    assert "| invite | 3 by email |" in told
    assert "| open | Dec 1, 2026 9:00 am to no end |" in told
    assert "| answer by | 2026-12-01 21:00 (Asia/Tokyo) |" in told
    assert "**approve campaign**" in told
    assert "campaign approve backend-2026 --plan 3f9a1c2e --reject --why TEXT" in told


def test_a_plan_that_was_answered_waits_for_nobody() -> None:
    """Who decided what, and how a rejection is overruled. The reason may name a candidate: it is
    not on the page, which says how to see it. What was typed has no power."""
    asked = Approval(campaign_key="backend-2026", digest="3f9a1c2e" + "0" * 56, told="add: nobody")
    asked.answer, asked.who, asked.why = Answer.REJECTED, "[Ann]", "ada@example.com withdrew"
    asked.answered_at = NOON
    told = plan(asked)
    assert r"plan 3f9a1c2e rejected by \[Ann\]" in told and "ada" not in told
    assert "To see why: `campaign history backend-2026`" in told
    assert "waits for approval" not in told
    assert "all the same: `campaign approve backend-2026 --plan 3f9a1c2e-rejected-" in told
    assert "The next run sends it." in plan(asked.model_copy(update={"answer": Answer.APPROVED}))


def test_a_page_says_how_old_it_is() -> None:
    """An answer that was given in a terminal is not on it before the next run."""
    assert "*As of 2026-12-01 21:00 (Asia/Tokyo)." in dated("# a page\n", NOON, "Asia/Tokyo")


def test_a_run_is_named_by_when_it_was_to_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process starts a second early: a campaign of 09:00 read 08:59 every morning."""
    due = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
    run = Mock(return_value=SimpleNamespace(expected_start_time=due))
    monkeypatch.setattr(seen, "this_run", run)
    monkeypatch.setattr(seen, "now", lambda: due - timedelta(seconds=1))
    assert seen.name_of("spring", "Europe/Paris") == "spring 2026-12-01 09:00 (Europe/Paris)"
    run.return_value = None
    assert seen.name_of("spring", "Europe/Paris") == "spring 2026-12-01 08:59 (Europe/Paris)"


@pytest.mark.parametrize(
    ("parameters", "name"),
    [({}, "spring"), ({"campaign": "spring-2026"}, "spring-2026")],
)
def test_a_run_of_a_deployment_has_the_zone_of_its_campaign(
    monkeypatch: pytest.MonkeyPatch, parameters: dict[str, str], name: str
) -> None:
    """Its tag says which campaign that is; the file may be called otherwise."""
    run = SimpleNamespace(
        parameters={"file": "/hiring/spring.yaml", **parameters},
        tags=["service.example.com", "campaign:spring-2026"],
    )
    monkeypatch.setattr("flows.campaign.flow_run", run)
    monkeypatch.setattr("flows.campaign.named_by_its_clock", lambda *given: given)
    assert _name() == (name, "spring-2026")
    run.tags = []
    assert _name() == (name, name)


def test_a_mistake_that_quotes_an_address_is_only_placed(tmp_path: Path) -> None:
    """Also in a field of the definition itself, such as that of the pilot."""
    file = tmp_path / "hiring.yaml"
    file.write_text("campaign: spring\n")
    message = "ada@example.com is not among the candidates"
    shown = where_wrong([Mistake(Place(str(file), 1), "invites.pilot", message=message)], file)
    assert shown.startswith("hiring.yaml:1, invites.pilot")
    assert "@" not in shown
    other = Mistake(Place(str(file), 1), "invites.waves", message="wanted numbers")
    assert "wanted numbers" in where_wrong([other], file)
    file.write_text("campaign: spring\nAda Lovelace: {}\n")
    with pytest.raises(BadInput) as wrong:
        read_campaigns(file)
    assert "hiring.yaml:2" in where_wrong(wrong.value.problems, file)
    assert "Ada" not in where_wrong(wrong.value.problems, file)
    file.unlink()
    assert f"campaign run {file}" in where_wrong([Mistake(Place(str(file)))], file)


@pytest.mark.parametrize("name", ["hiring.yaml", "people.csv", "people.xlsx", "", "."])
@pytest.mark.parametrize("field", [None, "sheet", "sheets"])
def test_what_is_wrong_with_a_file_as_a_whole_is_said(
    tmp_path: Path, name: str, field: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is of no row, so of nobody; what quotes an address, or is of a place in it, is not."""
    monkeypatch.chdir(tmp_path)
    file = Path(name)
    file.exists() or file.write_text("")
    wrong = where_wrong([Mistake(Place(str(file)), field, "it", "something else")], file)
    assert wrong.startswith(f"{file}, {field}: found it" if field else f"{file}: found it")
    for row in (Place(str(file), 2), Place(str(file), sheet="Ada")):
        assert "it" not in where_wrong([Mistake(row, field, "it")], file).partition("What")[0]
    assert "@" not in where_wrong([Mistake(Place(str(file)), field, "ada@example.com")], file)


def test_what_is_left_out_is_told_by_its_places(tmp_path: Path) -> None:
    """What serves campaigns writes it into a log; each file once, with what to type."""
    table = tmp_path / "people.csv"
    table.write_text("")
    wrong = [Mistake(Place(str(table), line), "email1", found="ada@example.com") for line in (2, 3)]
    file = tmp_path / "spring.yaml"
    [line] = left_out_files([Entry(file, None, tuple(wrong))])
    assert "people.csv:2, email1; people.csv:3, email1." in line and "@" not in line
    assert line.endswith(f": campaign check {file}")


def test_a_run_that_asks_often_asks_prefect_once_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is cancelled: each question costs Prefect's server as much as fifteen people."""
    monkeypatch.setenv("PREFECT__FLOW_RUN_ID", str(uuid4()))
    at, asked = iter([0.0, 0.5, 1.0, 1.9]), []

    class Client(Mock):
        async def read_flow_runs(self, **asks: Any) -> Any:
            asked.append(asks)
            return [SimpleNamespace(state=Cancelling())]

    async def looks() -> list[str | None]:
        pages = seen.Seen(Client(), Mock(), Mock(), "")
        answers = []
        for now in at:
            monkeypatch.setattr(seen, "monotonic", lambda now=now: now)
            answers.append(await pages.stopped_lately())
        return [*answers, await pages.stopped()]

    cancelled = seen.CANCELLED
    assert asyncio.run(looks()) == [cancelled, None, cancelled, None, cancelled]
    assert len(asked) == 3


def test_a_prefect_that_is_away_holds_one_sender_and_is_said_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The others go on meanwhile. A run that Prefect does not list was deleted by somebody."""
    monkeypatch.setenv("PREFECT__FLOW_RUN_ID", str(uuid4()))
    away, said = asyncio.Event(), Mock()

    class Client:
        async def read_flow_runs(self, **_: Any) -> Any:
            await away.wait()
            if errors:
                raise errors.pop()
            return []

    async def looks() -> list[str | None]:
        pages = seen.Seen(Client(), Mock(), Mock(), "")
        first = asyncio.create_task(pages.stopped_lately())
        await asyncio.sleep(0)
        meanwhile = await pages.stopped_lately()
        assert not first.done()
        away.set()
        return [meanwhile, await first, await pages.stopped(), await pages.stopped()]

    errors = [OSError("still away"), OSError("away")]
    monkeypatch.setattr(seen, "_unseen", said)
    assert asyncio.run(looks()) == [None, None, None, seen.DELETED]
    assert said.call_count == 1


def test_how_far_a_run_is_never_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The look at its end waits for one that is under way, whose answer may come later."""
    monkeypatch.setenv("PREFECT__FLOW_RUN_ID", str(uuid4()))
    far = iter([("half of it", 50.0), ("all of it", 100.0)])
    slow, shown = iter([100, 0]), []

    class Artifact:
        def __init__(self, *, progress: float, **_: Any) -> None:
            self._progress = progress

        async def acreate(self, _: Any) -> Any:
            for _ in range(next(slow)):
                await asyncio.sleep(0)
            shown.append(self._progress)
            return SimpleNamespace(id=uuid4())

    class Client(Mock):
        async def update_artifact(self, _: Any, artifact: Any) -> None:
            shown.append(artifact.data)

    async def at_once(work: Any, *what: Any) -> Any:
        return work(*what)

    async def looks() -> None:
        pages = seen.Seen(Client(), Mock(), Mock(), "")
        monkeypatch.setattr("asyncio.to_thread", at_once)
        monkeypatch.setattr(pages, "_how_far", lambda _: next(far))
        await asyncio.gather(*(pages._advance("spring") for _ in range(2)))

    monkeypatch.setattr(seen, "ProgressArtifact", Artifact)
    asyncio.run(looks())
    assert shown == [50.0, 100.0]


def test_a_page_that_prefect_does_not_take_undoes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A form has decided by then: it may not say that nothing was."""

    def away() -> None:
        raise ConnectionError

    monkeypatch.setattr(seen, "get_client", away)
    monkeypatch.setattr(seen, "get_run_logger", Mock())
    asyncio.run(seen.show(Mock(), Mock(), Finish("backend-2026", Ending.COMPLETED, None, {})))
