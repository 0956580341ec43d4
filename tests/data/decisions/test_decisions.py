"""What a person may decide, from where, and what it does to the two steps of a person."""

import pytest
from sqlmodel import select

from data.campaigns.intake import Allowed
from data.campaigns.people import own_steps
from data.decisions import decisions as d
from data.decisions.doubts import Settlement, doubts, settle_all
from data.store.states import Op, State
from data.store.tables import Decision
from tests.data.desk import address

LISTED = "on the do-not-contact list"
ME = d.By("me", "because")
SILENT = d.By("me")


def stand(desk, how, who="Ada"):
    """Bring a person to where the table says."""
    for op in (Op.CREATE, Op.ATTACH):
        if desk.due(op):
            desk.does(op)
    added, invited = how.split(", ")
    if added != "waiting":
        desk.does(Op.ADD, who, state=State(added), why="no")
    if invited != "waiting":
        desk.does(Op.INVITE, who, state=State(invited), why="no")


def words(desk):
    with desk.ledger.reading() as session:
        return [each.word for each in session.scalars(select(Decision))]


def refusal(desk, function, *args, key="backend"):
    """The objection, if there is one."""
    try:
        desk.call(function, *args, ME, key=key)
    except d.NotDecided as error:
        assert "ada" not in str(error).lower()
        return error.objections[0][1]
    return None


@pytest.mark.parametrize(
    ("before", "withdrawn", "undone"),
    [
        ("waiting, waiting", "given up, given up", "waiting, waiting"),
        ("refused, waiting", "given up, given up", "refused, waiting"),
        ("unsure, waiting", "given up, given up", "unsure, waiting"),
        ("done, waiting", "done, given up", "done, waiting"),
        ("done, refused", "done, given up", "done, refused"),
        ("done, unsure", "done, given up", "done, unsure"),
        ("done, done", "done, given up", "done, done"),
    ],
)
def test_a_withdrawal_and_its_undoing(desk, before, withdrawn, undone):
    desk.take_in("Ada")
    stand(desk, before)
    desk.call(d.withdraw, ["ADA@x.org"], ME)
    assert ", ".join(desk.state("Ada")) == withdrawn
    assert desk.due(Op.INVITE) == desk.to_come(Op.ADD) == []
    assert refusal(desk, d.withdraw, [address("Ada")]) == "is withdrawn already"
    desk.call(d.undo, [address("Ada")], SILENT)
    assert ", ".join(desk.state("Ada")) == undone
    assert words(desk) == ["withdraw", "undo"]
    if before == "done, done":  # so one more email is taken back
        for word in (d.invite, d.withdraw, d.undo):
            desk.call(word, [address("Ada")], ME)
        assert desk.state("Ada") == ("done", "done")


@pytest.mark.parametrize(
    ("before", "then", "found"),
    [
        ("waiting, waiting", "", d.DUE),
        ("done, waiting", "", d.DUE),
        ("unsure, waiting", "", d.UNSURE),
        ("done, unsure", "", d.UNSURE),
        ("done, unsure", "withdrawn", d.UNSURE),
        ("done, done", "gone", d.GONE),
        ("refused, waiting", "", d.AFTER_ALL),
        ("done, refused", "", d.AFTER_ALL),
        ("done, waiting", "withdrawn", d.AFTER_ALL),
        ("waiting, waiting", "blocked", d.AFTER_ALL),
        ("done, done", "", d.AGAIN),
        ("done, done", "withdrawn", d.AGAIN),
    ],
)
def test_once_more_or_although_held(desk, before, then, found):
    desk.take_in("Ada", "Ben")
    stand(desk, before)
    if then == "withdrawn":
        desk.call(d.withdraw, [address("Ada")], ME)
    elif then == "blocked":
        desk.call(lambda s, _: d.block(s, ["@x.org"], ME))
    elif then == "gone":
        desk.take_in("Ben", allowed=Allowed("me", removed=True))
    if found not in (d.AGAIN, d.AFTER_ALL):
        assert refusal(desk, d.invite, [address("Ada")]) == found
        return
    assert desk.call(d.invite, [address("Ada")], ME)[address("Ada")].startswith(found)
    added = "done" if before.startswith("done") else "waiting"
    assert desk.state("Ada") == (added, "waiting")
    assert address("Ada") in desk.to_come(Op.INVITE if added == "done" else Op.ADD)


def test_nobody_is_decided_about_while_somebody_does_not_fit(desk):
    desk.take_in("Ada", "Ben")
    assert refusal(desk, d.withdraw, [address("Ben"), "nobody@x.org"]) == d.NOBODY
    desk.does(Op.CREATE)
    desk.does(Op.ATTACH)
    desk.claims(Op.ADD, "Ada")
    assert refusal(desk, d.withdraw, [address("Ben"), address("Ada")]) == d.UNDER_WAY
    assert desk.state("Ben") == ("waiting", "waiting")
    assert words(desk) == []


@pytest.mark.parametrize("before", ["waiting, waiting", "done, waiting", "done, done"])
def test_a_corrected_address_is_another_person(desk, before):
    desk.take_in("Ada", "Ben")
    stand(desk, before)
    assert desk.call(d.correct, address("Ada"), "ada@y.org", ME) == "ada@y.org"
    desk.sends("ada@y.org")
    assert desk.state("ada@y.org") == ("done", "done")
    assert desk.state("Ada")[1] == "given up"
    # The file still has the wrong address, or the right one by now.
    for who in (["Ada"], [("Ada", "Of X", "ada@y.org")]):
        came = desk.take_in("Ben", *who)
        assert (came.new, desk.to_come(Op.ADD)) == (0, [])
    assert refusal(desk, d.correct, address("Ada"), "ada@z.org") == d.CORRECTED


def test_a_row_whose_address_was_edited_is_let_through_by_a_correction(desk):
    desk.take_in("Ada", "Ben")
    desk.sends("Ada")
    desk.take_in("Ben", ("Ada", "Of X", "ada@y.org"), allowed=Allowed("me", removed=True))
    assert desk.to_come(Op.ADD) == []
    desk.call(d.correct, address("Ada"), "ada@y.org", ME)
    assert desk.to_come(Op.ADD) == ["ada@y.org"]


def test_an_address_that_once_was_another_row_gets_what_is_known_of_the_corrected_person(desk):
    desk.take_in("Ben", "Cyd", ("Zed", "Old", "ada@y.org"))
    desk.take_in("Ben", "Cyd", "Ada", allowed=Allowed("me", removed=True))
    desk.call(d.correct, address("Ada"), "ada@y.org", ME)
    desk.does(Op.CREATE)
    desk.does(Op.ATTACH)
    [claimed] = desk.claims(Op.ADD, "ada@y.org").steps
    assert (claimed.fields["first_name"], claimed.fields["email1"]) == ("Ada", "ada@y.org")


def test_whoever_is_held_is_not_free_under_another_address(desk):
    desk.take_in("Ada", "Ben")
    desk.call(lambda session, _: d.block(session, [address("Ada")], ME))
    for file in (["Ada"], [("Ada", "Of X", "ada@y.org")]):  # the second time the row was edited
        desk.take_in("Ben", *file, allowed=Allowed("me", removed=True))
        why_not = refusal(desk, d.correct, address("Ada"), "ada@y.org")
        assert why_not.startswith(f"is held: {LISTED}")


def test_who_is_held_for_two_reasons_is_let_through_for_each(desk):
    desk.take_in("Ada", key="other")
    desk.sends(key="other")
    desk.take_in("Ada", "Ben")
    desk.call(lambda session, _: d.block(session, ["@x.org"], ME))
    said = [desk.call(d.invite, [address("Ada")], ME)[address("Ada")] for _ in range(2)]
    assert said[0].startswith("is still held: was invited to the same problem")
    assert said[1].startswith(f"{d.AFTER_ALL}, though held: was invited to the same problem")
    assert desk.to_come(Op.ADD) == [address("Ada")]


@pytest.mark.parametrize("before", ["done", "refused", "withdrawn"])
def test_a_hold_that_nobody_was_shown_is_not_lifted(desk, before):
    desk.take_in("Ada")
    desk.does(Op.CREATE), desk.does(Op.ATTACH)
    desk.sends("Ada") if before == "done" else desk.does(Op.ADD, state=State.REFUSED)
    if before == "withdrawn":
        desk.call(d.withdraw, [address("Ada")], ME)
    desk.call(lambda session, _: d.block(session, [address("Ada")], ME))
    said = [desk.call(d.invite, [address("Ada")], ME)[address("Ada")] for _ in range(2)]
    assert said[0] == f"is still held: {LISTED}; type this again to lift that, too"
    assert said[1] == f"{d.AGAIN if before == 'done' else d.AFTER_ALL}, though held: {LISTED}"
    assert before == "done" or desk.to_come(Op.ADD) == [address("Ada")]


def test_a_correction_by_mistake_is_corrected_back(desk):
    desk.take_in("Ada", "Ben")
    stand(desk, "done, done")
    desk.call(d.correct, address("Ada"), "ada@y.org", ME)
    desk.call(d.correct, "ada@y.org", address("Ada"), ME)
    assert desk.state("Ada") == ("done", "done")
    assert desk.state("ada@y.org") == ("given up", "given up")


@pytest.mark.parametrize(
    ("corrections", "last"),
    [
        (
            ["ada@x.org ada@y.org", "ada@y.org ada@z.org", "ada@z.org ada@x.org"],
            "is a candidate of this campaign already",
        ),
        (["ben@x.org ben@y.org", "ada@x.org ben@x.org"], "is a candidate of this campaign already"),
        (["ada@x.org ada@y.org", "ada@y.org ada@x.org", "ada@x.org ada@y.org"], None),
    ],
)
def test_corrections_never_lead_in_a_circle(desk, corrections, last):
    desk.take_in("Ada", "Ben")
    found = [refusal(desk, d.correct, *each.split()) for each in corrections]
    assert found == [None] * (len(found) - 1) + [last]
    assert desk.take_in("Ada", "Ben", "Cyd").new == 1
    assert len(desk.to_come(Op.ADD)) == 3


@pytest.mark.parametrize(
    ("new", "why_not"),
    [
        ("ADA@x.org", "is the same address"),
        ("ben@x.org", "is a candidate of this campaign already"),
        ("cyd@x.org", "is a candidate of this campaign already"),  # withdrawn
        ("ada@", "is not an email address"),
        ("dee@x.org", "is a candidate of this campaign already"),  # not sent to yet
    ],
)
def test_what_no_address_is_corrected_to(desk, new, why_not):
    desk.take_in("Ada", "Ben", "Cyd")
    desk.call(d.withdraw, [address("Cyd")], ME)
    desk.sends()
    desk.take_in("Ada", "Ben", "Cyd", "Dee")
    assert refusal(desk, d.correct, address("Ada"), new).startswith(why_not)
    assert refusal(desk, d.correct, address("Cyd"), "cyd@y.org") == "is withdrawn already"
    desk.take_in("Ben", "Cyd", "Dee", allowed=Allowed("me", removed=True))
    assert refusal(desk, d.correct, address("Ada"), "ada@y.org") == d.GONE


@pytest.mark.parametrize(
    ("step", "word", "value", "after"),
    [
        ("create", "sent", 101, ("done", 101)),
        ("create", "again", None, ("waiting", None)),
        ("create", "sent", None, None),
        ("create", "withdraw", None, None),
        ("attach", "sent", None, ("done", 42)),
        ("attach", "again", None, ("waiting", 42)),
        ("add", "sent", 6001, ("done", 6001)),
        ("add", "sent", 2**63, None),
        ("add", "sent", 0, None),
        ("add", "sent", 5001, None),  # somebody else's
        ("add", "again", None, ("waiting", None)),
        ("add", "withdraw", None, ("given up", None)),
        ("invite", "sent", None, ("done", None)),
        ("invite", "again", None, ("waiting", None)),
        ("invite", "withdraw", None, ("given up", None)),
        ("invite", "sent", 5001, None),
    ],
)
def test_verdicts_on_what_is_unsure(desk, step, word, value, after):
    desk.take_in("Ada", "Ben")
    op = Op(step)
    email = address("Ada") if op in (Op.ADD, Op.INVITE) else ""
    for before in list(Op)[: list(Op).index(op)]:
        desk.does(before)
    desk.does(op, *filter(None, [email]), state=State.UNSURE)
    if op is Op.ADD:
        desk.does(Op.ADD)  # Ben's id is 5001
    verdict = Settlement(word, email, op, value)
    if after is None:
        with pytest.raises(d.NotDecided):
            desk.call(settle_all, [verdict], ME)
        assert len(desk.call(doubts)) == 1
        return
    desk.call(settle_all, [verdict], ME)
    assert desk.call(doubts) == []
    with desk.at() as (session, campaign_id):
        person = desk.id_of("Ada", session=session) if email else 0
        settled = own_steps(session, campaign_id, person)[op]
        assert (str(settled.state), settled.service_id) == after


def test_a_verdict_is_about_what_was_looked_at(desk):
    desk.take_in("Ada", "Ben")
    stand(desk, "done, unsure")
    [doubt] = desk.call(doubts)
    desk.call(settle_all, [Settlement("again", address("Ada"))], ME)
    desk.does(Op.INVITE, "Ada", state=State.UNSURE)
    late = Settlement("sent", address("Ada"), part_id=doubt.part_id)
    with pytest.raises(d.NotDecided):
        desk.call(settle_all, [late], ME)
    with pytest.raises(d.ReasonMissing):
        desk.call(settle_all, [Settlement("again", address("Ada"))], SILENT)


def test_a_project_of_another_campaign_is_no_verdict(desk):
    desk.take_in("Ada", key="first")
    desk.does(Op.CREATE, key="first")
    desk.take_in("Ben", key="second")
    desk.does(Op.CREATE, key="second", state=State.UNSURE)
    taken = [Settlement("sent", "", Op.CREATE, 101)]
    assert "belongs to another project" in refusal(desk, settle_all, taken, key="second")


def test_the_list_is_changed_by_people_and_lifted_only_by_them(desk):
    from data.eligibility import do_not_contact as list_

    desk.take_in("Ada")
    file = ["ada@x.org", "y.org"]
    desk.call(lambda s, _: list_.follow(s, file))
    desk.call(lambda s, _: list_.follow(s, file[1:]))
    assert desk.kept("Ada") == {"Ada": "do not contact"}
    for lifted in (["ada@x.org"], []):  # again there is nothing to lift
        assert desk.call(lambda s, _: d.block(s, ["ADA@x.org"], ME, lift=True)) == lifted
    desk.call(lambda s, _: list_.follow(s, file))
    assert desk.kept("Ada") == {}
    for _ in range(2):  # again is a decision, too: it holds whoever was let through
        assert desk.call(lambda s, _: d.block(s, ["ada@x.org"], ME)) == ["ada@x.org"]
    assert desk.kept("Ada") == {"Ada": "do not contact"}
    with pytest.raises(d.NotDecided):
        desk.call(lambda s, _: d.block(s, ["ben@x.org", "*@*.org"], ME))
    assert words(desk) == ["lift", "block", "block"]
