"""A person is told once of each situation that needs one, and it is not lost meanwhile."""

import asyncio
import logging
from collections.abc import Iterator

import pytest
from sqlmodel import select

from data.store.lease import lease
from data.store.ledger import Ledger
from data.store.tables import Notice
from flows import notices
from flows.ending import End, Ending
from flows.notices import note_situation, tell_waiting
from tests.promises.support.web import Hook, telling


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hook]:
    with telling() as there:
        monkeypatch.setenv("CAMPAIGN_NOTIFY_URL", there.url)
        yield there


def ends(key: str, end=End.ATTENTION, *met: str, typed: bool = False, over=()) -> None:
    then, met = f"campaign settle {key}", met or ("one",)
    note_situation(Ending(key, end, "1 of 2 invited.", then, None, met, over), typed=typed)


def told(ledger: Ledger) -> bool:
    return asyncio.run(tell_waiting(ledger))


@pytest.mark.parametrize("typed", [False, True])
def test_the_next_situation_is_told_and_one_that_was_over(typed, ledger, hook) -> None:
    for end, situation in (
        (End.ATTENTION, "one"),
        (End.ATTENTION, "two"),
        (End.STOPPED, "one"),
        (End.INTERRUPTED, ""),
        (End.ATTENTION, "one"),  # still the first one
    ):
        ends("a", end, situation)
    assert told(ledger)
    assert len(hook.told) == 2  # a message tells of all that is new
    ends("a", End.ATTENTION, "two", over=(End.STOPPED,))
    ends("a", End.STOPPED), ends("a", End.ATTENTION, "one")
    assert told(ledger)
    assert len(hook.told) == 3  # of what was over, and came back
    ends("ab", End.ATTENTION, "one", "two"), ends("a", End.ATTENTION, "four")
    ends("ab", End.ATTENTION, "two", over=("",))
    ends("a", End.DONE, typed=typed, over=("",))
    ends("a", End.ATTENTION, "typed", typed=True)
    ends("a")
    assert told(ledger)
    assert sorted(text.split(":")[0] for text in hook.told[3:]) == ["a", "ab"]


def test_a_notice_is_told_again_and_again_until_it_was_taken(ledger, hook) -> None:
    hook.refuses = "a:"
    ends("a"), ends("b")
    assert not told(ledger)
    assert "campaign settle b" in hook.told[0]
    assert [text[0] for text in hook.told] == ["b"]  # one that is refused keeps no other back
    hook.refuses = None
    assert told(ledger)
    assert [text[0] for text in hook.told] == ["b", "a"]


@pytest.mark.parametrize(("address", "all_told"), [("http://127.0.0.1:9/x", False), ("", True)])
def test_what_nobody_takes_waits_in_the_ledger(address, all_told, ledger, monkeypatch) -> None:
    """Without an address there is nobody to tell; one that is away is asked again."""
    monkeypatch.setenv("CAMPAIGN_NOTIFY_URL", address)
    ends("a")
    assert told(ledger) == all_told
    with ledger.reading() as session:
        found = [(notice.key, notice.told) for notice in session.exec(select(Notice))]
    assert found == [("a needs attention one", None)]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the plugins of mailboxes
@pytest.mark.parametrize(
    "address",
    ["", "mailto://who:a-secret@127.0.0.1:9?to=the-team@people.test&from=us@people.test"],
    ids=["webhook", "mailbox"],
)
def test_no_log_at_any_level_has_the_address(address, ledger, hook, monkeypatch, caplog) -> None:
    if address:  # of which nobody takes anything
        monkeypatch.setenv("CAMPAIGN_NOTIFY_URL", address)
    caplog.set_level(logging.DEBUG)
    ends("a")
    assert told(ledger) == (not address)
    assert caplog.text
    assert [word for word in ("/hook", "a-secret", "the-team") if word in caplog.text] == []


def test_whoever_comes_while_another_tells_leaves_it_to_them(ledger, hook) -> None:
    ends("a")
    with lease(ledger, notices.TELLING):
        assert not told(ledger)
    assert hook.told == []
