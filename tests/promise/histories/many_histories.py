"""Histories by the thousand: `python -m tests.promise.histories.many_histories SEEDS [FIRST]`, on
all cores.

Prints each seed whose history broke the promise, with the command that replays it, and at the
end how many there were and how long it took. One seed alone is told step by step.
"""

import gc
import multiprocessing
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor

from tests.promise.histories.simulation import play
from tests.promise.histories.workshop import workshop

TOLD = 10  # broken histories that are told in full
PIECE = 250  # histories on one ledger file


def replay(seed: int) -> str:
    """Give the command that lets this history happen again."""
    return f"make simulate SEEDS=1 FIRST={seed}"


def broken(seeds: Iterable[int], url: str | None = None) -> tuple[dict[int, str], Counter[str]]:
    """Let these histories happen: what broke, by seed, and how often each situation was met.

    `url` is that of a server's ledger.
    """
    failures: dict[int, str] = {}
    situations: Counter[str] = Counter()
    gc.disable()  # a third of the time would go into looking for garbage
    gc.freeze()  # what has been imported stays; looking through it again takes a fifth of a second
    try:
        with workshop(url) as place:
            for number, seed in enumerate(seeds):
                if number % 20 == 0:
                    gc.collect()
                try:
                    situations += play(place, seed).situations
                except Exception as error:  # noqa: BLE001 - whatever it is, the seed is what counts
                    trace = "".join(traceback.format_exception(error))
                    failures[seed] = f"{trace}\n  again: {replay(seed)}"
    finally:
        gc.unfreeze()
        gc.enable()
    return failures, situations


def tell(seed: int) -> None:
    """Let one history happen and say what came of it."""
    with workshop() as place:
        world = play(place, seed)
        print("\n".join(world.log))
        print(f"seed {seed}: {dict(world.situations)}, digest {world.fingerprint()}")


def main(number: int, first: int) -> int:
    if number == 1:
        tell(first)
        return 0
    began = time.monotonic()
    end = first + number
    pieces = [range(at, min(at + PIECE, end)) for at in range(first, end, PIECE)]
    failures, situations = 0, Counter[str]()
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=fresh) as pool:
        for found, met in pool.map(broken, pieces):
            situations += met
            for seed, what in found.items():
                failures += 1
                print(f"seed {seed}\n{what}" if failures <= TOLD else replay(seed), flush=True)
    for name, times in situations.most_common():
        print(f"{times:9,} {name}")
    seconds = time.monotonic() - began
    print(f"{number:,} histories from seed {first}, {failures} broken, in {seconds:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*(int(word) for word in (*sys.argv[1:], "0")[:2])))
