"""Inviting people in waves (interface 4.6): each request is one email to one person."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from data.claims import Claimed
from data.ledger import ToInvite
from data.states import Operation
from tasks.sending import Prepared, Sender, Sent
from tasks.service import wire


@dataclass(frozen=True, slots=True)
class Invite:
    """Order: have the service send one invitation."""

    project_id: int
    person: ToInvite
    operation: Operation = Operation.INVITE

    @property
    def rows(self) -> tuple[int, ...]:
        return (self.person.row,)

    def prepare(self, claimed: Claimed) -> Prepared:
        return Prepared(wire.invite(self.project_id, self.person.candidate_id))


async def invite(
    sender: Sender,
    project_id: int,
    wave: Sequence[ToInvite],
    *,
    in_flight: int,
    each: Callable[[Sent], None] = lambda _: None,
) -> None:
    """Invite one wave, at most `in_flight` at the same time; `each` hears of everyone sent."""
    people = iter(wave)

    async def invite_one_after_another() -> None:
        for person in people:  # shared: each person is taken by exactly one
            if (sent := await sender.send(Invite(project_id, person))) is not None:
                each(sent)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(in_flight, len(wave))):
            group.create_task(invite_one_after_another())
