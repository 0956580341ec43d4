"""A definition that is changed while a run of it is under way: the newest version decides."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from data.campaigns import approvals, forgotten
from data.campaigns.approvals import Answer
from data.campaigns.intake import ReadAnew
from data.privacy import forgetting
from data.sending import runs
from data.store.states import By, Ending
from flows.run.order import CHECK_SERVICE
from sandbox.faults.faults import Fault
from tasks.sending.sender import Sender
from tests.support.campaigns import Heard, Office, people
from tests.support.ledgers.small_ledger import Small

APPROVED = "invites: {approval: required}\n"
READ, LOOKED, CREATED = (
    "read the definition",
    CHECK_SERVICE,
    "create the project",
)


class Died(Exception):
    """The end of a run of a test."""


pytestmark = pytest.mark.usefixtures("each_database")


def meanwhile(step: str, act: Callable[[], object]) -> Any:
    """How a run performs its steps, if something else happens just after one of them."""

    async def perform(name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        result = await work()
        if name == step:
            await asyncio.to_thread(act)
        return result

    return perform


@pytest.mark.parametrize(
    ("known", "step"),
    [(False, READ), (False, LOOKED), (False, CREATED), (True, READ), (True, LOOKED)],
)
def test_an_older_version_never_takes_the_place_of_a_newer_one(
    office: Office, known: bool, step: str
) -> None:
    """Who was taken out of the sheet is not invited by a run that had read it before."""
    if known:
        office.run(
            office.write("spring", people("ada", "bob", "cid"), more="invites: {send: false}\n")
        )
    path = office.write("spring", people("ada", "bob"))

    def another_run() -> None:
        office.write("spring", people("ada"))
        assert office.run(path).exit_code == 0

    with suppress(ReadAnew):  # once it has begun, it stops instead
        office.run(path, perform=meanwhile(step, another_run))
    assert office.emails() == {"ada@example.com": 1}
    assert office.run(path).exit_code == 0
    assert office.emails() == {"ada@example.com": 1}


def test_a_change_that_is_undone_between_two_looks_of_a_run_is_seen_by_its_claims(
    office: Office,
) -> None:
    """One person, whose address is edited and edited back: the run had taken the old one for free.

    The definition is the same to the byte again, so only the claim can tell.
    """
    path = office.write("spring", "Bo,B,bo@old.example\n")
    runs_beside = []

    def another_run(email: str) -> None:
        office.write("spring", f"Bo,B,{email}\n")
        with ThreadPoolExecutor(1) as another:
            runs_beside.append(another.submit(office.run, path).result().ending)

    async def perform(name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        if name.startswith("invitations"):
            await asyncio.to_thread(another_run, "bo@new.example")
            await asyncio.to_thread(another_run, "bo@old.example")
        return await work()

    older = office.run(path, perform=perform)
    assert runs_beside == [Ending.COMPLETED, Ending.NEEDS_ATTENTION]  # invited; held
    assert office.emails() == {"bo@new.example": 1}
    assert (older.ending, "Another version of spring was read" in (older.reason or "")) == (
        Ending.STOPPED,
        True,
    )
    assert office.run(path).ending is Ending.NEEDS_ATTENTION
    assert office.emails() == {"bo@new.example": 1}


def test_a_run_that_knows_its_file_does_not_begin_once_there_is_another_version(
    tmp_path: Path,
) -> None:
    """It stores nothing, so it would carry out whatever the ledger has by then."""
    small = Small.at(tmp_path, "ada")
    with small.ledger as ledger:
        runs.begin(ledger, "a", None, None, digest="one")
        with pytest.raises(ReadAnew):
            runs.begin(ledger, "a", None, None, digest="an older one")


def test_a_run_sends_what_was_approved_and_nothing_that_came_later(office: Office) -> None:
    """Another version waits for an approval of its own; its people wait with it."""
    path = office.write("spring", people("ada"), more=APPROVED)

    def approve() -> None:
        office.run(path)
        with office.ledger() as ledger:
            asked, _ = ledger.read(approvals.look, "spring")
            assert asked is not None
            ledger.write(approvals.answer, asked, Answer.APPROVED, By("Mia", ""))

    def another_version() -> None:
        office.write("spring", people("ada", "mallory"), more=APPROVED)
        office.run(path)

    approve()
    office.run(path, perform=meanwhile(CREATED, another_version))
    assert office.emails() == {}
    approve()
    assert office.run(path).exit_code == 0
    assert office.emails() == {"ada@example.com": 1, "mallory@example.com": 1}


def test_the_problem_at_the_service_is_the_one_in_the_ledger(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that had to wait is sent as the newest version says, or not at all.

    The first answer is in the ledger by then: whoever reads before would find the call under way.
    """
    may_leave = Sender._may_leave

    async def once_it_is_recorded(sender: Sender, *what: Any) -> bool:
        await sender._group_commit.flush()
        return await may_leave(sender, *what)

    monkeypatch.setattr(Sender, "_may_leave", once_it_is_recorded)
    office.service.faults.add(Fault("status", "attach_problem", status=429, retry_after="2"))
    path = office.write("spring", people("ada"), problem="42")

    async def dies_before_the_problem(name: str, work: Callable[[], Awaitable[Any]]) -> Any:
        if name == "add the problem":
            raise Died
        return await work()

    def correct(_: str) -> None:
        office.write("spring", people("ada"), problem="61")
        with ThreadPoolExecutor(1) as another, suppress(Died):
            another.submit(office.run, path, perform=dies_before_the_problem).result()

    office.run(path, observer=Heard(on_pause=correct))
    office.run(path)
    [project] = office.service.projects
    assert project.problem_ids == [61]
    assert office.status("spring")["problem_id"] == 61
    assert office.emails() == {"ada@example.com": 1}


def test_who_is_allowed_again_is_found_in_a_file_that_did_not_change(office: Office) -> None:
    """It was stored without them, so it is read once more."""
    by = By("Mia", "asked")
    with office.ledger() as ledger:
        ledger.write(forgetting.forget, {"ada@example.com"}, by)
    path = office.write("spring", people("ada", "grace"))
    office.run(path)
    assert office.emails() == {"grace@example.com": 1}
    with office.ledger() as ledger:
        ledger.write(forgotten.lift, ["ada@example.com"])
    office.run(path)
    assert office.emails() == {"ada@example.com": 1, "grace@example.com": 1}
