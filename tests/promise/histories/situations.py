"""The situations that histories are to meet, and how often at least in so many of them.

A simulation in which nothing goes wrong proves nothing, and one that loses a situation on the way
proves less without a word. The counts are half of those of 2026-11: a change of the product moves
them a little, the loss of a situation far below. `make simulate` prints what was met.
"""

from collections.abc import Mapping

HISTORIES = 2000
LEAST: Mapping[str, int] = {
    "completed": 2350,
    "a program beside another machine of the same name": 1500,
    "needs_attention": 1450,
    "died": 800,
    "a program that dies beside the ledger": 750,
    "stopped": 400,
    "settled": 400,
    "a receipt of a moment ago at a death": 350,
    "a program that stands still beside the ledger": 200,
    "settled meanwhile": 200,
    "no resend": 150,
    "a file that is saved just after it was read": 150,
    "listed": 150,
    "resent": 100,
    "Unreachable": 100,
    "a connection that is refused": 100,
    "NotTheService": 100,
    "a request that is held back: HeldBack": 100,
    "a program that stands still between its claim and its request": 100,
    "a definition that changes while a call is unsure": 100,
    "CredentialsRefused": 90,
    "a disk that fails before a commit is written": 90,
    "an answer that is lost on its way": 90,
    "two runs that send at the same time": 80,
    "a status that says no, without the work": 70,
    "a disk that fails after a commit is written": 70,
    "an answer that is cut off": 70,
    "a request that is lost on its way": 70,
    "corrected": 70,
    "withdrawn by a person": 70,
    "LedgerUnusable": 60,
    "a clock that is set back by a day": 60,
    "taken over": 60,
    "an answer that arrives far too late": 50,
    "a clock that is set forward by a day": 50,
    "an answer that is accepted": 50,
    "a status that proves nothing, without the work": 40,
    "a status that proves nothing, after the work": 40,
    "settled too early": 40,
    "an interrupt amid the work": 40,
    "an answer that is html": 40,
    "a request that arrives far too late": 30,
    "an answer that is no_ids": 30,
    "an answer that is string_ids": 20,
    "a program that dies between its claim and its request": 20,
    "an answer that is bool_ids": 20,
    "an answer that is extra_keys": 20,
    "a program that dies between its request and the answer": 20,
    "an answer that is doubled": 15,
    "a second death before the first was recovered from": 15,
    "a program that dies between an answer and its record": 15,
    "an answer that is shuffled": 15,
    "an answer that is partial": 10,
    "an answer that is lowered": 10,
    "a program that stands still between an answer and its record": 10,
    "an answer that is stranger": 10,
    "a status that says no, after the work": 10,
    "an answer that is reordered": 9,
    "a program that stands still between its request and the answer": 9,
    "a request that arrives after it was sent once more": 2,
}


def too_rare(met: Mapping[str, int], histories: int) -> dict[str, str]:
    """What was met too rarely, and how often.

    Of fewer than `HISTORIES`, where chance has more of a say, half of their share is asked for, and
    nothing of what would then have to be met only once.
    """
    part = 1.0 if histories >= HISTORIES else histories / HISTORIES / 2
    asked = {name: int(least * part) for name, least in LEAST.items()}
    return {
        name: f"{met.get(name, 0)} of at least {least}"
        for name, least in asked.items()
        if met.get(name, 0) < least and (least > 1 or part == 1.0)
    }
