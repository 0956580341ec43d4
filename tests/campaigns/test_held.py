"""Who is held and why: the rule as a table, and the claim that keeps it to the last moment."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from data.decisions import resending, settling
from data.decisions.verdicts import Decided, NotDecided
from data.holds import do_not_contact, reasons
from data.holds.do_not_contact import ListFile
from data.holds.rule import (
    Allowed,
    Assessment,
    Cause,
    Earlier,
    Held,
    Holds,
    Terms,
    held,
)
from data.sending import runs
from data.store import tables
from data.store.ledger import Ledger
from data.store.states import SPELLING, By, Ending, Operation, Step, Word
from tests.support.ledgers.databases import ledger_at
from tests.support.ledgers.small_ledger import NOON, Small, definition, intent

HERE = Assessment("https://api.example.com", problem_id=42, project_id=101)
MONTH = timedelta(days=30)
PEOPLE = tables.candidate
BEFORE = NOON - timedelta(days=10)
ADA = "ada@example.com"


def earlier(
    assessment: Assessment = HERE, *, at: datetime = BEFORE, attempt: int = 7, sent: bool = True
) -> Earlier:
    return Earlier("spring", ADA, ADA, assessment, attempt, at, sent)


def entry(who: str = "", why: str = "", file: str = "", email: str = ADA) -> tables.DoNotContact:
    at = {"email_key": email, "email1": email, "listed_at": BEFORE}
    return tables.DoNotContact(id=3, who=who, why=why, file=file, **at)


def cause(*found: Earlier, cooldown: timedelta | None = None, at: datetime = NOON) -> Cause | None:
    said = held(ADA, Terms(HERE, cooldown), found, [], at)
    return said.cause if said else None


@pytest.mark.parametrize(
    ("there", "same"),
    [
        (HERE, True),
        (replace(HERE, project_id=7), True),
        (replace(HERE, problem_id=43), True),  # a project holds one problem: ours, however asked
        (replace(HERE, problem_id=43, project_id=7), False),
        (replace(HERE, service="https://other.example.com"), False),
        (Assessment(HERE.service, None, 101), True),
        (Assessment(HERE.service, None, 7), False),
        (Assessment(HERE.service, None, None), False),
    ],
)
def test_the_same_problem_is_the_same_id_or_the_same_project(there: Assessment, same: bool) -> None:
    """At one service; what is not known is not the same."""
    assert HERE.same(there) is same
    assert there.same(HERE) is same
    assert (cause(earlier(there)) is Cause.PROBLEM) is same


@pytest.mark.parametrize(
    ("mine", "theirs", "same"),
    [
        ((None, "Two sum"), (None, "Two sum"), True),
        ((None, "Two sum"), (42, "Two sum"), True),
        ((None, "Two sum"), (42, None), False),
        ((42, "Two sum"), (43, "Two sum"), False),
        ((None, None), (None, None), False),
    ],
)
def test_a_title_stands_for_an_id_that_is_not_known_yet(
    mine: tuple[int | None, str | None], theirs: tuple[int | None, str | None], same: bool
) -> None:
    """Where both ids are known, they alone decide."""
    first, second = (Assessment("s", number, None, title) for number, title in (mine, theirs))
    assert first.same(second) is same


ANOTHER = replace(HERE, problem_id=1, project_id=1)


@pytest.mark.parametrize(
    ("ago", "holds"),
    [
        (timedelta(0), True),
        (MONTH - timedelta(microseconds=1), True),
        (MONTH, False),
        (MONTH + timedelta(days=1), False),
        (timedelta(days=-1), True),  # a clock that went back makes nobody free
    ],
)
def test_a_cooldown_runs_from_the_last_invitation_to_anything(ago: timedelta, holds: bool) -> None:
    """To the second, and the latest invitation counts."""
    found = [earlier(ANOTHER, at=NOON - ago), earlier(ANOTHER, at=NOON - 100 * MONTH)]
    said = held(ADA, Terms(HERE, MONTH), found, [], NOON)
    assert (said is not None) is holds
    if said is not None:
        assert (said.cause, said.until) == (Cause.COOLDOWN, NOON - ago + MONTH)


def test_without_a_cooldown_other_problems_hold_nobody() -> None:
    """And with one, only those at the same service: a rehearsal on this machine reached nobody."""
    assert cause(earlier(ANOTHER)) is None
    assert cause(earlier(ANOTHER), cooldown=MONTH) is Cause.COOLDOWN
    assert cause(earlier(replace(ANOTHER, service="http://127.0.0.1")), cooldown=MONTH) is None


def test_a_cooldown_over_a_leap_day_is_so_many_days() -> None:
    """Thirty days are thirty days, in any month."""
    sent = earlier(ANOTHER, at=datetime(2028, 2, 10, 9, tzinfo=UTC))
    said = held(
        ADA, Terms(HERE, MONTH, timezone="Asia/Tokyo"), [sent], [], datetime(2028, 3, 1, tzinfo=UTC)
    )
    assert said is not None
    assert said.until == datetime(2028, 3, 11, 9, tzinfo=UTC)
    assert said.why.endswith("the cooldown of 30 days ends on 2028-03-11 18:00 (Asia/Tokyo)")


def test_the_strongest_reason_is_told() -> None:
    """A person's word first, then the same problem, then the cooldown. What a person may pass over
    is told as well."""
    typed = entry("rita", "asked us to stop")
    both = [earlier(), earlier(ANOTHER)]
    told = [
        (
            held(ADA, Terms(HERE, MONTH), both, [typed], NOON),
            Cause.LISTED,
            " spring on 2026-11-21",
        ),
        (held(ADA, Terms(HERE, MONTH), both, [], NOON), Cause.PROBLEM, " spring on 2026-11-21"),
        (
            held(ADA, Terms(HERE), [], [entry(file="/a/stop.txt")], NOON),
            Cause.LISTED,
            " (stop.txt)",
        ),
    ]
    for said, strongest, end in told:
        assert said is not None and said.cause is strongest and said.why.endswith(end)


def test_whoever_shares_a_mailbox_sees_which_address_is_listed() -> None:
    """An entry of their own address comes first: it needs no such words."""
    own, other = entry(file="/a/stop.txt", email="notme@gmail.com"), entry(email="not.me@gmail.com")
    doubted = entry(why=SPELLING, email=own.email1)
    for entries, begins in (
        ([other], f"has the mailbox of {other.email1}, on the do-not-"),
        ([other, own], "on the do-not-contact list (stop.txt)"),
        # Nobody has decided about an address that only shares a forgotten mailbox.
        ([doubted, other], f"has the mailbox of {other.email1}, on the do-not-"),
        ([doubted], SPELLING),
    ):
        said = held(own.email_key, Terms(HERE), [], entries, NOON)
        strongest = Cause.FORGOTTEN if entries == [doubted] else Cause.LISTED
        assert said is not None and said.cause is strongest and said.why.startswith(begins)


def test_doubt_is_told_as_doubt() -> None:
    """An unsure invitation, or one under way, holds like one that was sent."""
    said = held(ADA, Terms(HERE), [earlier(sent=False)], [], NOON)
    certain = held(ADA, Terms(HERE), [earlier(sent=False, attempt=8), earlier()], [], NOON)
    assert said is not None and certain is not None
    assert said.why == f"may have been {certain.why}"


@pytest.mark.parametrize(
    ("allowed", "still"),
    [
        (Allowed(7, 3), None),
        (Allowed(7, 2), Cause.LISTED),
        (Allowed(6, 3), Cause.PROBLEM),
        (Allowed(), Cause.LISTED),
    ],
)
def test_who_was_let_through_is_held_anew_by_what_came_later(
    allowed: Allowed, still: Cause | None
) -> None:
    """An allowance covers what a person could see, and nothing behind it."""
    said = held(ADA, Terms(HERE, MONTH), [earlier()], [entry()], NOON, allowed)
    assert (said.cause if said else None) is still


def test_those_who_are_held_are_counted_by_who_must_look() -> None:
    """The list is a decision already; the first date of the others is when waiting helps."""
    first, later = NOON + timedelta(days=1), NOON + timedelta(days=2)
    people = {
        1: Held(Cause.LISTED, ""),
        2: Held(Cause.COOLDOWN, "", later),
        3: Held(Cause.COOLDOWN, "", first),
        4: Held(Cause.PROBLEM, ""),
    }
    assert Holds.of(people) == Holds(1, 3, first)
    assert Holds.of(people).number == 4


# -- the claim --------------------------------------------------------------------------------


@pytest.fixture
def small(each_database: str, tmp_path: Path) -> Iterator[Small]:
    small = Small.at(tmp_path, "ada", "bo")
    with small.ledger:
        yield small


def other(small: Small, *names: str, key: str = "b", **asked: object) -> Small:
    """Another campaign of the same ledger, its people added, whoever holds them by now."""
    begun = runs.begin(small.ledger, key, definition(*names, key=key), intent(**asked))
    with small.ledger._transactions.writing() as connection:
        connection.execute(
            update(PEOPLE)
            .where(PEOPLE.c.campaign_id == begun.campaign)
            .values(add_state=Step.DONE, candidate_id=PEOPLE.c.id)
        )
    return Small(small.ledger, begun)


def invite(of: Small, name: str, step: Step | None = Step.DONE) -> bool:
    """Claim an invitation and record what came of it; False where it is not granted."""
    claimed = of.claim(Operation.INVITE, of.rows()[name])
    if claimed is not None and step is not None:
        of.land(Operation.INVITE, claimed, step)
    return claimed is not None


def names_held(of: Small) -> set[str]:
    people = {row: name for name, row in of.rows().items()}
    return {people[row] for row in of.ledger.read(reasons.held_in, of.begun.campaign)}


@pytest.mark.parametrize(
    ("step", "holds"),
    [
        (None, True),  # under way
        (Step.DONE, True),
        (Step.UNSURE, True),
        (Step.REFUSED, False),
        (Step.WAITING, False),
    ],
)
def test_a_claim_is_not_granted_to_somebody_whom_another_campaign_may_have_invited(
    small: Small, step: Step | None, holds: bool
) -> None:
    """Whatever the plan said; and once it is proven that nothing happened, it is granted."""
    small.add_everybody()
    beside = other(small, "ada", "cy")
    assert names_held(beside) == set()
    assert invite(small, "ada", step)
    assert names_held(beside) == ({"ada"} if holds else set())
    assert invite(beside, "ada") is not holds
    assert invite(beside, "cy")


def test_nobody_is_added_who_is_held(small: Small) -> None:
    """The request goes without them; alone, it does not go at all."""
    small.add_everybody()
    invite(small, "ada")
    begun = runs.begin(small.ledger, "b", definition("ada", "cy", key="b"), intent())
    beside = Small(small.ledger, begun)
    ada, cy = beside.rows()["ada"], beside.rows()["cy"]
    assert beside.claim(Operation.ADD, ada) is None
    claimed = beside.claim(Operation.ADD, ada, cy)
    assert claimed is not None and claimed.rows == (cy,)
    assert beside.end_of("ada") == (Step.WAITING, Step.WAITING)


@pytest.mark.parametrize(
    "asked", [{"problem_id": 43}, {"service": "https://other.example.com"}], ids=str
)
def test_another_problem_or_another_service_holds_nobody(
    small: Small, asked: dict[str, object]
) -> None:
    """Unless a cooldown asks for it."""
    small.add_everybody()
    invite(small, "ada")
    assert invite(other(small, "ada", **asked), "ada")


def test_a_cooldown_is_kept_at_the_claim(small: Small) -> None:
    """By the time of the claim itself, whichever day the run began."""
    small.add_everybody()
    invite(small, "ada")
    beside = other(small, "ada", problem_id=43, cooldown=60)
    row = beside.rows()["ada"]
    early = replace(beside.wish(Operation.INVITE, row), at=NOON + timedelta(seconds=59))
    late = replace(early, at=NOON + timedelta(seconds=60))
    assert small.ledger.write_beside(runs.commit, [], [early], small.ledger.gone) == [None]
    assert small.ledger.write_beside(runs.commit, [], [late], small.ledger.gone) != [None]


def test_a_block_counts_from_the_moment_it_is_typed(small: Small) -> None:
    """Also for what a run has already planned; lifted, the same command goes on."""
    small.add_everybody()
    address = {"ada@example.com": "Ada@Example.com"}
    assert small.ledger.write(do_not_contact.block, address, By("rita", "asked")) == {
        "ada@example.com"
    }
    assert small.ledger.write(do_not_contact.block, address, By("rita", "again")) == set()
    assert not invite(small, "ada", None)
    assert invite(small, "bo")
    assert small.ledger.write(do_not_contact.lift, address.keys(), By("rita", "asked back")) == {
        "ada@example.com"
    }
    assert small.ledger.write(do_not_contact.lift, address.keys(), By("rita", "twice")) == set()
    assert invite(small, "ada")


def test_another_address_of_a_mailbox_is_held_by_other_campaigns_alone(small: Small) -> None:
    """In the claims, the run and the plan, for the same problem and in a cooldown."""
    small.add_everybody()
    for name in ("ada", "bo"):
        invite(small, name)
    beside = other(small, "ada+new", "cy", "cy+2")
    assert names_held(beside) == {"ada+new"}
    assert (invite(beside, "ada+new"), invite(beside, "cy"), invite(beside, "cy+2")) == (0, 1, 1)
    cool = other(small, "bo+new", "dee", key="c", problem_id=43, cooldown=60)
    row = cool.rows()["bo+new"]
    early = replace(cool.wish(Operation.INVITE, row), at=NOON + timedelta(seconds=59))
    assert small.ledger.write_beside(runs.commit, [], [early], small.ledger.gone) == [None]
    planned = small.ledger.read(reasons.held_people, None, Terms(HERE), ["ada+y@example.com"])
    why = planned["ada+y@example.com"].why
    assert why.startswith("invited at ada@example.com ")
    allowed = [beside.rows()["ada+new"]], By("rita", "another person")
    small.ledger.write(resending.allow, beside.begun.campaign, *allowed)
    assert invite(beside, "ada+new")


def test_what_an_older_program_writes_beside_an_update_holds_as_well(
    small: Small, tmp_path: Path
) -> None:
    """One that had the ledger open goes on without mailboxes: whoever opens it fills them in."""
    small.add_everybody()
    address = {"ada@example.com": "ada@example.com"}
    small.ledger.write(do_not_contact.block, address, By("rita", "asked"))
    with small.ledger._transactions.writing() as connection:
        for table in (PEOPLE, tables.do_not_contact):
            connection.execute(update(table).values(mailbox=""))
    with Ledger.open(ledger_at(tmp_path)):
        assert names_held(small) == {"ada"}
    assert (invite(small, "ada"), invite(small, "bo")) == (False, True)


def test_a_block_counts_for_every_spelling_of_its_mailbox(small: Small) -> None:
    """In the claims of an add and an invitation, in the plan and the run; until it is lifted."""
    listed = {
        "b.o+old@example.com": "b.o+old@example.com",
        "ada+x@example.com": "Ada+x@Example.com",
    }
    terms, keys = Terms(HERE), ["ada@example.com", "bo@example.com", "ada+y@example.com"]
    assert small.ledger.read(reasons.held_people, small.begun.campaign, terms, keys) == {}
    small.ledger.write(do_not_contact.block, listed, By("rita", "asked"))
    assert names_held(small) == {"ada"}
    planned = small.ledger.read(reasons.held_people, small.begun.campaign, terms, keys)
    assert {"ada@example.com", "ada+y@example.com"} == set(planned)
    ada, bo = small.rows()["ada"], small.rows()["bo"]
    assert small.claim(Operation.ADD, ada) is None
    claimed = small.claim(Operation.ADD, bo)
    small.ledger.write(do_not_contact.lift, listed.keys(), By("rita", "asked back"))
    assert names_held(small) == set()
    small.land(Operation.ADD, claimed, Step.DONE, ids={bo: 7})
    small.land(Operation.ADD, small.claim(Operation.ADD, ada), Step.DONE, ids={ada: 8})
    small.ledger.write(do_not_contact.block, listed, By("rita", "asked again"))
    assert not invite(small, "ada")
    assert not invite(other(small, "ada+z", problem_id=43), "ada+z")
    small.ledger.write(resending.allow, small.begun.campaign, [ada], By("rita", "another person"))
    assert invite(small, "bo") and invite(small, "ada")


@pytest.mark.parametrize(
    ("stored", "listed", "then"),
    [
        ([], ["n.o@gmail.com"], ["n.o@gmail.com"]),
        (
            ["n.o@gmail.com"],
            ["n.o@gmail.com", "no+x@gmail.com"],
            ["n.o@gmail.com", "no+x@gmail.com"],
        ),
        (["n.o@gmail.com"], ["n.o@example.com"], []),
    ],
)
def test_a_file_that_is_not_stored_yet_counts_by_mailbox(
    stored: list[str], listed: list[str], then: list[str]
) -> None:
    """Its entries are those that the ledger will have."""
    file = ListFile("/stop.txt", {key: key.upper() for key in listed})
    entries = file.amend("no@googlemail.com", [entry(file=file.file, email=key) for key in stored])
    assert [one.email_key for one in entries] == then


def test_a_file_of_the_list_is_followed_and_touches_only_its_own(small: Small) -> None:
    """Who is taken out of the file is free again, unless a person typed them as well."""
    small.add_everybody()
    both = {f"{name}@example.com": f"{name}@example.com" for name in ("ada", "bo")}
    small.ledger.write(
        do_not_contact.block, {"bo@example.com": "bo@example.com"}, By("rita", "asked")
    )
    do_not_contact.follow(small.ledger, ListFile("/stop.txt", both))
    assert names_held(small) == {"ada", "bo"}
    do_not_contact.follow(small.ledger, ListFile("/stop.txt", {}))
    assert names_held(small) == {"bo"}
    do_not_contact.follow(small.ledger, ListFile("/stop.txt", both))
    assert names_held(small) == {"ada", "bo"}
    assert len(small.ledger.read(do_not_contact.standing)) == 3


def test_a_resent_invitation_still_counts_for_the_others(small: Small) -> None:
    """While the second one waits, the first one was sent all the same."""
    small.add_everybody()
    invite(small, "ada")
    row = small.rows()["ada"]
    small.ledger.write(resending.resend, small.begun.campaign, [row], By("rita", "went to spam"))
    assert not invite(other(small, "ada"), "ada")
    assert invite(small, "ada")


def test_an_invitation_given_up_in_doubt_still_counts(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Withdrawn, nobody ever said that it did not arrive; sent again, somebody did."""
    small.add_everybody()
    for name in ("ada", "bo"):
        invite(small, name, Step.UNSURE)
    runs.end(small.ledger, small.begun.run, Ending.NEEDS_ATTENTION, None)
    words = {small.rows()["ada"]: Word.WITHDRAW, small.rows()["bo"]: Word.AGAIN}
    doubts = small.ledger.read(settling.find, small.begun.campaign).steps
    verdicts = [Decided(one.attempt, one.row, words[one.row or 0]) for one in doubts]
    later = datetime.now(UTC) + timedelta(days=30)
    monkeypatch.setattr("data.store.clock.now", lambda: later)
    small.ledger.write(settling.settle, small.begun.campaign, verdicts, By("rita", "x"), soon=False)
    assert names_held(other(small, "ada", "bo")) == {"ada"}


def test_let_through_by_name_and_held_anew(small: Small) -> None:
    """An allowance names a person, is recorded, and covers nothing that comes later."""
    small.add_everybody()
    invite(small, "ada")
    beside = other(small, "ada", "cy")
    rows = beside.rows()
    with pytest.raises(NotDecided):
        small.ledger.write(
            resending.allow, beside.begun.campaign, [rows["ada"], rows["cy"]], By("rita", "x")
        )
    assert not invite(beside, "ada")
    small.ledger.write(
        resending.allow, beside.begun.campaign, [rows["ada"]], By("rita", "a second round")
    )
    third = other(small, "ada", key="c")
    small.ledger.write(
        resending.allow, third.begun.campaign, [third.rows()["ada"]], By("rita", "a third round")
    )
    assert invite(beside, "ada")
    assert not invite(third, "ada")  # the second round came after the look


def test_people_whom_the_ledger_does_not_know_yet_are_judged_by_their_address(
    small: Small,
) -> None:
    """A definition is planned before it is taken over; an allowance of its own counts."""
    small.add_everybody()
    invite(small, "ada")
    small.ledger.write(
        do_not_contact.block, {"cy@example.com": "cy@example.com"}, By("rita", "asked")
    )
    keys = [f"{name}@example.com" for name in ("ada", "bo", "cy", *map(str, range(1200)))]
    terms = Terms(Assessment("https://api.example.com", 42))
    found = small.ledger.read(reasons.held_people, None, terms, keys)
    assert {key: one.cause for key, one in found.items()} == {
        "ada@example.com": Cause.PROBLEM,
        "cy@example.com": Cause.LISTED,
    }
    assert set(small.ledger.read(reasons.held_people, small.begun.campaign, terms, keys)) == {
        "cy@example.com"
    }
    beside = other(small, "ada")
    row = beside.rows()["ada"]
    small.ledger.write(resending.allow, beside.begun.campaign, [row], By("rita", "x"))
    assert set(small.ledger.read(reasons.held_people, beside.begun.campaign, terms, keys)) == {
        "cy@example.com"
    }


def test_who_is_not_waiting_is_not_held(small: Small) -> None:
    """Invited, withdrawn or out of the definition: nothing would be sent to them anyway."""
    small.add_everybody()
    invite(small, "ada")
    for name in ("ada", "bo"):
        small.ledger.write(do_not_contact.block, {f"{name}@example.com": name}, By("rita", "asked"))
    assert names_held(small) == {"bo"}
    small.ledger.write_beside(runs.take_over, definition("ada"), intent("two"))
    assert names_held(small) == set()
