"""Settling at the terminal: one question for each doubt, and "leave it" unless told otherwise."""

from typing import TYPE_CHECKING

from data.doubts import WORDS, Decided, Doubt, Word, objections
from flows.cli.doubts import MEANS, look, meaning, reached, sent_at, what
from flows.cli.speech import answer_to, say

if TYPE_CHECKING:
    from data.ledger import Ledger
    from data.tables import Campaign

STOP = "stop"


def ask(ledger: "Ledger", campaign: "Campaign", who: str, why: str | None, *, soon: bool) -> int:
    """Ask about each doubt and record each answer at once; answers how many were settled."""
    doubts = ledger.doubts(campaign.id).steps
    settled = 0
    for number, doubt in enumerate(doubts, start=1):
        say("", f"{number} of {len(doubts)}: {what(doubt)}, sent {sent_at(doubt)}")
        say(f"  {reached(doubt)}: {meaning(doubt)}", f"  {look(doubt.operation, campaign)}")
        for word in WORDS[doubt.operation]:
            shown = "ID" if word is Word.ID else word
            say(f"    {shown:<9} {MEANS[doubt.operation, word].partition(';')[0]}")
        say(f"    {STOP:<9} ask no more")
        answer = _answered(ledger, campaign, doubt, who, why, soon=soon)
        if answer == STOP:
            break
        settled += answer == "settled"
    return settled


def _answered(
    ledger: "Ledger", campaign: "Campaign", doubt: Doubt, who: str, why: str | None, *, soon: bool
) -> str:
    """Ask until there is an answer that can be taken: `settled`, `left` or STOP."""
    from data.ledger import now

    while True:
        typed = answer_to("  Your verdict [leave it]: ")
        if typed is None or typed.casefold() == STOP:
            return STOP
        if typed.casefold() in ("", "leave", "leave it"):
            return "left"
        decided = _decided(doubt, typed.casefold())
        if decided is None:
            say(f"  {typed} is none of these. An empty answer leaves it unsure.")
            continue
        refused = objections(ledger.doubts(campaign.id), [decided], now(), soon=soon)
        if refused:
            say(f"  Not taken: {refused[0]}.")
            continue
        reason = why
        if reason is None and decided.word in (Word.AGAIN, Word.WITHDRAW):
            reason = answer_to("  Why (may be empty): ")
            if reason is None:
                return STOP
        ledger.settle(campaign.id, [decided], who, reason or "", soon=soon)
        return "settled"


def _decided(doubt: Doubt, typed: str) -> Decided | None:
    fitting = WORDS[doubt.operation]
    number = typed.removeprefix("id").strip(" =")
    if Word.ID in fitting and number.isascii() and number.isdigit():
        return Decided(doubt.attempt, doubt.row, Word.ID, int(number))
    if typed in fitting and typed != Word.ID:
        return Decided(doubt.attempt, doubt.row, Word(typed))
    return None
