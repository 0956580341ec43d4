"""An approval is for exactly what was shown."""

import pytest

from data.campaigns.history import events_of
from data.campaigns.people import own_steps
from data.decisions import approvals, doubts
from data.decisions import decisions as d
from data.eligibility.holds import campaign_holds, code_now, holds
from data.store.states import Op, State
from data.store.tables import Campaign
from tests.data.desk import address

ME = d.By("me", "because")
ASKED = {"invites": {"approval": "required"}}


def shown(desk, *who, **more):
    """Take in and show, as a run does; answers the code."""
    desk.take_in(*who, **(ASKED | more))
    with desk.at() as (session, campaign_id):
        held = holds(session, session.get_one(Campaign, campaign_id))
        code = code_now(session, campaign_id, held)
        approvals.show(session, campaign_id, code, "me")
        return code


def stops(desk):
    """The holds on the plan as it is now."""
    with desk.at() as (session, campaign_id):
        campaign = session.get_one(Campaign, campaign_id)
        code = code_now(session, campaign_id, holds(session, campaign))
        return campaign_holds(session, campaign, code=code)


def stands(desk):
    """Whether the plan as it is now is approved, and whether a claim may go on."""
    found = [str(hold.kind) for hold in stops(desk)]
    return "approval" not in found, "approval" not in desk.kept("Ada", op=Op.ADD).values()


def printed(desk):
    """What the holds say to type, with its option."""
    return [hold.type_this.split()[1:] for hold in stops(desk) if hold.type_this]


def arrived(desk):
    """Ben's invitation, as somebody found out."""
    desk.adds()
    desk.does(Op.INVITE, "Ben", state=State.UNSURE)
    desk.call(doubts.settle_all, [doubts.Settlement("sent", address("Ben"))], ME)


CHANGES = {
    "nothing": lambda desk: None,
    "the same file": lambda desk: desk.take_in("Ada", "Ben", **ASKED),
    "its own requests": lambda desk: desk.sends("Ada"),
    "somebody withdrawn": lambda desk: desk.call(d.withdraw, [address("Ben")], ME),
    "somebody blocked": lambda desk: desk.call(lambda s, _: d.block(s, [address("Ben")], ME)),
    "an invitation settled as sent": arrived,
    "an address corrected": lambda desk: desk.call(d.correct, address("Ben"), "b@y.org", ME),
}


@pytest.mark.parametrize(
    ("change", "whole", "claim"),
    [
        ("nothing", True, True),
        ("the same file", True, True),
        ("its own requests", True, True),
        ("an invitation settled as sent", True, True),
        # Fewer people: the run goes on with the others, the next one asks again.
        ("somebody withdrawn", False, True),
        ("somebody blocked", False, True),
        ("an address corrected", False, False),
    ],
)
def test_what_voids_an_approval(desk, change, whole, claim):
    shown(desk, "Ada", "Ben")
    assert stands(desk) == (False, False)
    desk.call(approvals.approve, ME)
    CHANGES[change](desk)
    assert stands(desk) == (whole, claim)


def test_a_verdict_that_sends_again_voids_it_and_a_run_shows_the_plan_anew(desk):
    code = shown(desk, "Ada")
    assert printed(desk) == [["approve", "backend", "--plan", code]]
    desk.call(approvals.approve, ME)
    desk.adds()
    desk.does(Op.INVITE, state=State.UNSURE)
    assert stands(desk) == (True, True)
    desk.call(doubts.settle_all, [doubts.Settlement("again", address("Ada"))], ME)
    assert stands(desk) == (False, False)
    with pytest.raises(approvals.PlanChanged):
        desk.call(approvals.approve, ME)
    assert [word for word, *_ in printed(desk)] == ["run"]


def test_a_verdict_that_lets_somebody_be_invited_voids_it(desk):
    shown(desk, "Ada")
    desk.call(approvals.approve, ME)
    desk.does(Op.CREATE), desk.does(Op.ATTACH)
    desk.does(Op.ADD, state=State.UNSURE)
    assert stands(desk) == (True, True)
    desk.call(doubts.settle_all, [doubts.Settlement("sent", address("Ada"), value=5001)], ME)
    assert stands(desk) == (False, False)


def test_a_rejection_needs_a_reason_to_be_overruled(desk):
    code = shown(desk, "Ada")
    assert desk.call(approvals.approve, d.By("me"), reject=True) == approvals.Answered(code)
    with pytest.raises(d.ReasonMissing):
        desk.call(approvals.approve, d.By("me"))
    assert printed(desk) == [["approve", "backend", "--plan", code, "--why", "TEXT"]]
    assert stands(desk) == (False, False)
    desk.call(approvals.approve, d.By("boss", "because"))
    assert stands(desk) == (True, True)
    assert desk.call(approvals.approve, ME, reject=True).new
    assert stands(desk) == (False, False)


def test_an_approval_by_the_same_person_who_ran_it_says_so(desk):
    code = shown(desk, "Ada")
    for who in ("boss", "me"):
        assert desk.call(approvals.approve, d.By(who, "fine")).own == (who == "me")
        assert not desk.call(approvals.approve, d.By("me", "fine"), only=code).new
        assert not desk.call(approvals.approve, d.By(who), reject=True).own
    with desk.at() as (session, campaign_id):
        said = [(each.who, each.words) for each in events_of(session, campaign_id) if each.words]
    assert said == [("boss", "fine"), *[("me", f"fine ({approvals.OWN})")] * 3]


def test_a_plan_that_was_approved_before_another_one_is_approved_anew(desk):
    codes = []
    for who in (["Ada"], ["Ada", "Ben"]):
        codes.append(shown(desk, *who, guard={"removed": "100%"}))
        desk.call(approvals.approve, ME)
    assert shown(desk, "Ada", guard={"removed": "100%"}) == codes[0]
    assert stands(desk) == (False, False)
    assert desk.call(approvals.approve, ME).new
    assert stands(desk) == (True, True)


def test_a_plan_that_leaves_somebody_out_is_approved_anew_and_a_no_is_never_refused(desk):
    shown(desk, "Ada", "Ben", "Cyd")
    desk.call(approvals.approve, ME)
    CHANGES["somebody withdrawn"](desk)
    code = shown(desk, "Ada", "Ben", "Cyd")
    assert desk.call(approvals.approve, ME) == approvals.Answered(code, own=True)
    assert stands(desk) == (True, True)
    desk.call(d.withdraw, [address("Cyd")], ME)
    assert printed(desk)[0][0] == "run"
    assert desk.call(approvals.approve, ME, reject=True) == approvals.Answered(code)
    assert stands(desk) == (False, False)


def test_the_pilots_email_is_approved_once_it_is_there(desk):
    desk.take_in("Ada", invites={"pilot": "me@x.org"})
    with pytest.raises(approvals.NothingToApprove):
        desk.call(approvals.approve, ME)
    desk.sends("me@x.org")
    assert desk.kept("Ada") == {"Ada": "pilot"}
    assert desk.call(approvals.approve, ME).code is None
    assert not desk.call(approvals.approve, ME).new
    assert desk.kept("Ada") == {}
    desk.call(d.invite, ["me@x.org"], ME)
    assert desk.kept("Ada", "me@x.org") == {"Ada": "pilot"}


@pytest.mark.parametrize("problem", [42, {"title": "Two sum"}])
def test_what_is_printed_or_in_a_form_answers_only_what_it_names(desk, problem):
    def answer(only):
        return desk.call(lambda s, of: approvals.approve(s, of, ME, only=only)).code

    more = {"problem": problem, "invites": {"approval": "required", "pilot": address("Ada")}}
    desk.take_in("Ada", "Ben", **more)
    for only in (None, approvals.PILOT):  # nothing was shown or sent
        with pytest.raises(approvals.NothingToApprove):
            answer(only)
    if problem != 42:  # a run resolves it, and shows the plan of this problem
        shown(desk, "Ada", "Ben", **more)
        assert printed(desk)[0][0] == "run"
        desk.call(lambda s, of: setattr(own_steps(s, of)[Op.ATTACH], "service_id", 42))
    code = shown(desk, "Ada", "Ben", **more)
    [of_the_plan] = printed(desk)
    assert answer(of_the_plan[-1]) == code
    desk.sends("Ada")
    assert answer(of_the_plan[-1]) == code  # by a second person
    [of_the_pilot] = printed(desk)
    shown(desk, "Ada", "Ben", "Cyd", **more)
    assert answer(of_the_pilot[-1]) is None
    with pytest.raises(approvals.PlanChanged):
        answer(of_the_plan[-1])
    assert stands(desk) == (False, False)
