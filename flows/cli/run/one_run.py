"""One campaign of one file, on its way through `campaign run`."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from config.command_line import command
from config.errors import CampaignError
from flows.cli.main import look_for_garbage
from flows.cli.reading import TypedFile

if TYPE_CHECKING:
    from config.definition.model import Definition
    from config.mistakes import Place
    from data.campaigns.remaining import Remaining
    from flows.engine.temporary_server import TemporaryServer
    from flows.run.ending import Finish


class NotAsAsked(CampaignError):
    """A run would send something else than the person was asked about."""


@dataclass(slots=True)
class OneRun:
    """What is run, as it was typed, and how it came out: an end, an error, or neither yet.

    `definition`, `digest` and `doubtful` (the places of addresses to look at) are of one reading.
    `agreed` is what a person was asked about: at most so many people, of the file as it was read;
    None where nobody was asked. `wrote` is what the service wrote where it gave no
    token or no list of problems.
    """

    typed: TypedFile
    definition: "Definition"
    digest: str = ""
    doubtful: "frozenset[Place]" = frozenset()
    agreed: "Remaining | None" = None
    end: "Finish | None" = None
    error: Exception | None = None
    wrote: str | None = None

    @property
    def key(self) -> str:
        return self.definition.campaign

    def hold_to_it(self, digest: str, left: "Remaining") -> None:
        """Raise NotAsAsked where a run that read `digest` would send more than was agreed."""
        agreed = self.agreed
        if agreed is None:
            return
        then = f"Nothing was sent. To see it as it is now: {command('run', *self.typed.words)}"
        if digest != self.digest:
            raise NotAsAsked(f"{self.key} has changed since you were asked. {then}")
        if left.add > agreed.add or left.invite > agreed.invite:
            raise NotAsAsked(
                f"{self.key} has more people now than you were asked about: {left.add:,} to add "
                f"and {left.invite:,} to invite. {then}"
            )


def through_prefect(
    runs: Iterable[OneRun], prefect: "TemporaryServer", send: Callable[[], Awaitable[None]]
) -> None:
    """Send the runs under one Prefect server; where it fails, that is the error of each of them."""

    async def sent() -> None:
        import flows.campaign  # noqa: F401 - what is imported until now is never garbage

        look_for_garbage()
        prefect.awaited()
        await send()

    try:
        prefect.lead()
        if not prefect.is_led:
            from flows.cli.serve.serve import server_named

            server_named()  # else it would fail in Prefect's words
        asyncio.run(sent())
    except Exception as error:  # noqa: BLE001 - Prefect may fail in ways of its own
        for run in runs:
            if run.end is None and run.error is None:
                run.error = error
