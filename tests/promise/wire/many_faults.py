"""Faulted requests by the hundred thousand: `python -m tests.promise.wire.many_faults REQUESTS
[FIRST]`.

On all cores, until that many requests met a fault: one seed is a campaign and two hundred requests
by themselves. Prints how many there were, by kind, and each seed that broke the promise, with the
command that replays it.
"""

import asyncio
import gc
import multiprocessing
import os
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

import pytest

from tasks.service.auth import Tokens
from tests.promise.histories.workshop import Workshop, workshop
from tests.promise.wire import faulted_calls, faulted_campaigns
from tests.promise.wire.tally import Tally

PIECE = 10  # seeds on one ledger file
SOME = 10  # broken seeds that are told in full


@contextmanager
def place() -> Iterator[Workshop]:
    """A workshop in which tokens expire by the clock of the world."""
    with workshop() as here, pytest.MonkeyPatch.context() as patch:
        defaults = Tokens.__init__.__kwdefaults__
        assert defaults
        patch.setitem(defaults, "clock", lambda: asyncio.get_running_loop().time())
        patch.setattr("os.fsync", lambda _: None)  # power cuts have tests of their own
        gc.disable()  # a third of the time would go into looking for garbage
        try:
            yield here
        finally:
            gc.enable()


def several(seeds: Iterable[int]) -> Tally:
    """Let the campaigns and the calls of these seeds happen, one after the other."""
    together = Tally()
    with place() as here:
        for seed in seeds:
            for happens in (faulted_calls.play, faulted_campaigns.play):
                try:
                    together.add(happens(here, seed))
                except Exception as error:  # noqa: BLE001 - whatever it is, the seed is what counts
                    what = "".join(traceback.format_exception(error))
                    together.broken[seed] = f"{what}\n  again: make faults REQUESTS=1 FIRST={seed}"
            if seed % 10 == 9:
                gc.collect()
    return together


def until(wanted: int, first: int) -> Tally:
    """Go on, on all cores, until so many requests met a fault."""
    together = Tally()
    cores = os.cpu_count() or 1
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(cores, mp_context=fresh) as pool:
        while together.faults < wanted and len(together.broken) < 10 * SOME:
            starts = range(first, first + 4 * cores * PIECE, PIECE)
            for tally in pool.map(several, [range(at, at + PIECE) for at in starts]):
                for seed, what in list(tally.broken.items())[:SOME]:
                    print(f"seed {seed}\n{what}", flush=True)
                together.add(tally)
            first = starts.stop
            print(f"{together.faults:,} faulted, {len(together.broken)} broken", flush=True)
    return together


def main(wanted: int, first: int) -> int:
    """Say what came of it, by kind of fault; exit code 1 where a promise broke."""
    began = time.monotonic()
    tally = several([first]) if wanted == 1 else until(wanted, first)
    if wanted == 1:
        print(*tally.broken.values())
    for kind, number in sorted(tally.kinds.items(), key=lambda each: -each[1]):
        print(f"{number:9,} {kind}")
    print(
        f"{tally.requests:,} requests, {tally.faults:,} of them with a fault: {tally.alone:,} by"
        f" themselves, the others in {tally.campaigns:,} campaigns of {tally.runs:,} runs;"
        f" {tally.unsure:,} requests in doubt, {tally.settled:,} settled;"
        f" {len(tally.broken)} broken; {time.monotonic() - began:.0f} s"
    )
    return 1 if tally.broken else 0


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:]] or [100_000]
    sys.exit(main(numbers[0], numbers[1] if len(numbers) > 1 else 0))
