"""Who is not added or invited although the file lists them, and what is due."""

from contextlib import nullcontext
from datetime import timedelta

import pytest
from sqlmodel import update

from config.sheets.entries import entry
from data.campaigns import people
from data.campaigns.intake import Allowed, take_in
from data.decisions import decisions as d
from data.decisions.doubts import Settlement, settle_all
from data.eligibility.do_not_contact import follow
from data.eligibility.due import due
from data.eligibility.holds import holds
from data.sending.claims import claim
from data.store.states import Op, State
from data.store.tables import REQUEST, Campaign, now
from tests.data.desk import address

ALL_GONE = {"allowed": Allowed("me", removed=True)}
ME = d.By("me", "because")


def test_what_is_due_follows_the_order_of_the_steps(desk):
    desk.take_in("Ada", "Ben")
    both = [address("Ada"), address("Ben")]
    for op, who in zip(Op, ([""], [""], both, both), strict=True):
        assert {each: found for each in Op if (found := desk.due(each))} == {op: who}
        desk.does(op)
    assert not any(desk.due(op) for op in Op)
    desk.take_in("Cyd", key="other")
    desk.does(Op.CREATE, key="other", state=State.UNSURE)
    assert desk.kept("Cyd", op=Op.ADD, key="other") == {"Cyd": "unsure"}


@pytest.mark.parametrize(
    ("entry", "held"),
    [
        ("ada@x.org", True),
        ("ADA+jobs@x.org", True),
        ("@x.org", True),
        ("*@X.ORG", True),
        ("@y.x.org", False),
    ],
)
def test_the_do_not_contact_list_holds_addresses_and_domains(desk, entry, held):
    desk.take_in("Ada")
    desk.call(lambda s, _: d.block(s, [entry], ME))
    assert desk.kept("Ada") == ({"Ada": "do not contact"} if held else {})
    assert desk.due(Op.CREATE) == ([] if held else [""])


@pytest.mark.parametrize("typed", ["*.x.org", "ada*@x.org", "*@*.org", "@x", "ada", "*"])
def test_another_wildcard_is_a_mistake(typed):
    with pytest.raises(ValueError, match="address"):
        entry(typed)


SECOND = "second address"


@pytest.mark.parametrize(
    ("happens", "then", "held"),
    [
        # The row's address was edited: the same name in its place.
        ("invited", [("Ada", "Of X", "ada@y.org")], SECOND),
        ("invited", [("Of, X.", "ÁDA", "ada@y.org")], SECOND),
        ("invited elsewhere", [("Ada", "Of X", "ada@y.org")], SECOND),
        ("unsure", [("Ada", "Of X", "ada@y.org")], SECOND),
        ("withdrawn", [("Ada", "Of X", "ada@y.org")], SECOND),
        ("blocked", [("Ada", "Of X", "ada@y.org")], SECOND),
        ("their domain blocked", [("Ada", "Of X", "ada@y.org")], SECOND),
        ("lifted", [("Ada", "Of X", "ada@y.org")], None),
        ("waiting", [("Ada", "Of X", "ada@y.org")], None),
        ("refused", [("Ada", "Of X", "ada@y.org")], None),
        # The same name beside the old row is somebody else; the same mailbox is not.
        ("invited", ["Ada", ("Ada", "Of X", "ada@y.org")], None),
        ("invited", ["Ada", ("Ida", "Other", "ada+2@x.org")], SECOND),
        ("withdrawn", [("Ida", "Other", "ada+2@x.org")], SECOND),
        ("waiting", ["Ada", ("Ida", "Other", "ada+2@x.org")], None),
        ("invited", [("Ida", "Other", "ida@x.org")], None),
    ],
)
def test_who_looks_like_somebody_invited_under_another_address(desk, happens, then, held):
    desk.take_in("Ada", "Ben")
    desk.adds()
    answers = {"invited": State.DONE, "unsure": State.UNSURE, "refused": State.REFUSED}
    if happens in answers:
        desk.does(Op.INVITE, "Ada", state=answers[happens])
    elif happens == "invited elsewhere":
        desk.take_in("Ada", key="other")
        desk.sends(key="other")
    elif happens == "withdrawn":
        desk.call(d.withdraw, [address("Ada")], ME)
    elif happens in ("blocked", "lifted"):
        desk.call(lambda s, _: d.block(s, [address("Ada")], ME))
    elif happens == "their domain blocked":
        desk.call(lambda s, _: d.block(s, ["@x.org"], ME))
    if happens == "lifted":
        desk.call(lambda s, _: d.block(s, [address("Ada")], ME, lift=True))
    desk.take_in(*([] if happens == "their domain blocked" else ["Ben"]), *then, **ALL_GONE)
    new = then[-1][2]
    assert desk.kept(new) == ({new: held} if held else {})
    assert (new in desk.to_come(Op.ADD)) == (held is None)


@pytest.mark.parametrize(("decides", "held"), [("withdraws", True), ("blocks", True), ("", False)])
@pytest.mark.parametrize("op", [Op.ADD, Op.INVITE])
def test_a_decision_about_the_old_address_counts_while_a_run_claims_the_new_one(
    desk, op, decides, held
):
    desk.take_in("Ada", "Ben")
    desk.adds()
    desk.take_in("Ben", ("Ada", "Of X", "ada@y.org"), **ALL_GONE)
    if op is Op.INVITE:
        desk.adds()
    planned, run, new = desk.call(due, op), desk.run(), desk.id_of("ada@y.org")
    assert new in planned.values()
    if decides == "withdraws":
        desk.call(d.withdraw, [address("Ada")], ME)
    elif decides == "blocks":
        desk.call(lambda s, _: d.block(s, [address("Ada")], ME))
    [claimed] = desk.call(claim, run, op, [[*planned]])
    people = {step.person_id for step in claimed.steps} if claimed else set()
    assert (new in people) == (not held)


def test_two_addresses_of_one_mailbox_are_not_invited_in_one_breath(desk):
    desk.take_in("Ada", "Ben", ("Ida", "Other", "ada+2@x.org"))
    desk.adds()
    claimed = desk.claims(Op.INVITE)
    assert {step.person_id for step in claimed.steps} == {desk.id_of("Ada"), desk.id_of("Ben")}


@pytest.mark.parametrize("listed_by", ["a person", "the file"])
def test_who_was_let_through_is_held_again_once_blocked(desk, listed_by):
    desk.take_in("Ada", "Ben")
    desk.does(Op.CREATE), desk.does(Op.ATTACH)
    desk.call(lambda s, _: d.block(s, ["@x.org"], ME))
    desk.call(d.invite, [address("Ada")], ME)
    assert desk.due(Op.ADD) == [address("Ada")]
    if listed_by == "a person":
        desk.call(lambda s, _: d.block(s, [address("Ada")], ME))
    desk.call(lambda s, _: follow(s, [address("Ada")]))
    assert desk.kept("Ada") == {"Ada": "do not contact"}
    desk.call(d.invite, [address("Ada")], ME)
    desk.call(lambda s, _: follow(s, [address("Ada")]))  # which says nothing new
    assert desk.kept("Ada") == {}


def test_who_was_let_through_under_a_new_address_is_held_again_once_the_old_one_is_blocked(desk):
    desk.take_in("Ada", "Ben")
    desk.adds(), desk.does(Op.INVITE, state=State.UNSURE)
    desk.take_in("Ben", ("Ada", "Of X", "ada@y.org"), **ALL_GONE)
    desk.call(d.invite, ["ada@y.org"], ME)
    desk.call(settle_all, [Settlement("sent", address("Ada"))], ME)
    assert desk.kept("ada@y.org") == {}
    desk.call(lambda s, _: d.block(s, [address("Ada")], ME))
    with desk.at() as (session, _):
        [hold] = holds(session, people.find(session, "backend")).values()
    assert (hold.kind, "do-not-contact list" in hold.why) == (SECOND, True)


@pytest.mark.parametrize("block", [lambda s, who: d.block(s, who, ME), follow])
@pytest.mark.parametrize("last", ["ada@z.org", "ada+1@x.org"])  # or the first mailbox again
def test_whoever_is_blocked_is_held_under_their_corrected_address(desk, block, last):
    desk.take_in("Ada")
    desk.call(d.correct, address("Ada"), "ada@y.org", ME)
    desk.call(d.correct, "ada@y.org", last, ME)
    desk.call(lambda session, _: block(session, [address("Ada")]))
    assert desk.kept(last) == {last: "do not contact"}


@pytest.mark.parametrize(("invited", "held"), [(False, "corrected"), (True, "same problem")])
def test_an_address_that_was_corrected_is_held_in_every_campaign(desk, invited, held):
    desk.take_in("Ada", key="first")
    desk.sends(key="first") if invited else desk.adds(key="first")
    desk.call(d.correct, address("Ada"), "ada@new.org", ME, key="first")
    assert desk.kept("ada@new.org", key="first") == {}
    desk.take_in("Ada", key="second")
    assert desk.kept("Ada", key="second") == {"Ada": held}
    with pytest.raises(d.NotDecided) if invited else nullcontext():
        desk.call(d.correct, address("Ada"), "ada@new.org", ME, key="second")
        assert desk.kept("ada@new.org", key="second") == {}


def test_an_edit_that_is_taken_back_is_a_question(desk):
    right, typo = ("Bob", "Stone", "bob@right.org"), ("Bob", "Stone", "bob@typo.org")
    for who in (right, typo):
        desk.take_in(who, guard={"removed": "100%"})
    desk.sends()
    desk.take_in(right, guard={"removed": "100%"})
    assert desk.kept("bob@right.org") == {"bob@right.org": "second address"}


@pytest.mark.parametrize(
    ("state", "other", "held"),
    [
        (State.DONE, {}, "same problem"),
        (State.UNSURE, {}, "same problem"),
        (State.REFUSED, {}, None),
        (State.WAITING, {}, None),
        (State.DONE, {"problem": 43}, None),
        (State.UNSURE, {"problem": 43, "invites": {"not_within": "2 weeks"}}, "recent"),
        (State.REFUSED, {"problem": 43, "invites": {"not_within": "2 weeks"}}, None),
    ],
)
def test_whom_another_campaign_invited_to_the_same_problem(desk, state, other, held):
    desk.take_in("Ada", "Ben", key="first")
    desk.adds(key="first")
    desk.does(Op.INVITE, "Ada", key="first", state=state)
    desk.take_in(("A", "Da", "ada+x@x.org"), "Ben", key="second", **other)
    assert desk.kept("ada+x@x.org", "Ben", key="second") == ({"ada+x@x.org": held} if held else {})


@pytest.mark.parametrize(("days", "held"), [(30, True), (32, False)])
def test_nobody_is_invited_again_within_the_time_that_a_definition_names(desk, days, held):
    desk.take_in("Ada", "Ben", key="first")
    desk.sends("Ada", key="first")
    then = now() - timedelta(days=days)
    desk.call(lambda s, _: s.execute(update(REQUEST).values(claimed_at=then)), key="first")
    desk.take_in("Ada", "Ben", problem=43, invites={"not_within": "1 month"})
    with desk.at("backend") as (session, _):
        found = [hold.why for hold in holds(session, people.find(session, "backend")).values()]
    why = f"was invited by the campaign first on {then:%Y-%m-%d} (not_within)"
    assert found == [why] * held
    if held:
        desk.call(d.invite, [address("Ada")], ME)
    assert desk.kept("Ada") == {}
    desk.take_in("Ada", "Ben", key="later", problem=44)
    desk.sends("Ada", key="later")
    assert desk.kept("Ada") == {"Ada": "recent"}  # what let her through named another email


def test_the_pilot_may_be_the_same_person_in_every_campaign(desk):
    for key in ("first", "second"):
        with desk.ledger.writing() as session:  # a plan judges in the transaction that takes in
            read = desk.read("Ada", key=key, invites={"pilot": "me@x.org"})
            came = take_in(session, read, desk.settings)
            assert not holds(session, session.get_one(Campaign, came.campaign_id))
        desk.adds(key=key)
        assert desk.kept("me@x.org", "Ada", key=key) == {"Ada": "pilot"}
        desk.does(Op.INVITE, "me@x.org", key=key)
        assert desk.kept("Ada", key=key) == {"Ada": "pilot"}


@pytest.mark.parametrize(
    ("per_hour", "per_second", "other_campaign"),
    [(60, None, False), (None, 1 / 60, True), (6000, 1 / 60, True), (60, 1_000_000, False)],
)
def test_a_rate_lets_one_invitation_through_at_a_time(desk, per_hour, per_second, other_campaign):
    """`per_hour` is of one campaign, `per_second` of the whole ledger."""
    for key, who in (("backend", ("Ada", "Ben")), ("other", ("Cyd",))):
        desk.take_in(*who, key=key, invites={"per_hour": per_hour} if per_hour else {})
        desk.adds(key=key)
    asked = {"per_second": per_second}
    assert desk.kept("Ada", "Ben", **asked) == {"Ben": "rate"}
    desk.does(Op.INVITE, "Ada")
    assert desk.kept("Ben", **asked) == {"Ben": "rate"}
    assert desk.kept("Cyd", key="other", **asked) == ({"Cyd": "rate"} if other_campaign else {})
    with desk.at() as (session, _):
        session.execute(update(REQUEST).values(claimed_at=now() - timedelta(seconds=61)))
    assert desk.kept("Ben", **asked) == {}


@pytest.mark.parametrize(
    ("theirs", "did", "ours", "held"),
    [
        ({"name": "First"}, Op.CREATE, {"project": {"id": 101}}, True),  # their request made it
        ({"name": "First"}, Op.CREATE, {"project": {"id": 102}}, False),
        # Two definitions may share a project that neither made, for one problem.
        ({"id": 101}, Op.ATTACH, {"project": {"id": 101}}, False),
        ({"id": 101}, Op.ATTACH, {"project": {"id": 101}, "problem": 43}, True),
    ],
)
def test_a_project_of_another_campaign_is_not_used(desk, theirs, did, ours, held):
    desk.take_in("Ada", key="first", project=theirs)
    desk.does(did, key="first")
    desk.take_in("Ben", key="second", **ours)
    kept = desk.kept("Ben", op=Op.ADD, key="second")
    assert kept == ({"Ben": "project"} if held else {})
