"""Settling at the terminal: one question for each doubt, and nothing decided without an answer."""

from typing import TYPE_CHECKING

from data.decisions.verdicts import WORDS, Decided, Doubt, NotDecided, objections
from data.store.states import By, Word
from flows.words.doubts import MEANS, look, meaning, reached, sent_at, what, wrote
from flows.words.speech import answer_to, say

if TYPE_CHECKING:
    from data.store.ledger import Ledger
    from data.store.tables import Campaign

QUIT = "quit"
NOW = f"{Word.AGAIN} now"


def ask(ledger: "Ledger", campaign: "Campaign", who: str, why: str | None, *, soon: bool) -> None:
    """Ask about each doubt, and record each answer at once."""
    from data.decisions import settling

    doubts = ledger.read(settling.find, campaign.id).steps
    for number, doubt in enumerate(doubts, start=1):
        say("", f"{number} of {len(doubts)}: {what(doubt)}, sent {sent_at(doubt)}")
        say(f"  {reached(doubt)}: {meaning(doubt)}", *(f"  {line}" for line in wrote([doubt])))
        say(f"  {look(doubt.operation, campaign)}")
        for word in WORDS[doubt.operation]:
            shown = "ID" if word is Word.ID else word
            say(f"    {shown:<9} {MEANS[doubt.operation, word].partition(';')[0]}")
        say(f"    {QUIT:<9} stop here, decide the rest later")
        if not _answered(ledger, campaign, doubt, who, why, soon=soon):
            return


def _answered(
    ledger: "Ledger", campaign: "Campaign", doubt: Doubt, who: str, why: str | None, *, soon: bool
) -> bool:
    """Ask until there is an answer that can be taken; False: the person decides the rest later."""
    from data.decisions import settling
    from data.store.clock import now

    while True:
        typed = answer_to("  Your verdict (Enter: decide later): ")
        if typed is None or typed.casefold() in (QUIT, "stop"):
            return False
        if not typed:
            return True
        at_once = soon or typed.casefold() == NOW
        decided = _decided(doubt, Word.AGAIN if typed.casefold() == NOW else typed.casefold())
        if decided is None:
            say(f"  {typed} is not one of these. Press Enter to decide later.")
            continue
        refused = objections(
            ledger.read(settling.find, campaign.id), [decided], now(), soon=at_once
        )
        if refused:
            # Here you type a word instead of the option --no-wait.
            say(f"  Not accepted: {refused[0].replace('with --no-wait', f'by typing  {NOW}')}.")
            continue
        reason = why
        if reason is None and decided.word in (Word.AGAIN, Word.WITHDRAW):
            reason = answer_to("  Why (optional): ")
            if reason is None:
                return False
        person = By(who, reason or "")
        try:
            ledger.write(settling.settle, campaign.id, [decided], person, soon=at_once)
        except NotDecided as error:  # somebody else was quicker
            say(f"  Not accepted: {error.objections[0]}.")
        return True


def _decided(doubt: Doubt, typed: str) -> Decided | None:
    fitting = WORDS[doubt.operation]
    number = typed.removeprefix("id").strip(" =")
    if Word.ID in fitting and number.isascii() and number.isdigit():
        return Decided(doubt.attempt, doubt.row, Word.ID, int(number))
    if typed in fitting and typed != Word.ID:
        return Decided(doubt.attempt, doubt.row, Word(typed))
    return None
