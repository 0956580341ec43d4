"""The `campaign` command, which says where it is with each invitation. WORDS as after `campaign`.

Nothing but four moments is added to the program, from outside: a claim on its way to the group
commit, the service's call before and after, and the commit that holds an outcome. `sent` and `done`
are seen by the service alone.
"""

import sys
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from sqlalchemy import Connection, select

from data.sending.claims import Claim
from data.sending.group_commit import GroupCommit
from data.sending.outcomes import Outcome
from data.store.ledger import Ledger
from data.store.states import Operation
from data.store.tables import candidate
from tasks.sending.sender import Order, Sender
from tasks.service.client import Service
from tests.matrix.moments import Moment, reached

_invited: ContextVar[str | None] = ContextVar("invited", default=None)


def email_of(ledger: Ledger, row: int) -> str:
    def look(connection: Connection) -> Any:
        return connection.execute(
            select(candidate.c.email1).where(candidate.c.id == row)
        ).scalar_one()

    return str(ledger.read(look))


def watch() -> None:
    """Make the sender of this process say where it is."""
    send, claim = Sender._claim_send_record, GroupCommit.claim
    call, commit = Service.call, GroupCommit._commit

    async def watched_send(self: Sender, order: Order) -> Any:
        invites = order.operation is Operation.INVITE
        ledger = self._group_commit._ledger
        _invited.set(email_of(ledger, order.rows[0]) if invites else None)
        return await send(self, order)

    async def watched_claim(self: GroupCommit, wish: Claim) -> Any:
        if (email := _invited.get()) is not None:
            reached(Moment.BEFORE, email)
        return await claim(self, wish)

    async def watched_call(self: Service, *given: Any, **more: Any) -> Any:
        email = _invited.get()
        if email is None:
            return await call(self, *given, **more)
        reached(Moment.CLAIMED, email)
        seen = await call(self, *given, **more)
        reached(Moment.ANSWERED, email)
        return seen

    async def watched_commit(self: GroupCommit, outcomes: list[Outcome], wishes: Any) -> Any:
        granted = await commit(self, outcomes, wishes)
        for email in _emails(self._ledger, outcomes):
            reached(Moment.RECORDED, email)
        return granted

    Sender._claim_send_record = watched_send  # type: ignore[method-assign]
    GroupCommit.claim = watched_claim  # type: ignore[method-assign]
    Service.call = watched_call  # type: ignore[method-assign]
    GroupCommit._commit = watched_commit  # type: ignore[method-assign]


def _emails(ledger: Ledger, outcomes: Sequence[Outcome]) -> list[str]:
    rows = [row for each in outcomes if each.operation is Operation.INVITE for row in each.rows]
    return [email_of(ledger, row) for row in rows]


if __name__ == "__main__":
    from flows.cli.main import main

    watch()
    sys.exit(main())
