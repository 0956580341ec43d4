"""What is predicted of each contender at each moment, written down before the whole matrix ran.

When it was written, each cell had been tried once or twice, to see that its death is where it is
said to be. What changed then: at `before`, ours leaves the person before unsure.

A program that asks nobody and knows only what it wrote down itself can do one of two things with
a request whose outcome it did not write down: send it again, or not. Sending it again is right
where the service did nothing (`claimed`, `sent`) and wrong where it did (`done`, `answered`);
not sending it again is wrong and right the other way round, unless the program shows the doubt.
"""

from tests.matrix.judging import Key, Outcome
from tests.matrix.moments import Moment

O, U, L, T = Outcome.ONCE, Outcome.UNSURE, Outcome.LOST, Outcome.TWICE  # noqa: E741 - a table's

# before, claimed, sent, done, answered, recorded
_OF_THE_PERSON = {
    "bare":                 (O, O, O, T, T, T),
    "csv-first":            (O, L, L, O, O, O),
    "csv":                  (O, O, O, T, T, O),
    "prefect-retries":      (O, O, O, T, T, T),
    "prefect-cache":        (O, O, O, T, T, O),
    "prefect-transactions": (O, O, O, T, T, O),
    "dbos":                 (O, O, O, T, T, O),
    "procrastinate":        (O, O, O, T, T, O),
    "at-most-once":         (O, U, U, U, U, O),
    "ours":                 (O, U, U, U, U, O),
}  # fmt: skip

# The worst of the two others, whom no request was under way for.
_OF_THE_OTHERS = dict.fromkeys(_OF_THE_PERSON, (O,) * 6) | {
    # Whoever remembers nothing begins with the first person again.
    "bare": (T,) * 6,
    "prefect-retries": (T,) * 6,
    # An outcome is committed together with the next claim. Before that claim the person before is
    # unsure; after it, the person behind is. Often enough: there may be time for a commit each.
    "ours": (U, O, O, O, O, U),
}


def _cells(table: dict[str, tuple[Outcome, ...]]) -> dict[Key, Outcome]:
    return {
        (name, moment): outcome
        for name, row in table.items()
        for moment, outcome in zip(Moment, row, strict=True)
    }


PREDICTED = _cells(_OF_THE_PERSON)
PREDICTED_OTHERS = _cells(_OF_THE_OTHERS)
