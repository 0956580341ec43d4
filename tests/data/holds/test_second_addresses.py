"""Whoever has another address in the sheet is somebody new: held until a person has looked."""

import re
from dataclasses import replace
from typing import Any

import pytest

from config.definition.model import Candidate
from data.campaigns.changes import Known, fields_of
from data.holds.rule import Cause
from data.holds.second_addresses import second_addresses
from data.store.states import Ending, Step
from sandbox.faults.faults import Fault
from tests.support.doubtful_campaign import (
    DEFINITION,
    EMAILS,
    KEY,
    DoubtfulCampaign,
)
from tests.support.ledgers.small_ledger import definition

[ADA] = definition("ada").candidates
OLD, NEW = EMAILS[0], "ada@elsewhere.example"


def person(email1: str, first: str = "Ada", last: str = "Lovelace") -> Candidate:
    return replace(ADA, first_name=first, last_name=last, email1=email1, key=email1)


def known(
    candidate: Candidate,
    invite: Step = Step.DONE,
    row: int = 1,
    add: str = "done",
    allowed: int = 0,
    added: int | None = 3,
) -> Known:
    decided = {"tried": 7, "allowed": allowed, "added": added}
    return Known(row, candidate.key, fields_of(candidate), Step(add), invite, **decided)


def held(before: Known, *listed: Candidate, beside: Known | None = None) -> list[set[str]]:
    """What people who are held share with whom; `beside` is what the ledger has of the first."""
    people = [
        (one.key, fields_of(one), beside if not number else None)
        for number, one in enumerate(listed)
    ]
    found = second_addresses(people, [before])
    assert all(one.cause is Cause.SECOND for one in found.values())
    told = {"name", "mailbox", "was", "may", before.fields[2]}
    return [told & set(re.split("[ ,]", one.why)) for one in found.values()]


@pytest.mark.parametrize(
    ("new", "same"),
    [
        (person("ada@new.example"), ["name"]),
        (person("ada@new.example", "LOVELACE", " Ada"), ["name"]),
        (person("a.da+jobs@googlemail.com", "A.", "L."), ["mailbox"]),
        (person("ada@new.example", "Adam"), []),
    ],
)
def test_an_edited_address_is_not_taken_for_somebody_else(new: Candidate, same: list[str]) -> None:
    """The same name or mailbox as somebody who was invited and has left the sheet."""
    why = {"ada@gmail.com", "was"}
    assert held(known(person("ada@gmail.com")), new) == [why | {one} for one in same]


@pytest.mark.parametrize("invite", list(Step))
def test_only_who_was_invited_can_be_invited_twice(invite: Step) -> None:
    """Whatever came of them since; a second row beside the first is another matter."""
    before, new = person("ada@old.example"), person("ada@new.example")
    invited = known(before, invite)
    assert held(invited, new)
    assert not held(invited, before, new)
    assert not held(replace(invited, tried=None), new)
    assert not held(replace(invited, instead="ada@right.example"), new)


@pytest.mark.parametrize(
    ("beside", "holds"),
    [
        ({"row": 2}, True),  # taken over, and held ever since
        ({"row": 2, "allowed": 6}, True),  # let through before the other was invited
        ({"row": 2, "allowed": 7}, False),  # let through
        ({"row": 0}, True),  # edited, and edited back
        ({"row": 0, "add": "done", "added": 2}, True),  # likewise, and added before
        ({"row": 0, "added": 3}, False),  # listed together, in one request
        ({"row": 2, "add": "done", "added": 3}, False),
        ({"row": 2, "add": "unsure", "added": 5}, False),  # nobody sends anything there
    ],
)
def test_who_is_held_stays_held_until_somebody_has_looked(
    beside: dict[str, Any], holds: bool
) -> None:
    """The ledger's own order and its decisions tell who has to be looked at."""
    new = person("ada@new.example")
    waits = known(new, Step.WAITING, **{"add": "waiting", "added": None, **beside})
    assert bool(held(known(person("ada@old.example")), new, beside=waits)) is holds


# -- end to end -------------------------------------------------------------------------------


@pytest.fixture
def edited(desk: DoubtfulCampaign) -> DoubtfulCampaign:
    """Everybody is invited, and one address is another one in the sheet since."""
    desk.run()
    desk.file.write_text(DEFINITION.replace(OLD, NEW), encoding="utf-8")
    return desk


def test_an_edited_address_gets_no_email_before_somebody_has_looked(
    edited: DoubtfulCampaign,
) -> None:
    """Plan and run name the reason; neither adds nor invites, however often it is run."""
    before = edited.service.api_requests()
    for _ in range(2):
        [plan] = edited.type("plan", edited.file, "--json").object["campaigns"]
        assert [(one["email1"], one["cause"]) for one in plan["held"]] == [(NEW, "second address")]
        assert (plan["add"], plan["invite"], plan["done"]) == (0, 0, 2)
        assert edited.run().ending is Ending.NEEDS_ATTENTION
    assert edited.service.api_requests() == before
    said = edited.type("status", KEY).out
    assert f"the name of {OLD}, " in said
    assert f"campaign correct {KEY} OLD NEW --why TEXT" in edited.type("plan", edited.file).out
    for word, more in (("correct", "OLD NEW"), ("allow", "EMAIL"), ("withdraw", "EMAIL")):
        assert f"campaign {word} {KEY} {more} --why TEXT" in said


@pytest.mark.parametrize("first", ["invites: {send: false}\n", "invites: {approval: required}\n"])
def test_an_address_that_is_edited_back_gets_no_email_before_somebody_has_looked(
    edited: DoubtfulCampaign, first: str
) -> None:
    """One person, added or only stored at the old address, invited at the new one, then back."""
    old, new = "bo@old.example", "bo@new.example"
    row = "  - {first_name: Bo, last_name: B, email1: bo@old.example}\n"
    for text in (DEFINITION + row + first, DEFINITION + row.replace(old, new), DEFINITION + row):
        edited.file.write_text(text, encoding="utf-8")
        ended = edited.run()
    assert ended.ending is Ending.NEEDS_ATTENTION
    assert (edited.emails().get(new), edited.emails().get(old)) == (1, None)
    [plan] = edited.type("plan", edited.file, "--json").object["campaigns"]
    assert [(person["email1"], person["cause"]) for person in plan["held"]] == [
        (old, "second address")
    ]
    assert edited.type("allow", KEY, old, "--why", "her sister").code == 0
    assert edited.run().ending is Ending.COMPLETED
    assert edited.emails()[old] == 1


@pytest.mark.parametrize("run_first", [False, True])
def test_the_address_before_was_wrong(edited: DoubtfulCampaign, run_first: bool) -> None:
    """One word says so, before or after a run with the new sheet: invited at the right one."""
    if run_first:
        edited.run()
    assert edited.type("correct", KEY, OLD, NEW, "--why", "a typo").code == 0
    assert edited.run().ending is Ending.COMPLETED
    assert edited.emails()[NEW] == 1
    assert edited.steps(OLD) == ("done", "withdrawn")
    assert OLD in edited.type("clean-up", KEY).out


@pytest.mark.parametrize("unsure", [True, False])
def test_whoever_was_withdrawn_has_the_invitation_all_the_same(
    desk: DoubtfulCampaign, unsure: bool
) -> None:
    """Plan and run hold the new address, until a person lets it through."""
    desk.run(*[Fault("lost", "invite", email=OLD, after_work=True)] * unsure)
    desk.file.write_text(DEFINITION.replace(OLD, NEW), encoding="utf-8")
    desk.later(16)
    if unsure:
        assert desk.settle("--invites", "withdraw", "--why", "enough").code == 0
    else:
        assert desk.type("withdraw", KEY, OLD, "--why", "took another job").code == 0
    [plan] = desk.type("plan", desk.file, "--json").object["campaigns"]
    assert [(one["email1"], one["cause"]) for one in plan["held"]] == [(NEW, "second address")]
    for _ in range(2):
        assert desk.run().ending is Ending.NEEDS_ATTENTION
        assert NEW not in desk.emails()
    assert desk.type("allow", KEY, NEW, "--why", "her sister").code == 0
    assert desk.run().ending is Ending.COMPLETED
    assert desk.emails()[NEW] == 1


@pytest.mark.parametrize("refused", [True, False])
def test_whoever_waits_for_another_email_has_the_first(
    desk: DoubtfulCampaign, refused: bool
) -> None:
    """A resend was for the old address; that the new one is the same person's nobody has said."""
    desk.run()
    assert desk.type("resend", KEY, OLD, "--why", "spam", "--yes").code == 0
    if refused:
        desk.run(Fault("status", "invite", status=422, email=OLD))
    desk.file.write_text(DEFINITION.replace(OLD, NEW), encoding="utf-8")
    assert desk.run().ending is Ending.NEEDS_ATTENTION
    assert NEW not in desk.emails()


def test_what_provably_did_not_arrive_holds_nobody(desk: DoubtfulCampaign) -> None:
    """A person has looked, and said so."""
    desk.run(Fault("lost", "invite", email=OLD))
    desk.later(16)
    assert desk.settle("--invites", "again", "--why", "nothing came").code == 0
    desk.file.write_text(DEFINITION.replace(OLD, NEW), encoding="utf-8")
    assert desk.run().ending is Ending.COMPLETED
    assert desk.emails()[NEW] == 1


def test_whoever_was_withdrawn_without_an_invitation_holds_nobody(desk: DoubtfulCampaign) -> None:
    desk.run(Fault("status", "invite", status=422, email=OLD))
    assert desk.type("withdraw", KEY, OLD, "--why", "a wrong address").code == 0
    desk.file.write_text(DEFINITION.replace(OLD, NEW), encoding="utf-8")
    assert desk.run().ending is Ending.COMPLETED
    assert desk.emails()[NEW] == 1


def test_two_people_of_one_name_are_let_through_by_name(edited: DoubtfulCampaign) -> None:
    """Once; and whoever is the same person indeed is left out."""
    edited.run()
    assert edited.type("allow", KEY, NEW, "--why", "her sister").code == 0
    assert edited.run().ending is Ending.COMPLETED
    assert edited.emails()[NEW] == 1
    assert edited.run().ending is Ending.COMPLETED
    assert edited.emails()[NEW] == 1


def test_two_of_one_name_who_were_listed_together_are_two(edited: DoubtfulCampaign) -> None:
    """Whoever was added beside the first is still invited once the first has left the sheet."""
    rows = "".join(
        f"  - {{first_name: Bo, last_name: B, email1: b{n}@example.com}}\n" for n in (1, 2)
    )
    edited.file.write_text(DEFINITION + rows, encoding="utf-8")
    edited.run(Fault("lost", "invite", after_work=False, email="b2@example.com"))
    assert edited.emails()["b1@example.com"] == 1
    edited.later(16)
    assert edited.settle("--invites", "again", "--why", "nothing came").code == 0
    edited.file.write_text((DEFINITION + rows).replace(rows.splitlines(True)[0], ""), "utf-8")
    assert edited.run().ending is Ending.COMPLETED
    assert edited.emails()["b2@example.com"] == 1


def test_one_person_with_two_addresses_is_left_out(edited: DoubtfulCampaign) -> None:
    """The first invitation stands; nothing more is asked about the second address."""
    edited.run()
    assert edited.type("withdraw", KEY, NEW, "--why", "has it already").code == 0
    assert edited.run().ending is Ending.COMPLETED
    assert NEW not in edited.emails()
