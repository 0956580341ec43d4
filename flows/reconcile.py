"""What `campaign up` does beside Prefect's worker, every few seconds.

This module looks after runs (dead_runs.py), runs new or changed files of the folder, and sends
notices that could not be sent before. If nothing is new, nothing is written.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from prefect.client.orchestration import PrefectClient, get_client
from sqlmodel import col, delete

from config.definition import ORDERS
from config.errors import BadInput
from config.reading import key_of, named_table, read_campaign
from data.store.ledger import Ledger
from data.store.tables import SeenFile, now
from flows.dead_runs import Runs, repair_endings, stops_no_other, tidy
from flows.deployments import deploy, deploy_forms, unschedule
from flows.ending import fingerprint
from flows.folder import KINDS, campaigns_in
from flows.notices import note_mistakes, tell_waiting
from flows.this_run import run_now

EVERY = 5.0  # seconds between two looks
TELLS_AGAIN = 60.0  # seconds until a notice that the address did not take is sent again
JOBS = (deploy_forms, tidy, repair_endings)
Stats = dict[Path, tuple[int, int, int]]


async def reconcile(ledger: Ledger, folder: Path, say: Callable[[str], None]) -> None:
    """Look after runs, the folder and notices, until cancelled."""
    runs, watched = Runs(ledger), Watched(folder, ledger, say)
    complaint, tells_at = "", 0.0
    async with get_client() as client:  # one for all looks: each new client writes a CSRF token
        while True:
            stumbled = ""
            for look in (*JOBS, runs.go_on, watched.run_what_is_new):
                try:
                    await look(client)
                except Exception as error:  # noqa: BLE001 - whatever it is, the next look comes
                    where = (f"({which})" for which in getattr(error, "__notes__", ()))
                    stumbled = " ".join([type(error).__name__, "in", look.__name__, *where])
            if stumbled != complaint:
                say(f"Trying again: {stumbled}" if stumbled else "Everything answers again.")
                complaint = stumbled
            if time.monotonic() >= tells_at and not await tell_waiting(ledger):
                tells_at = time.monotonic() + TELLS_AGAIN
            await asyncio.sleep(EVERY)


class Watched:
    """The watched folder. Definitions are deployed; without a schedule, new content is run."""

    def __init__(self, folder: Path, ledger: Ledger, say: Callable[[str], None]) -> None:
        self._folder, self._ledger, self._say = folder.resolve(), ledger, say
        self._tables: set[Path] = set()  # the tables that definitions read, in any folder
        self._seen: Stats = {}
        self._read: Stats | None = None
        self._keys: dict[object, str] = {}  # of workbooks, as they were last seen

    async def run_what_is_new(self, client: PrefectClient) -> None:
        """Read the folder again if files have changed, and are at rest between two looks.

        An error in one file is raised after the other files had their turn.
        """
        before, self._seen = self._seen, await asyncio.to_thread(self._stats)
        moved = [file.name for file, _ in before.items() ^ self._seen.items()]
        # A table of orders is replaced in one step, and may never rest: it is read at once.
        if self._seen == self._read or not all(name.endswith(ORDERS) for name in moved):
            return
        found = await asyncio.to_thread(campaigns_in, self._folder, self._key_of)
        if gone := {*(self._read or ())} - {*self._seen}:  # put back as they are, they run again
            with self._ledger.writing() as session:
                session.exec(delete(SeenFile).where(col(SeenFile.path).in_(map(str, gone))))
        keys: dict[Path, str | None] = dict.fromkeys(self._seen)
        failed: list[Exception] = []
        for mistake in note_mistakes(self._ledger, self._folder, found.mistakes):
            self._say(str(mistake))
        for file in found.files:
            with stops_no_other(file.name, failed):
                keys[file] = await self._run_if_new(client, file)
        self._tables = {table for file in found.files if (table := named_table(file)) is not None}
        await unschedule(client, self._folder, keys)
        if failed:
            raise failed[0]
        self._read = self._seen

    async def _run_if_new(self, client: PrefectClient, file: Path) -> str | None:
        """Deploy a definition; if it has no schedule, run new content. Returns its key, or None."""
        key, scheduled = None, False
        try:
            campaign = await asyncio.to_thread(read_campaign, file)
        except Exception as error:  # noqa: BLE001 - the file's run says why; other files go on
            trace = fingerprint(error.mistakes if isinstance(error, BadInput) else [error])
            with suppress(Exception):
                key = key_of(file)
        else:
            key, trace = campaign.definition.campaign, campaign.digest
            scheduled = campaign.definition.schedule is not None
            await deploy(client, file, campaign.definition)
        with self._ledger.reading() as session:
            seen = session.get(SeenFile, str(file))
        is_new = seen is None or seen.trace != trace
        # A definition whose deployment is paused is run when the folder changes after the pause.
        if is_new and (scheduled or await run_now(client, file, key)):
            with self._ledger.writing() as session:
                session.merge(SeenFile(path=str(file), trace=trace, at=now()))
        return key

    def _key_of(self, workbook: Path) -> str:
        """A workbook's key. Reading it takes a process, so it is read when the file has changed."""
        seen = workbook, self._seen.get(workbook)
        if seen not in self._keys:
            self._keys[seen] = key_of(workbook)
        return self._keys[seen]

    def _stats(self) -> Stats:
        """What changes with each file that may be a definition, or is the table of one."""
        may_be_one = (each for each in self._folder.iterdir() if each.suffix.lower() in KINDS)
        stats = {}
        for file in (*may_be_one, *self._tables):
            with suppress(OSError):
                seen = file.stat()
                stats[file] = (seen.st_ctime_ns, seen.st_size, seen.st_ino)
        return stats
