"""A pilot who was not invited is told apart from one who was, with what to type for each."""

from collections.abc import Callable

import pytest

from data.campaigns import queries
from data.campaigns.send_progress import CONFIRMED
from data.history.history import numbers, story
from data.history.records import read
from data.store.states import Ending
from sandbox.faults.faults import Fault
from tests.support.doubtful_campaign import EMAILS, KEY, DoubtfulCampaign, doubtful

__all__ = ["doubtful"]

PILOT = "me@example.com"
WHY = ("--why", "x")


def _name(doubtful: DoubtfulCampaign, pilot: str = PILOT) -> None:
    kept = doubtful.file.read_text().partition("invites:")[0]
    doubtful.file.write_text(f"{kept}invites: {{pilot: {pilot}}}\n")


def _refused(doubtful: DoubtfulCampaign) -> None:
    doubtful.run(Fault("status", "invite", status=422))


def _not_added(doubtful: DoubtfulCampaign) -> None:
    doubtful.run(Fault("status", "add_candidates", status=422, email=PILOT, count=None))


def _blocked(doubtful: DoubtfulCampaign) -> None:
    doubtful.type("block", PILOT, *WHY)
    doubtful.run()


def _withdrawn(doubtful: DoubtfulCampaign) -> None:
    _refused(doubtful)
    doubtful.type("withdraw", KEY, PILOT, *WHY)


def _withdrawn_and_blocked(doubtful: DoubtfulCampaign) -> None:
    _withdrawn(doubtful)
    doubtful.type("block", PILOT, *WHY)


def _refused_and_blocked(doubtful: DoubtfulCampaign) -> None:
    _refused(doubtful)
    doubtful.type("block", PILOT, *WHY)


def _unsure(doubtful: DoubtfulCampaign) -> None:
    doubtful.run(Fault("lost", "invite"))


def _corrected(doubtful: DoubtfulCampaign) -> None:
    _refused(doubtful)
    doubtful.type("correct", KEY, PILOT, "new@example.com", *WHY)


SETTLED = ("settle", KEY, "--invites", "sent", *WHY)
ADDS = ("settle", KEY, "--candidates", "again", *WHY)
STATES: dict[str, tuple[Callable[[DoubtfulCampaign], None], str, tuple[str, ...], str]] = {
    "refused": (
        _refused,
        "refused",
        ("resend", KEY, PILOT, *WHY, "--yes"),
        "campaign resend",
    ),
    "not added": (_not_added, "refused", ADDS, "--candidates again"),
    "blocked": (_blocked, "pilot is held", ("allow", KEY, PILOT, *WHY), "campaign allow"),
    "withdrawn": (
        _withdrawn,
        "pilot was withdrawn",
        ("resend", KEY, PILOT, *WHY, "--yes"),
        "campaign resend",
    ),
    "withdrawn and blocked": (
        _withdrawn_and_blocked,
        "do-not-contact list",
        ("allow", KEY, PILOT, *WHY),
        "campaign allow",
    ),
    "refused and blocked": (
        _refused_and_blocked,
        "do-not-contact list",
        ("allow", KEY, PILOT, *WHY),
        "campaign allow",
    ),
    "unsure": (_unsure, "unsure", SETTLED, "campaign settle"),
    "corrected": (_corrected, "address was corrected", (), "new address as invites.pilot"),
}


@pytest.mark.parametrize("state", STATES)
def test_a_pilot_who_was_not_invited_is_never_called_sent(
    doubtful: DoubtfulCampaign, state: str
) -> None:
    """Run, plan and `confirm` say what became of the pilot; what they name ends the wait."""
    make, word, typed, step = STATES[state]
    _name(doubtful)
    make(doubtful)
    before = doubtful.emails()
    end = doubtful.run()
    assert end.ending in (Ending.AWAITS_APPROVAL, Ending.NEEDS_ATTENTION)
    told = doubtful.type("confirm", KEY)
    assert told.code == 2
    for words in (str(end.reason), told.err):
        assert ("was sent" in words, "campaign confirm" in words) == (False, False)
        assert (word in words, step in words, PILOT in words) == (True, True, False)
    if state not in ("not added", "blocked"):  # there the plan names the pilot's own step
        assert step in doubtful.type("plan", doubtful.file).out
    assert doubtful.emails() == before
    if typed:
        assert doubtful.type(*typed).code == 0
        if "and blocked" in state:
            assert doubtful.type("resend", KEY, PILOT, *WHY, "--yes").code == 0
    else:
        _name(doubtful, "new@example.com")
    doubtful.run()
    assert doubtful.type("confirm", KEY).code == 0
    doubtful.run()
    assert len(doubtful.emails()) == (3 if state == "unsure" else 4)


def test_another_address_as_the_pilot_gets_an_invitation_and_is_awaited(
    doubtful: DoubtfulCampaign,
) -> None:
    """Both are addresses of yours, with a name that this program gave them: nobody's second one."""
    other = "other@example.com"
    _name(doubtful)
    doubtful.run()
    assert doubtful.emails() == {PILOT: 1}
    _name(doubtful, other)
    assert "held" not in doubtful.type("plan", doubtful.file).out
    end = doubtful.run()
    assert (end.ending, doubtful.emails()) == (Ending.AWAITS_APPROVAL, {PILOT: 1, other: 1})
    assert f"campaign confirm {KEY}" in doubtful.type("status", KEY).out
    assert doubtful.type("confirm", KEY).code == 0
    assert doubtful.run().ending is Ending.COMPLETED
    assert sorted(doubtful.emails().values()) == [1] * 5


def test_a_confirmed_pilot_speaks_for_no_other_address(doubtful: DoubtfulCampaign) -> None:
    """Whoever comes after waits for the new pilot. The old one is not in the first wave."""
    _name(doubtful)
    doubtful.run()
    assert doubtful.type("confirm", KEY).code == 0
    kept = doubtful.file.read_text().partition("invites:")[0]
    rules = "{pilot: other@example.com, waves: [1, rest], between: 1 hour}"
    doubtful.file.write_text(f"{kept}invites: {rules}\n")
    assert doubtful.run().ending is Ending.AWAITS_APPROVAL
    assert sorted(doubtful.emails()) == [PILOT, "other@example.com"]
    assert doubtful.type("confirm", KEY).code == 0
    doubtful.run()
    assert len(doubtful.emails()) == 3
    with doubtful.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        records = ledger.read(read, campaign.id)
    assert sorted(numbers(records, story(records)).values()) == [0, 0, 1]


@pytest.mark.parametrize("typed", [("withdraw", KEY, PILOT), ("correct", KEY, PILOT, "us@x.com")])
def test_a_confirmation_stands_whatever_becomes_of_the_pilot(
    doubtful: DoubtfulCampaign, typed: tuple[str, ...]
) -> None:
    """The next run invites the others, so `confirm` may not say that nobody else is invited."""
    _name(doubtful)
    doubtful.run()
    assert doubtful.type("confirm", KEY, "--by", "Grace").code == 0
    assert doubtful.type(*typed, *WHY).code == 0
    told = doubtful.type("confirm", KEY, "--by", "Alan")
    assert (told.code, "already confirmed by Grace on" in told.out) == (0, True)
    assert f"campaign run {doubtful.file}" in told.out
    assert [who for word, _, who, _ in doubtful.decisions() if word == CONFIRMED] == ["Grace"]
    doubtful.run()
    assert {PILOT, *map(str.lower, EMAILS)} <= set(map(str.lower, doubtful.emails()))


def test_another_spelling_of_the_pilots_mailbox_is_held(doubtful: DoubtfulCampaign) -> None:
    """The same person would be invited twice; what is printed lets a person decide."""
    same = "me+two@example.com"
    _name(doubtful)
    doubtful.run()
    _name(doubtful, same)
    end = doubtful.run()
    assert doubtful.emails() == {PILOT: 1}
    assert "campaign allow" in str(end.reason)
    assert "pilot is held" in doubtful.type("confirm", KEY).err
    assert doubtful.type("allow", KEY, same, *WHY).code == 0
    doubtful.run()
    assert doubtful.emails() == {PILOT: 1, same: 1}
