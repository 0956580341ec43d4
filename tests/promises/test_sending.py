"""Promises 1 to 12: whatever happens, everybody once, and every doubt in front of a person."""

import signal
from collections import Counter
from dataclasses import replace

import pytest

from sandbox import faults
from sandbox.faults import ALWAYS, late, lost, status, throttled
from tests.promises.support.clock import Clock
from tests.promises.support.commands import WHO, addresses, wait_for

ONE_BY_ONE = {"CAMPAIGN_INVITES_IN_FLIGHT": "1"}
EACH_ALONE = {"CAMPAIGN_CANDIDATES_PER_REQUEST": "1"}
IN_FLIGHT, TOGETHER = 8, 100  # what is sent at the same time, and added in one request
HELD_OPEN = 300.0  # seconds until an answer that no test waits for


def only(email, fault):
    """The same fault, for one person alone, every time."""
    return replace(fault, email=email, at=1, times=ALWAYS)


def test_1_one_invitation_each_and_one_more_for_each_decision_with_name_and_reason(
    sandbox, campaign
):
    service = sandbox()
    file = campaign.write(people=3)
    assert campaign("run", file, "--yes").code == 0
    assert campaign("invite", "hiring", "person1@example.org").code == 2  # without a reason
    assert campaign("run", file, "--yes").code == 0
    assert sorted(service.invited()) == addresses(3)

    decided = campaign("invite", "hiring", "person1@example.org", "--why", "It went to spam")
    assert decided.code == 0
    campaign.follow(decided, "run")
    assert campaign("run", file, "--yes").code == 0
    assert Counter(service.invited()) == Counter([*addresses(3), "person1@example.org"])
    told = campaign("history", "hiring", "person1@example.org").out
    assert WHO in told
    assert "It went to spam" in told


@pytest.mark.parametrize(
    ("operation", "unsure"),
    [
        ("create", lambda told: told["project"]),
        ("attach", lambda told: told["problem"]),
        ("add", lambda told: told["candidates"][0]["add"]),
        ("invite", lambda told: told["candidates"][0]["invite"]),
    ],
)
def test_2_whatever_reached_the_service_was_in_the_ledger_before(
    operation, unsure, sandbox, campaign
):
    service = sandbox(**{operation: late(HELD_OPEN)})
    file = campaign.write(people=1)
    campaign.start("run", file, "--yes").until(lambda: service.arrived(operation, 1)).kill()

    assert campaign("run", file, "--yes").code == 3
    assert len(service.entries(operation)) == 1
    assert unsure(campaign.status()) == "unsure"
    assert "unsure" in campaign("history", "hiring").out


def test_3_a_finished_campaign_sends_nothing_and_five_new_rows_cost_one_add_and_five_invitations(
    sandbox, campaign
):
    service = sandbox()
    file = campaign.write(people=4)
    assert campaign("run", file, "--yes").code == 0
    before = service.entries()
    assert campaign("run", file, "--yes").code == 0
    assert service.entries() == before  # not even a token

    campaign.write(people=9)
    assert campaign("run", file, "--yes").code == 0
    assert [each["op"] for each in service.changes()[7:]] == ["add", *["invite"] * 5]
    assert sorted(service.invited()) == sorted(service.added()) == addresses(9)


@pytest.mark.parametrize(
    ("operation", "at", "arrived", "people", "at_most"),
    [
        pytest.param("invite", 10, 9 + IN_FLIGHT, 30, IN_FLIGHT, id="8 invitations"),
        pytest.param("add", 2, 2, 250, TOGETHER, id="one add of 100", marks=pytest.mark.slow),
    ],
)
def test_4_kill_9_leaves_unsure_at_most_what_was_in_flight_and_the_same_command_does_the_rest(
    operation, at, arrived, people, at_most, sandbox, campaign
):
    service = sandbox(**{operation: late(HELD_OPEN, at=at, times=ALWAYS)})
    file = campaign.write(people=people)
    run = campaign.start("run", file, "--yes")
    run.until(lambda: service.arrived(operation, arrived)).kill()
    service.faults[operation] = None

    assert campaign.status()["counts"]["sending"] == 0  # at once
    assert campaign("run", file, "--yes").code == 3
    told = campaign.status()
    unsure = {one["email1"] for one in told["candidates"] if one[operation] == "unsure"}
    assert 1 <= len(unsure) == told["counts"]["unsure"] <= at_most
    assert set(addresses(people)) - set(service.invited()) <= unsure
    assert not service.twice()
    assert sorted(service.added()) == sorted(addresses(people))  # nobody is added twice either


@pytest.mark.parametrize(
    "decision",
    [
        ("withdraw", "hiring", "WHO", "--why", "She has a job"),
        ("correct", "hiring", "WHO", "new@example.org"),
        ("forget", "WHO", "--yes"),
        ("settle", "hiring", "--sent", "WHO"),
        ("settle", "hiring", "--again", "WHO", "--why", "She got nothing"),
    ],
    ids=lambda decision: decision[0] + decision[2].replace("--", "-"),
)
def test_51_after_a_kill_a_person_decides_at_once_about_who_was_in_flight(
    decision, sandbox, campaign
):
    service = sandbox(invite=late(HELD_OPEN, at=2))
    file = campaign.write(people=3)
    run = campaign.start("run", file, "--yes", **ONE_BY_ONE)
    run.until(lambda: service.arrived("invite", 2)).kill()
    in_flight = service.invited()[1]
    before = service.entries()
    told = campaign(*(in_flight if word == "WHO" else word for word in decision))
    assert told.code == 0, told
    assert service.entries() == before
    left = {each["email1"]: each["invite"] for each in campaign.status()["candidates"]}
    stands = {"withdraw": "withdrawn", "correct": "withdrawn", "--sent": "done"}
    found = stands.get(decision[0], stands.get(decision[2], "waiting"))
    assert left.get(in_flight, "forgotten") == ("forgotten" if "forget" in decision else found)


@pytest.mark.parametrize(
    ("stop", "said"),
    [
        (lambda running: running.type("\x03"), True),
        (lambda running: running.send(signal.SIGTERM), True),
        (lambda running: running.hang_up(), False),
    ],
    ids=["Ctrl-C", "SIGTERM", "a closed terminal"],
)
def test_5_a_stop_lets_what_is_in_flight_get_its_answer_and_says_how_to_go_on(
    stop, said, sandbox, campaign
):
    service = sandbox(invite=late(0.5, times=ALWAYS))
    file = campaign.write(people=700)  # most of a minute, if nothing stops it
    run = campaign.start("run", file, "--yes", terminal=True)
    run.until(lambda: service.arrived("invite", 12))
    stop(run)
    stopped = run.end()
    if said:  # nobody reads a closed terminal
        assert stopped.code == 130
        assert file.name in stopped.printed("run")
    service.faults["invite"] = None
    told = campaign.status()["counts"]
    assert (told["unsure"], told["sending"]) == (0, 0)
    assert told["invited"] == len(service.invited()) < 700
    assert campaign("run", file, "--yes").code == 0
    assert sorted(service.invited()) == sorted(addresses(700))


def test_6_what_is_unsure_is_listed_with_its_evidence_and_waits_for_a_decision(sandbox, campaign):
    doubts = [
        only("person1@example.org", lost()),
        only("person3@example.org", status(503, body={"error": "the mail queue is full"})),
    ]
    service = sandbox(invite=doubts)
    file = campaign.write(people=6)
    first = campaign("run", file, "--yes", **ONE_BY_ONE)
    assert first.code == 3
    before = len(service.changes())
    assert campaign("run", file, "--yes").code == 3
    assert len(service.changes()) == before

    listed = campaign.follow(first, "settle")
    assert listed.code == 3
    for evidence in ("person1@example.org", "person3@example.org", "503", "the mail queue is full"):
        assert evidence in listed.said
    assert "no answer" in listed.said

    service.faults["invite"] = None
    assert campaign("settle", "hiring", "--sent", "person1@example.org").code == 3
    again = ("settle", "hiring", "--again", "person3@example.org", "--why", "She got nothing")
    assert campaign(*again).code == 0
    assert campaign("run", file, "--yes").code == 0
    assert sorted(service.invited()) == addresses(6)
    assert len(service.changes()) == before + 1


def test_7_done_is_done_refused_is_not_and_waiting_is_untouched(sandbox, campaign):
    people = addresses(12)
    service = sandbox(
        add=[only(people[2], status(422)), only(people[9], lost())],
        invite=[
            only(people[1], status(422)),
            only(people[3], status(503, after=True)),
            only(people[5], faults.dropped()),
            *(only(each, lost()) for each in people[6:9]),  # three in a row end the run
        ],
    )
    file = campaign.write(people=people)
    assert campaign("run", file, "--yes", **ONE_BY_ONE, **EACH_ALONE).code in (1, 3)

    happened = {"add": service.added(), "invite": service.invited()}
    seen = set()
    for step, effects in happened.items():
        for email, state in campaign.states(step=step).items():
            seen.add(state)
            if state != "unsure":
                assert effects.count(email) == (state == "done"), f"{step} {email}: {state}"
    assert seen == {"done", "waiting", "refused", "unsure"}


INVITES = {
    "plain": (status(200, after=True, body=b"OK"), "done"),
    "empty": (status(204, after=True), "done"),
    "half": (faults.half(), "unsure"),  # what did not arrive may have said no
    "error503": (status(503), "unsure"),
    "error422": (status(422), "refused"),
    "error408": (status(408), "unsure"),
    "error409": (status(409), "unsure"),
    "lost": (lost(), "unsure"),
    "negative": (faults.says_no(), "unsure"),
    "rejecting": (status(200, body={"result": "rejected"}), "unsure"),
    "redirect": (faults.redirect(), "unsure"),
}
ADDS = {
    "error503": (status(503), "unsure"),
    "error422": (status(422), "refused"),
    "lost": (lost(), "unsure"),
    "half": (faults.half(), "unsure"),
    "garbage": (faults.garbage(), "unsure"),
    "negative": (faults.says_no(), "unsure"),
    "missing": (faults.missing(), "unsure"),
    "nobody": (faults.left_out(), "unsure"),
    "doubled": (faults.doubled(), "unsure"),
    "earlier": (faults.earlier(), "unsure"),  # another person's id
    "page": (faults.html(), "unsure"),
}


@pytest.mark.parametrize(("step", "answers"), [("invite", INVITES), ("add", ADDS)])
def test_8_an_answer_is_judged_by_what_it_proves(step, answers, sandbox, campaign):
    wanted = {f"{name}@example.org": state for name, (_, state) in answers.items()}
    fine = [f"fine{number}@example.org" for number in range(len(answers))]
    service = sandbox(**{step: [only(f"{n}@example.org", f) for n, (f, _) in answers.items()]})
    people = [email for pair in zip(wanted, fine, strict=True) for email in pair]
    file = campaign.write(people=people)
    while "waiting" in campaign.states(step=step).values() if service.entries() else True:
        assert campaign("run", file, "--yes", **ONE_BY_ONE, **EACH_ALONE).code in (1, 3)
    assert campaign.states(step=step) == wanted | dict.fromkeys(fine, "done")
    assert not service.twice()
    asked = Counter(
        each["candidate_id"] or each["body"][0]["email1"] for each in service.entries(step)
    )
    assert set(asked.values()) == {1}


def test_8_a_refusal_is_believed_twice_over_all_runs_and_then_unsure(sandbox, campaign):
    service = sandbox(invite=faults.refuse_all(403))
    file = campaign.write(people=1)
    for _ in range(2):
        assert campaign("run", file, "--yes").code == 1
        assert campaign.states() == {"person0@example.org": "waiting"}
    for _ in range(2):
        assert campaign("run", file, "--yes").code in (1, 3)
        assert campaign.states() == {"person0@example.org": "unsure"}
    assert len(service.entries("invite")) == 3


def test_9_one_bad_row_costs_that_row_alone(sandbox, campaign):
    service = sandbox(add=faults.bad_row("person13@example.org"))
    file = campaign.write(people=40)
    assert campaign("run", file, "--yes").code == 3
    states = campaign.states(step="add")
    assert [each for each in states if states[each] == "refused"] == ["person13@example.org"]
    told = campaign("history", "hiring", "person13@example.org").out
    assert "a candidate is not valid" in told
    others = [each for each in addresses(40) if each != "person13@example.org"]
    assert sorted(service.invited()) == sorted(others)


@pytest.mark.parametrize("operation", ["add", "invite"])
def test_9_a_refusal_of_everybody_costs_few_requests_and_nobody(operation, sandbox, campaign):
    service = sandbox(**{operation: faults.refuse_all(422, "stage_id 1 does not exist")})
    file = campaign.write(people=40)
    stopped = campaign("run", file, "--yes", **ONE_BY_ONE)
    assert stopped.code in (1, 3)
    assert "stage_id 1 does not exist" in stopped.said
    assert len(service.entries(operation)) <= 25
    assert set(campaign.states(step=operation).values()) == {"waiting"}

    service.faults[operation] = None
    assert campaign("run", file, "--yes").code == 0
    assert sorted(service.invited()) == sorted(addresses(40))


def test_10_after_an_unsure_request_nothing_leaves_until_the_problem_list_answers(
    sandbox, campaign
):
    service = sandbox(invite=[lost(2), status(500, at=4)])
    file = campaign.write(people=6)
    assert campaign("run", file, "--yes", **ONE_BY_ONE).code == 3
    sent = " ".join(each["op"] for each in service.entries("problems", "invite"))
    assert sent.endswith("invite invite problems invite invite problems invite invite")


def test_10_after_a_429_nothing_leaves_before_its_time_in_any_run(sandbox, campaign):
    service = sandbox(invite=throttled(4, at=3))
    one, other = campaign.write("one", people=9), campaign.write("other", people=["ed@x.org"])
    run = campaign.start("run", one, "--yes", **ONE_BY_ONE)
    run.until(lambda: service.arrived("invite", 3))
    assert campaign("run", other, "--yes").code == 0
    assert run.end().code == 0
    throttling = service.entries("invite")[2]
    next_one = next(each for each in service.entries() if each["n"] > throttling["n"])
    assert at(next_one) - at(throttling) >= 4
    assert sorted(service.invited()) == sorted([*addresses(9), "ed@x.org"])


def test_11_ids_are_matched_by_address_whatever_the_answer_looks_like(sandbox, campaign):
    dialects = (
        faults.shuffled,
        faults.lowered,
        faults.as_text,
        faults.extra,
        faults.above_2_53,
    )
    service = sandbox(add=[make(at=number, times=1) for number, make in enumerate(dialects, 1)])
    file = campaign.write(people=[f"Person{number}@Example.org" for number in range(15)])
    assert campaign("run", file, "--yes", CAMPAIGN_CANDIDATES_PER_REQUEST="3").code == 0
    ids = {email: n for each in service.entries("add") for email, n in each["ids"].items()}
    assert max(ids.values()) > 2**53
    told = campaign.status()["candidates"]
    assert {one["email1"]: one["candidate_id"] for one in told} == ids
    assert sorted(service.invited()) == sorted(ids)


def test_11_an_answer_that_names_strangers_stops_the_run(sandbox, campaign):
    service = sandbox(add=faults.strangers())
    file = campaign.write(people=6)
    assert campaign("run", file, "--yes", CAMPAIGN_CANDIDATES_PER_REQUEST="3").code in (1, 3)
    assert len(service.entries("add")) == 1
    assert "stranger@sandbox.invalid" not in service.invited()


def test_12_any_number_of_runs_at_once_invite_everybody_once(sandbox, campaign):
    service = sandbox(invite=late(0.2, times=ALWAYS))
    file = campaign.write(people=40)
    runs = [campaign.start("run", file, "--yes") for _ in range(3)]
    ends = [run.end() for run in runs]
    assert {end.code for end in ends} <= {0, 1}
    assert sorted(service.invited()) == sorted(service.added()) == sorted(addresses(40))
    assert len(service.entries("create")) == 1


def test_13_a_run_frozen_in_the_middle_and_woken_later_invites_nobody_twice(sandbox, campaign):
    service = sandbox(invite=late(0.1, times=ALWAYS))
    file = campaign.write(people=40)
    frozen = campaign.start("run", file, "--yes")
    frozen.until(lambda: service.arrived("invite", 10)).send(signal.SIGSTOP)
    other = campaign.start("run", file, "--yes")
    wait_for(lambda: other.ended or "hiring" in other.shown())  # it says who is at work
    frozen.send(signal.SIGCONT)
    assert {frozen.end().code, other.end().code} <= {0, 1, 3}
    assert not service.twice()
    unsure = [email for email, state in campaign.states().items() if state == "unsure"]
    assert set(addresses(40)) - set(service.invited()) <= set(unsure)
    assert len(unsure) <= IN_FLIGHT


def test_13_a_clock_that_jumps_invites_nobody_twice(sandbox, campaign, tmp_path):
    service = sandbox(invite=[late(0.1, times=19), late(HELD_OPEN, at=20)])
    clock = Clock(tmp_path, campaign)
    file = campaign.write(people=40)
    run = campaign.start("run", file, "--yes", **ONE_BY_ONE)
    for arrived, days in ((5, -400), (10, 800), (15, -1)):
        run.until(lambda n=arrived: service.arrived("invite", n))
        clock.jump(days)
    run.until(lambda: service.arrived("invite", 20)).kill()
    clock.jump(-30)
    assert campaign("run", file, "--yes").code == 3
    years = {line.strip()[:4] for line in campaign("history", "hiring").out.splitlines()}
    assert len({year for year in years if year.isdigit()}) >= 3  # so the clock did jump
    unsure = [email for email, state in campaign.states().items() if state == "unsure"]
    assert len(unsure) == 1
    assert not service.twice()
    assert set(addresses(40)) - set(service.invited()) <= set(unsure)


def at(entry):
    """When a request arrived, in seconds."""
    from datetime import datetime

    return datetime.fromisoformat(entry["at"]).timestamp()
