"""Inviting people in waves (interface 4.6): each request is one email to one person."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from data.sending.claims import Claimed
from data.sending.queue import ToInvite
from data.store.states import Operation
from tasks.sending.sender import Prepared, Sender, Sent
from tasks.service import messages
from tasks.service.verdict import Then


@dataclass(frozen=True, slots=True)
class Invite:
    """An order to let the service send one invitation. `leaves` is called just before it leaves."""

    project_id: int
    person: ToInvite
    leaves: Callable[[ToInvite], None] = lambda _: None
    operation: Operation = Operation.INVITE

    @property
    def rows(self) -> tuple[int, ...]:
        return (self.person.row,)

    def prepare(self, claimed: Claimed) -> Prepared:
        self.leaves(self.person)
        return Prepared(messages.invite(self.project_id, self.person.candidate_id))


@dataclass(frozen=True, slots=True)
class Slots:
    """How many invitations are on the wire at the same time, whichever wave they belong to.

    A wave takes over each slot that the wave before it no longer needs.
    """

    number: int
    free: asyncio.Semaphore

    @classmethod
    def of(cls, number: int) -> "Slots":
        return cls(number, asyncio.Semaphore(number))


async def invite(
    sender: Sender,
    project_id: int,
    wave: Sequence[ToInvite],
    slots: Slots,
    *,
    each: Callable[[Sent], None] = lambda _: None,
    still: Callable[[ToInvite], bool] = lambda _: True,
    half_out: Callable[[], None] = lambda: None,
) -> None:
    """Invite one wave; `each` is called for everyone sent. `still` says whether it is not too late
    for somebody, once a request may leave.

    `half_out` is called once half of the wave has left, so that the next wave can be prepared
    meanwhile: its people wait until nobody in this wave waits for a slot.
    """
    people = deque(wave)
    ashore = {person.row for person in wave}

    def leaves(person: ToInvite) -> None:
        ashore.discard(person.row)
        if len(ashore) <= len(wave) // 2:
            half_out()

    async def invite_one_after_another() -> None:
        async with slots.free:
            while people:  # shared: each person is taken by exactly one
                person = people.popleft()
                order = Invite(project_id, person, leaves)
                in_time = partial(still, person)
                sent = await sender.send(order, in_time, person.refusals, waits=False)
                leaves(person)  # also where nothing was sent
                if sent is None:
                    continue
                if sent.judged.then is Then.PAUSE and sent.status is not None:
                    # Others first, so that nobody is refused more often than necessary.
                    people.append(replace(person, refusals=(*person.refusals, sent.status)))
                else:
                    each(sent)

    async def invite_all() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(slots.number, len(wave))):
                group.create_task(invite_one_after_another())

    await sender.run_to_end(invite_all())
