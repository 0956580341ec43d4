"""Every request and every decision, in order, with who and why."""

import pytest

from data.campaigns.history import NotInCampaign, events_of
from data.decisions import decisions as d
from data.decisions.doubts import Settlement, settle_all
from data.store import receipts
from data.store.states import Op, State
from data.store.tables import Decision
from tests.data.desk import address


def told(desk, *who):
    return [
        (event.word, event.about, event.came, event.who, event.words)
        for event in desk.call(events_of, *who)
    ]


def lived(desk):
    """A campaign in which something of every kind has happened."""
    desk.take_in("Ada", "Ben", "Cyd")
    desk.adds()
    desk.does(Op.INVITE, "Ada", state=State.UNSURE)
    desk.call(settle_all, [Settlement("again", address("Ada"))], d.By("mara", "nothing came"))
    desk.does(Op.INVITE, "Ada")
    desk.call(d.withdraw, [address("Ben")], d.By("olaf", "took a job"))
    desk.call(lambda s, _: d.block(s, ["ben+x@x.org", "@y.org"], d.By("olaf")))
    desk.call(d.correct, address("Cyd"), "cyd@z.org", d.By("mara"))
    desk.call(d.pause, d.By("mara", "the date moves"))


def test_of_a_campaign(desk):
    lived(desk)
    assert told(desk) == [
        ("create", "the project", "done", "", ""),
        ("attach", "the problem", "done", "", ""),
        ("add", "3 people", "done", "", ""),
        ("invite", "ada@x.org", "overruled", "", ""),
        ("again", "ada@x.org", "", "mara", "nothing came"),
        ("invite", "ada@x.org", "done", "", ""),
        ("withdraw", "ben@x.org", "", "olaf", "took a job"),
        ("correct", "cyd@x.org, now cyd@z.org", "", "mara", ""),
        ("pause", "", "", "mara", "the date moves"),
    ]


def test_of_a_ledger_that_was_accepted_for_it(desk):
    desk.take_in("Ada")
    with desk.ledger.writing() as session:
        for key, why in (("backend", "the other disk is gone"), ("another", "that one too")):
            refused = {"campaign": key, "says": ["another 7"]}
            session.add(Decision(who="campaign", word=receipts.REFUSED, value=refused))
            session.flush()
            receipts.accept(session, key, "mara", why)
    assert told(desk) == [("accept-ledger", "", "", "mara", "the other disk is gone")]


@pytest.mark.parametrize(
    ("who", "words"),
    [
        ("ADA@x.org", ["add", "invite", "again", "invite"]),
        ("ben@x.org", ["add", "withdraw", "block"]),
        ("cyd@x.org", ["add", "correct"]),
        ("cyd@z.org", ["correct"]),
    ],
)
def test_of_one_person(desk, who, words):
    lived(desk)
    assert [word for word, *_ in told(desk, who)] == words


def test_somebody_else_is_no_person_of_it(desk):
    lived(desk)
    with pytest.raises(NotInCampaign):
        desk.call(events_of, "nobody@x.org")
