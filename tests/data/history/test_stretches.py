"""Thousands of requests are summed up by wave, and no count is lost on the way."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.timetable.waves import Waves
from data.history.events import Decided, Event, Request, RunBegan, Wave
from data.history.stretches import FEW, summed_up, wave_numbers, waves
from data.store.states import AttemptState, Operation, Word
from tests.support.ledgers.small_ledger import NOON

DONE, REFUSED, NOT_SENT = AttemptState.DONE, AttemptState.REFUSED, AttemptState.NOT_SENT


def request(
    number: int,
    *people: int,
    came_to: AttemptState = DONE,
    run: int = 1,
    operation: Operation = Operation.INVITE,
) -> Request:
    at = NOON + timedelta(seconds=number)
    return Request(
        at=at,
        number=number,
        run=run,
        operation=operation,
        people=people,
        carried=len(people),
        generation=1,
        came_to=came_to,
        settled=False,
        ended_at=at,
        phase=3,
        status=200,
        evidence=None if came_to is DONE else str(came_to),
    )


def invitations(number: int) -> list[Request]:
    return [request(row, row) for row in range(1, number + 1)]


@pytest.mark.parametrize(
    ("number", "sizes"),
    [(1, [1]), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])],
)
def test_a_wave_is_a_hundred_invitations(number: int, sizes: list[int]) -> None:
    """As many as a run sends between two looks at whether somebody wants it to stop."""
    assert [wave.people for wave in waves(invitations(number), {})] == sizes


def test_a_second_try_belongs_to_the_wave_of_the_first() -> None:
    """Whoever came to nothing and then was invited is one person, who is invited."""
    some = [*invitations(99), request(100, 100, came_to=NOT_SENT), request(101, 101)]
    first, second = waves([*some, request(102, 100)], {})
    assert (first.people, first.requests, first.came_to) == (100, 101, {DONE: 100})
    assert first.reasons == {(NOT_SENT, "not_sent"): 1}
    assert (second.people, second.requests) == (1, 1)


def test_people_of_a_request_that_was_halved_are_counted_once() -> None:
    """A hundred refused as one, then added by halves, are a hundred added."""
    adds = [
        request(number, *people, came_to=came_to, operation=Operation.ADD)
        for number, (people, came_to) in enumerate(
            [
                (range(1, 101), REFUSED),
                (range(1, 51), DONE),
                (range(51, 101), REFUSED),
                (range(51, 100), DONE),
                ((100,), REFUSED),
            ]
        )
    ]
    [wave] = waves(adds, {})
    assert (wave.people, wave.came_to) == (100, {DONE: 99, REFUSED: 1})


def test_the_waves_of_a_definition_are_told_as_they_are() -> None:
    """A pilot, then 5, then 50, then the rest by hundreds; one more invitation is of no wave."""
    pilot, *others = invitations(200)
    numbers = wave_numbers([pilot, *others], Waves((5, 50)), pilots={1})
    told = waves([pilot, *others], numbers)
    assert [(wave.number, wave.people) for wave in told] == [
        (0, 1),
        (1, 5),
        (2, 50),
        (3, 100),
        (3, 44),
    ]
    [again] = waves([replace(others[0], generation=2, run=2)], numbers)
    assert again.number is None
    assert waves(others, wave_numbers(others, None, {1}))[0].number == 1
    earlier, *others = others
    numbers = wave_numbers([pilot, earlier, *others], Waves((5, 50)), pilots={1, 2})
    assert [numbers[row] for row in (1, 2, 3, 7, 8)] == [0, 0, 1, 1, 2]


def test_a_few_requests_are_told_one_by_one() -> None:
    """A small campaign is told to the request; a long one keeps its runs and loses no order."""
    few: Sequence[Event] = [RunBegan(NOON, 1, "host", None), *invitations(FEW)]
    assert summed_up(few, {}) == few
    many = summed_up([RunBegan(NOON, 1, "host", None), *invitations(FEW + 1)], {})
    assert [type(event) for event in many] == [RunBegan, Wave]


def test_the_same_verdict_for_many_at_once_is_one_line() -> None:
    """Who settled fifty in bulk did one thing; an id is one person's own."""

    def verdict(row: int, word: Word, value: str | None = None) -> Decided:
        return Decided(NOON, 1, word, value, Operation.ADD, (row,), "rita", "looked")

    told = summed_up(
        [
            verdict(1, Word.AGAIN),
            verdict(2, Word.AGAIN),
            verdict(3, Word.ID, "5003"),
            verdict(4, Word.ID, "5004"),
            verdict(5, Word.WITHDRAW),
        ],
        {},
    )
    assert [one.people for one in told if isinstance(one, Decided)] == [(1, 2), (3,), (4,), (5,)]


@given(
    st.lists(
        st.tuples(
            st.integers(1, 400),
            st.sampled_from([Operation.ADD, Operation.INVITE]),
            st.integers(1, 3),
            st.sampled_from(list(AttemptState)),
        ),
        max_size=300,
    )
)
def test_no_request_is_lost_and_none_is_counted_twice(
    drawn: list[tuple[int, Operation, int, AttemptState]],
) -> None:
    """Whatever the order, waves and single requests together are all there was."""
    some = [
        request(number, row, came_to=came_to, run=run, operation=operation)
        for number, (row, operation, run, came_to) in enumerate(drawn)
    ]
    told = summed_up(some, {})
    summed = [one for one in told if isinstance(one, Wave)]
    single = [one for one in told if isinstance(one, Request)]
    assert sum(one.requests for one in summed) + len(single) == len(some)
    last = {(one.run, one.operation, one.people): one.came_to for one in some}
    kinds = {(one.run, one.operation) for one in summed}
    counted: Counter[AttemptState] = Counter()
    for one in summed:
        counted.update(one.came_to)
    assert counted == Counter(
        came_to for (run, operation, _), came_to in last.items() if (run, operation) in kinds
    )
    assert [one.at for one in told] == sorted(one.at for one in told)
