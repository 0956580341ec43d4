"""Who is forgotten is gone from every table, stays out, and takes nobody along."""

import re

import pytest
from sqlalchemy import text
from sqlmodel import SQLModel

from data.campaigns.history import events_of
from data.campaigns.intake import Allowed
from data.campaigns.people import rows
from data.decisions import decisions as d
from data.decisions.privacy import forget, held_of
from data.store.states import Op, State
from tests.data.desk import address

ME = d.By("me", "Ada Of X asked for it")


def forgets(desk, *emails):
    with desk.ledger.writing() as session:
        return forget(session, emails, ME)


def everything(desk) -> str:
    """All that stands in any table, but for the ledger's own random name."""
    with desk.ledger.reading() as session:
        tables = SQLModel.metadata.tables.keys() - {"ledger"}
        return " ".join(
            repr(list(session.execute(text(f"SELECT * FROM {name}")))) for name in tables
        ).lower()


def test_nothing_of_the_person_is_left_and_everything_of_the_others(desk):
    desk.take_in("Ada", "Ben", key="first", invites={"pilot": "ada@x.org"})
    desk.sends(key="first")
    desk.take_in("Ada", "Ben", key="second", problem=43)
    desk.does(Op.CREATE, key="second")
    desk.does(Op.ATTACH, key="second")
    desk.does(Op.ADD, "Ada", key="second", state=State.REFUSED, why="ada@x.org is no good")
    desk.call(d.withdraw, [address("Ben")], d.By("me", "Ada Of X, l.ada@x.org"), key="second")
    desk.call(lambda s, _: d.block(s, ["ada@x.org"], ME), key="first")
    [before] = forgets(desk, "ADA@x.org")
    assert [(held.campaign, held.candidate_id) for held in before.campaigns] == [
        ("first", 5001),
        ("second", None),
    ]
    left = everything(desk).replace("l.ada@x.org", "hers")
    assert "is no good" not in left and "hers" in left
    assert not {"ada", "5001"} & {*re.findall(r"\w+", left)}  # in a hash any letters may stand
    for key in ("first", "second"):
        people = desk.call(rows, key=key)
        assert [(row.email1, row.fields["first_name"]) for row in people] == [("ben@x.org", "Ben")]
        assert desk.call(events_of, key=key)
    [after] = desk.call(lambda s, _: held_of(s, ["ada@x.org"]), key="first")
    assert (after.campaigns, after.blocked, after.forgotten) == ([], False, True)


def test_a_person_corrected_to_them_by_mistake_stays(desk):
    desk.take_in("Fay", "Ben")
    desk.call(d.correct, address("Fay"), "ada@x.org", d.By("me"))
    [before] = forgets(desk, address("Ada"))
    assert before.others == ["fay@x.org"]  # whether that is the same person, a person knows
    desk.take_in("Fay", "Ben", digest="again")
    assert "fay@x.org" in [row.email1 for row in desk.call(rows)]
    assert desk.to_come(Op.ADD) == ["ben@x.org"]


def test_who_was_corrected_from_a_forgotten_address_stays_in_the_file(desk):
    desk.take_in("Ada", "Ben")
    desk.call(d.correct, address("Ada"), "ada@y.org", d.By("me"))
    forgets(desk, address("Ada"))
    assert desk.take_in("Ada", "Ben", digest="again").gone == ()
    assert desk.to_come(Op.ADD) == ["ben@x.org", "ada@y.org"]


def test_another_spelling_of_the_mailbox_is_named_and_stays_blocked(desk):
    desk.take_in("Ada", "Ben")
    desk.call(lambda s, _: d.block(s, [address("Ada")], ME))
    assert [known.others for known in forgets(desk, "ada+jobs@x.org")] == [[address("Ada")]]
    desk.take_in("Ben", ("Ada", "Of X", "ada@y.org"), allowed=Allowed("me", removed=True))
    assert [*desk.kept("ada@y.org")] == ["ada@y.org"]


@pytest.mark.parametrize("case", ["sending", "keeps somebody back"])
def test_who_cannot_be_forgotten_now(desk, case):
    desk.take_in("Ada", "Ben")
    desk.adds()
    if case == "sending":
        desk.claims(Op.INVITE, "Ada")
    else:
        desk.call(lambda s, _: d.block(s, [address("Ada")], ME))
        desk.take_in("Ben", ("Ada", "Of X", "ada@y.org"), allowed=Allowed("me", removed=True))
    with pytest.raises(d.NotDecided):
        forgets(desk, address("Ada"))
    assert desk.call(lambda s, _: held_of(s, [address("Ada")]))[0].campaigns


def test_somebody_whom_the_ledger_never_knew_is_kept_out_as_well(desk):
    assert forgets(desk, address("Ada"))[0].campaigns == []
    came = desk.take_in("Ada", "Ben")
    assert (came.new, came.forgotten) == (1, 1)
    desk.take_in(("Other", "Name", "ada+2@x.org"), key="second")
    assert desk.kept("ada+2@x.org", key="second") == {"ada+2@x.org": "forgotten"}


def test_a_do_not_contact_file_does_not_name_them_again(desk):
    from config.sheets.entries import entry
    from data.eligibility import do_not_contact

    forgets(desk, address("Ada"))
    listed = [entry("ada+x@x.org"), entry("ben@x.org")]
    with desk.ledger.writing() as session:
        assert do_not_contact.follow(session, listed) == 1
    assert "ada@" not in everything(desk)
