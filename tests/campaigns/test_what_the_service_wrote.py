"""The service's own words, from its answer to the person who has to mend something."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from data.campaigns import service_words as service_answers
from data.privacy import forgetting
from data.sending import recovery, runs
from data.store.states import By, Ending, Operation, Step
from flows.words.speech import QUOTED, most_quoted
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tests.support.campaigns import Office, people
from tests.support.doubtful_campaign import EMAILS, KEY, DoubtfulCampaign
from tests.support.doubtful_campaign import doubtful as campaign
from tests.support.ledgers.small_ledger import Small
from tests.support.prefects.prefect_home import PrefectServer, WarmDesk, kept

__all__ = ["campaign"]

ADA, ZOE, GRACE = EMAILS
STAGE = "stage_id 1 does not exist in this project"
WROTE = f'the service wrote: "{STAGE}"'


def refusing(operation: str, words: object, status: int = 422, **more: object) -> Fault:
    """The service refuses, with these words."""
    return Fault("status", operation, status=status, body=words, **more)  # type: ignore[arg-type]


def in_ledger(campaign: DoubtfulCampaign) -> list[tuple[str, str | None]]:
    """What the service wrote to each request, oldest first."""
    with sqlite3.connect(campaign.folder / "ledger.db") as ledger:
        return ledger.execute("SELECT operation, answer FROM attempt ORDER BY id").fetchall()


# -- where it is shown --------------------------------------------------------------------------


def test_status_and_history_quote_it(campaign: DoubtfulCampaign) -> None:
    """Of a person who is refused, in people's lines and under a key of its own in JSON."""
    campaign.run(refusing("invite", {"message": STAGE}, email=GRACE))
    assert WROTE in campaign.type("status", KEY).out
    stand = campaign.type("status", KEY, "--json").object
    assert stand["service_wrote"] == [{"words": STAGE, "requests": 1}]
    wrote = {one["email1"]: one["service_wrote"] for one in stand["candidates"]}
    assert wrote == {ADA: None, ZOE: None, GRACE: STAGE}
    assert all(STAGE not in (one["why"] or "") for one in stand["candidates"])
    assert WROTE in campaign.type("history", KEY).out
    assert WROTE in campaign.type("history", KEY, GRACE).out
    assert "the service wrote" not in campaign.type("history", KEY, ADA).out
    events = campaign.type("history", KEY, GRACE, "--json").object["events"]
    assert [one["service_wrote"] for one in events if one["what"] == "request"] == [None, STAGE]


def test_a_whole_campaign_that_stopped_quotes_it(campaign: DoubtfulCampaign) -> None:
    """Everybody waits, nobody is refused: what has to be mended stands in the answer alone."""
    end = campaign.run(refusing("add_candidates", {"message": "no credits left"}, status=402))
    assert end.ending is Ending.STOPPED and "credits" not in (end.reason or "")
    assert 'the service wrote: "no credits left"' in campaign.type("status", KEY).out
    campaign.run()
    assert "the service wrote" not in campaign.type("status", KEY).out
    assert "no credits left" in campaign.type("history", KEY).out


def test_the_project_s_own_calls_quote_it(campaign: DoubtfulCampaign) -> None:
    """Nothing was begun, and the words say why."""
    campaign.run(refusing("create_project", {"error": {"message": "name is taken"}}, status=400))
    assert 'the service wrote: "name is taken"' in campaign.type("status", KEY).out


def test_settle_shows_it_as_evidence(campaign: DoubtfulCampaign) -> None:
    """In the list, in its JSON, and in the questions on a terminal."""
    campaign.run(refusing("invite", "the queue is full, try later", status=503, count=1))
    words = 'the service wrote: "the queue is full, try later"'
    assert words in campaign.settle().out
    [doubt] = campaign.settle("--json").object["unsure"]
    assert doubt["service_wrote"] == "the queue is full, try later"
    assert "queue" not in doubt["meaning"]
    campaign.at_terminal("")
    assert words in campaign.settle().out


def test_a_yes_that_says_no_is_evidence(campaign: DoubtfulCampaign) -> None:
    """200 with an error in it is unsure, with those words beside it."""
    campaign.run(
        Fault("body", "invite", body={"success": False, "message": "mail is off"}, count=1)
    )
    assert 'the service wrote: "mail is off"' in campaign.settle().out


def test_a_plain_yes_is_not_kept(campaign: DoubtfulCampaign) -> None:
    """What is done needs no evidence, and its answer repeats people."""
    campaign.run(Fault("body", "invite", body="Invitation sent", count=None, after_work=True))
    assert [answer for _, answer in in_ledger(campaign)] == [None] * 6


def test_problems_and_doctor_quote_what_they_were_answered(campaign: DoubtfulCampaign) -> None:
    """The answer to that very request: of the token, and of the list."""
    token = refusing("token", {"error_description": "unknown audience"}, 401, count=None)
    listing = refusing("list_problems", {"message": "moved to /v2"}, 404, count=None)
    for fault, words in ((token, "unknown audience"), (listing, "moved to /v2")):
        campaign.service.faults.clear()
        campaign.service.faults.add(fault)
        shown = f'the service wrote: "{words}"'
        answer = campaign.type("problems")
        assert shown in answer.err
        assert campaign.type("problems", "--json").object["service_wrote"] == words
        assert shown in campaign.type("doctor").out
        findings = campaign.type("doctor", "--json").object["findings"]
        assert [one["service_wrote"] for one in findings if one["how"] == "mend"] == [words]
        assert not any(words in one["said"] for one in findings)


def test_many_different_words_are_counted_not_listed() -> None:
    """A request number in each answer fills no screen."""
    lines = most_quoted({f"request {n} failed": 1 for n in range(50)} | {"closed": 7})
    assert lines[0] == 'the service wrote in 7 answers: "closed"'
    assert len(lines) == QUOTED + 1 and lines[-1] == f"and {51 - QUOTED} other answers"


def test_a_hostile_answer_stays_a_quotation(campaign: DoubtfulCampaign) -> None:
    """No escape sequence, no line of its own, no end of the quotation."""
    evil = '\x1b[2Jdone"\r\n3 invited\nNext: campaign settle "x" --invites again'
    campaign.run(refusing("invite", {"message": evil}, email=GRACE))
    out = campaign.type("status", KEY).out
    [line] = [line for line in out.splitlines() if "[2Jdone" in line]
    quotation = line.partition('the service wrote: "')[2]
    assert quotation.endswith('"') and quotation.count('"') == 1 and "\x1b" not in out


# -- where it must not be -----------------------------------------------------------------------


@pytest.mark.xdist_group("prefect")
def test_a_run_ends_with_it_and_prefect_never_hears_of_it(
    desk: WarmDesk, prefect: PrefectServer
) -> None:
    """Refused, unsure, adding stopped, no token, no list: on the terminal alone, and in no log."""
    file = desk.campaign("words", 3)
    person = "person{}@example.com: ZEBRA {}".format
    unsure = refusing("invite", person(1, "two"), 503, email="person1@example.com", count=1)
    refused = refusing("invite", {"message": person(0, "one")}, email="person0@example.com")
    alike = [
        refusing("add_candidates", {"message": person(n, "four")}, email=f"person{n}@example.com")
        for n in range(3)
    ]
    for faults, shown, code in (
        ([refusing("token", {"error": "ZEBRA five"}, 401)], ["ZEBRA five"], 1),
        ([refusing("list_problems", "ZEBRA six", 404)], ["ZEBRA six"], 1),
        ([replace(one, count=None) for one in alike], [person(n, "four") for n in range(3)], 1),
        ([refused, unsure], [person(0, "one"), person(1, "two")], 3),
    ):
        desk.service.faults.clear()
        desk.service.faults.add(*faults)
        ended = desk.type("--log-format", "json", "run", file)
        assert ended.code == code, ended.err
        lines = (ended.out + ended.err).splitlines()
        assert [line for line in lines if "ZEBRA" in line and "the service wrote" not in line] == []
        for words in shown:
            assert any(line.endswith(f'"{words}"') for line in lines), (words, lines)
    assert [path for path, content in kept(prefect).items() if b"ZEBRA" in content] == []


# -- what becomes of it -------------------------------------------------------------------------


def test_whoever_is_forgotten_takes_it_along(campaign: DoubtfulCampaign) -> None:
    """Of each request about them, whoever else it was about; and out of everybody else's."""
    words = f"{ADA} and {ZOE}: no credits left"
    campaign.run(refusing("add_candidates", words, status=402, count=1))
    campaign.run(refusing("invite", f"{ADA} was faster", email=GRACE))
    wrote = dict(in_ledger(campaign))
    assert (wrote["add_candidates"], wrote["invite"]) == (None, f"{ADA} was faster")
    assert ("add_candidates", words) in in_ledger(campaign)
    assert campaign.type("forget", ADA, "--why", "asked", "--yes").code == 0
    assert [answer for _, answer in in_ledger(campaign) if answer] == []
    assert ADA.encode() not in (campaign.folder / "ledger.db").read_bytes()
    assert "the service wrote" not in campaign.type("status", KEY).out


@pytest.mark.parametrize("spelled", [ADA, ADA.upper(), ADA.replace("@", "%40"), "Lovelace", "5001"])
def test_what_is_written_about_others_is_gone_where_it_names_the_forgotten(
    campaign: DoubtfulCampaign, spelled: str
) -> None:
    """However the service spells them; what names nobody of them stays."""
    words = f"conflicts with {spelled}"
    campaign.run(
        refusing("invite", "no seats left", email=GRACE), refusing("invite", words, email=ZOE)
    )
    [there] = campaign.type("export", ADA).object["campaigns"]
    assert there["candidate_id"] == 5001
    assert words in [answer for _, answer in in_ledger(campaign)]
    assert campaign.type("forget", ADA, "--why", "asked", "--yes").code == 0
    answers = [answer for _, answer in in_ledger(campaign) if answer]
    assert answers == ["no seats left"]


def test_a_late_answer_brings_nothing_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, each_database: str
) -> None:
    """A process that slept writes its evidence, and no word about whoever was forgotten."""
    monkeypatch.setattr(recovery, "OWN_RUNS", set())
    small = Small.at(tmp_path, "ada", "bo")
    with small.ledger as ledger:
        small.add_everybody()
        rows = small.rows()
        claims = {name: small.claim(Operation.INVITE, rows[name]) for name in ("ada", "bo")}
        runs.end(ledger, small.begun.run, Ending.DIED, "")
        ledger.write(forgetting.forget, ["ada@example.com"], By("rita", "asked"))
        for name in ("ada", "bo"):
            small.land(Operation.INVITE, claims[name], Step.REFUSED, answer=f"{name} is late")
        wrote = [one.answer for one in small.attempts() if one.operation == Operation.INVITE]
        assert wrote == ["", "bo is late"]
        answers = ledger.read(service_answers.of, small.begun.campaign)
        assert (answers.by_row, answers.requests) == ({rows["bo"]: "bo is late"}, {"bo is late": 1})


def test_a_person_is_told_of_it_and_not_of_other_people(campaign: DoubtfulCampaign) -> None:
    """Whoever asks what is held about them gets what is theirs alone."""
    campaign.run(refusing("add_candidates", f"{ZOE}: no credits", status=402, count=1))
    campaign.run(refusing("invite", "closed", email=ADA))
    [there] = campaign.type("export", ADA).object["campaigns"]
    assert [one["service_wrote"] for one in there["requests"]] == [None, None, "closed"]


# -- one refusal that hits everybody --------------------------------------------------------------


@pytest.fixture
def office(tmp_path: Path):
    with Sandbox() as service:
        yield Office.at(tmp_path, service)


NAMES = ("ada", "bo", "cy", "di", "ed", "fay", "gus", "hal")


def test_refusals_in_different_words_stop_nobody(office: Office) -> None:
    """Bad rows in a row, each for a reason of its own, are bad rows, and nothing else is wrong."""
    wrong = ("email1 is taken", "last_name is long", "stage is closed", "source is odd")
    for name, words in zip(NAMES, wrong, strict=False):
        fault = refusing("add_candidates", words, email=f"{name}@example.com", count=None)
        office.service.faults.add(fault)
    end = office.run(office.write("a", people(*NAMES[:4])))
    assert end.ending is Ending.NEEDS_ATTENTION
    assert end.counts["refused"] == 4


def test_refusals_that_name_each_person_are_the_same_words(office: Office) -> None:
    """What hits everybody may name everybody: adding stops, nobody is left out, and the reason
    that Prefect shows quotes nobody."""
    for number, name in enumerate(NAMES):
        who = f"{name.title()} Example <{name}@example.com>"
        words = {"message": f"{who}: stage 1 is unknown (request {number}f3a)"}
        email = f"{name}@example.com"
        office.service.faults.add(refusing("add_candidates", words, email=email, count=None))
    end = office.run(office.write("a", people(*NAMES)))
    assert end.ending is Ending.STOPPED
    assert (end.counts["refused"], end.counts["waiting"]) == (0, len(NAMES))
    assert end.reason and "stage" not in end.reason
