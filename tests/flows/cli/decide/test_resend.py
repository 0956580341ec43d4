"""Resending: one more invitation to named people, on purpose and never by accident."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from data.campaigns import queries
from data.decisions import resending
from data.decisions.resending import no_resend
from data.decisions.verdicts import PATIENCE, Doubt, NotDecided
from data.sending import runs
from data.sending.outcomes import Outcome
from data.store.clock import now
from data.store.states import AttemptState, By, Operation, Step
from data.store.tables import Candidate
from sandbox.faults.faults import Fault
from tests.support.doubtful_campaign import EMAILS, KEY, DoubtfulCampaign
from tests.support.doubtful_campaign import doubtful as desk

__all__ = ["desk"]

ADA, ZOE, GRACE = EMAILS
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
OPEN = (Step.WAITING, Step.SENDING, Step.UNSURE)
CLOSED = (Step.DONE, Step.REFUSED, Step.WITHDRAWN)

# Where a ledger lies is all the same to what is only typed, shown or asked.
on_each_database = pytest.mark.usefixtures("each_database")


def person(add: Step, invite: Step, listed: bool = True) -> Candidate:
    return Candidate(add_state=add, invite_state=invite, listed=listed)


@pytest.mark.parametrize("add", list(Step))
@pytest.mark.parametrize("invite", list(Step))
@pytest.mark.parametrize("listed", [True, False])
def test_only_a_settled_invitation_is_sent_once_more(add: Step, invite: Step, listed: bool) -> None:
    """Listed, in the project (or withdrawn before), and the invitation done, refused, withdrawn."""
    may = listed and add in (Step.DONE, Step.WITHDRAWN) and invite in CLOSED
    assert (no_resend(person(add, invite, listed), None, NOON) is None) is may


@pytest.mark.parametrize(
    ("ago", "alive", "may"),
    [
        (PATIENCE, False, True),
        (PATIENCE - timedelta(seconds=1), False, False),
        (timedelta(days=1), True, False),
    ],
)
def test_withdrawing_and_resending_is_no_way_round_the_wait(
    ago: timedelta, alive: bool, may: bool
) -> None:
    """What a person settled is still waited for, like the verdict again."""
    doubt = Doubt(Operation.INVITE, 3, NOON - ago, alive, row=7)
    assert (no_resend(person(Step.DONE, Step.WITHDRAWN), doubt, NOON) is None) is may


def test_a_pause_is_lifted_before_anybody_is_invited_once_more(desk: DoubtfulCampaign) -> None:
    """A run that was named here would only stop."""
    desk.run()
    desk.type("pause", KEY, "--why", "wait")
    answer = desk.type("resend", KEY, ZOE, "--why", "went to spam", "--yes")
    resume = f"campaign resume {KEY}, then campaign run {desk.file}"
    assert answer.out.splitlines()[-1] == f"  paused: {resume}"


@on_each_database
def test_the_next_run_sends_exactly_one_more_email(desk: DoubtfulCampaign) -> None:
    """A new generation, recorded; the run after that sends nothing."""
    desk.run()
    answer = desk.type("resend", KEY, " ZOE@example.com", ZOE, "--why", "went to spam", "--yes")
    assert answer.code == 0
    assert answer.out.splitlines()[-1] == f"  waiting: campaign run {desk.file}"
    assert desk.decisions() == [("resend", None, "rita", "went to spam")]
    assert desk.emails() == dict.fromkeys(EMAILS, 1)  # nothing is sent by the command itself
    before = desk.requests()
    desk.run()
    assert desk.requests() == [*before, "invite"]
    assert desk.emails() == {ADA: 1, ZOE: 2, GRACE: 1}
    done = desk.service.api_requests()
    desk.run()
    assert desk.service.api_requests() == done


def test_a_refused_invitation_is_tried_once_more(desk: DoubtfulCampaign) -> None:
    """Refused people keep their place in the rule: one more generation, one more request."""
    desk.run(Fault("status", "invite", email=ZOE, status=422))
    assert desk.steps(ZOE) == ("done", "refused")
    assert desk.type("resend", KEY, ZOE, "--why", "mended there", "--yes").code == 0
    desk.run()
    assert desk.emails() == dict.fromkeys(EMAILS, 1)
    with desk.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        generations = {
            one.email1: one.generation for one in queries.candidates(ledger, campaign.id)
        }
    assert generations == {ADA: 1, ZOE: 2, GRACE: 1}


@on_each_database
def test_a_refused_add_is_tried_again_by_a_persons_word(desk: DoubtfulCampaign) -> None:
    """What was wrong may have been mended at the service: a resend says what to type, and it works.

    The run before names the same command.
    """
    no = [Fault("status", "add_candidates", status=422, email=e, count=None) for e in (ZOE, ADA)]
    desk.run(*no)
    refused = [email for email in EMAILS if desk.steps(email)[0] == "refused"]
    assert refused == [ADA, ZOE]
    told = rf"campaign settle {KEY} --candidates again --listed \w+ --why TEXT"
    assert re.search(told, desk.type("status", KEY).out)
    answer = desk.type("resend", KEY, refused[0], "--why", "mended there", "--yes")
    assert answer.code == 2
    assert f"campaign status {KEY} " in answer.err
    answer = desk.settle("--candidates", "again", "--why", "the stage exists now")
    assert answer.code == 0, answer.err
    assert f"{len(refused)} verdict" in answer.out
    assert {(word, why) for word, _, _, why in desk.decisions()} == {
        ("again", "the stage exists now")
    }
    desk.run()
    assert desk.emails() == dict.fromkeys(EMAILS, 1)
    answer = desk.settle("--candidates", "again", "--why", "once more")
    assert (answer.code, "no add is unsure" in answer.err) == (2, True)


@on_each_database
def test_who_was_withdrawn_comes_back(desk: DoubtfulCampaign) -> None:
    """Withdrawn before being added: added and invited, once each, after all."""
    desk.run(Fault("lost", "add_candidates"))
    assert desk.settle("--candidates", "withdraw", "--why", "on hold").code == 0
    again = ("resend", KEY, ADA, "--why", "back on", "--yes")
    refused = desk.type(*again)
    assert refused.code == 2
    assert "wait until" in refused.err
    desk.later(16)
    assert desk.type(*again).code == 0
    desk.run()
    assert [row["email1"] for row in desk.service.record.of("add_candidates")[1].body] == [ADA]
    assert desk.emails() == {ADA: 1}


@on_each_database
def test_a_late_answer_to_the_first_invitation_does_not_settle_the_second(
    desk: DoubtfulCampaign,
) -> None:
    """A resend is a new invitation: what the earlier request came to is kept as evidence only."""
    desk.run(Fault("lost", "invite", email=ZOE, after_work=True))
    desk.later(16)
    assert desk.settle("--invites", "withdraw", "--why", "unclear").code == 0
    with desk.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        [person] = [one for one in queries.candidates(ledger, campaign.id) if one.email1 == ZOE]
        assert desk.type("resend", KEY, ZOE, "--why", "asked for it", "--yes").code == 0
        late = Outcome(
            person.invite_attempt,
            Operation.INVITE,
            AttemptState.DONE,
            Step.DONE,
            now(),
            (person.id,),
        )
        ledger.write_beside(runs.commit, [late], [], ledger.gone)
    assert desk.steps(ZOE) == ("done", "waiting")
    desk.run()
    assert desk.emails() == {ADA: 1, ZOE: 2, GRACE: 1}


@on_each_database
def test_the_ledger_itself_refuses_what_is_not_settled(desk: DoubtfulCampaign) -> None:
    """Whatever a person saw before: when it is decided, each invitation must be settled."""
    desk.run(Fault("lost", "invite", email=ZOE, after_work=True))
    with desk.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        rows = [one.id for one in queries.candidates(ledger, campaign.id)]
        with pytest.raises(NotDecided) as refused:
            ledger.write(resending.resend, campaign.id, rows, By("rita", "x"))
    assert list(refused.value.objections) == [1]
    assert [desk.steps(one)[1] for one in EMAILS] == ["done", "unsure", "done"]
    assert desk.decisions() == []


@pytest.mark.parametrize(
    "words", [(ADA, "--why", "x"), (ADA, "--yes"), (ADA, "--why", " ", "--yes"), ("--why", "x")]
)
def test_nothing_is_resent_by_accident(desk: DoubtfulCampaign, words: tuple[str, ...]) -> None:
    """Without a terminal --yes is needed, and always who and why."""
    desk.run()
    assert desk.type("resend", KEY, *words).code == 2
    assert desk.steps(ADA) == ("done", "done")


@pytest.mark.parametrize(("typed", "code"), [("y", 0), ("yes", 0), ("", 1), ("n", 1), ("x", 1)])
def test_a_terminal_is_asked_first(desk: DoubtfulCampaign, typed: str, code: int) -> None:
    """Anything but yes changes nothing."""
    desk.run()
    desk.at_terminal(typed)
    answer = desk.type("resend", KEY, ADA, ZOE, "--why", "x")
    assert answer.code == code
    assert f"One more invitation to {ADA}, {ZOE}? [y/N]" in answer.out
    assert desk.steps(ADA) == ("done", "done" if code else "waiting")


@pytest.mark.parametrize("state", OPEN)
def test_where_somebody_stands_is_said(state: Step) -> None:
    """Each refusal is a sentence that tells what to do."""
    said = no_resend(person(Step.DONE, state), None, NOON)
    assert said is not None and (":" in said or "right now" in said)
