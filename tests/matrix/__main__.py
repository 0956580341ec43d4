"""`make matrix`: kill each contender at each moment, and let the service's own record judge.

.venv/bin/python -m tests.matrix [--contenders NAME...] [--moments NAME...] [--deaths N] [--page]

Deaths are kept in out/matrix, a line each, with the records of the service; what is there already
is not done again, so that a whole matrix can be made in parts. Prints a table of all that is there,
and writes it with its picture beside it: with --page to docs, and nothing is killed. The controls
are in every part. Exit code 1 when a control did not do what it must, a record was changed, or too
many programs ended before they could die: then the matrix says nothing.
"""

import argparse
import fcntl
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.matrix import page
from tests.matrix.contenders import BY_NAME, CONTENDERS, ROOT, Contender, standing
from tests.matrix.deaths import Lane, Misplaced, NotReached
from tests.matrix.judging import Death, judge, surprises, void
from tests.matrix.moments import Moment
from tests.matrix.predictions import PREDICTED, PREDICTED_OTHERS
from tests.matrix.service import Changed, verified

LANES = 2 * (os.cpu_count() or 1)  # programs mostly wait for each other
STARTS = 3  # of one death, if the program ends before the moment
TOO_MANY = 20  # deaths that could not be placed: then something is wrong with the harness
OUT = ROOT / "out" / "matrix"
DOCS = ROOT / "docs"
CONTROLS = [each for each in CONTENDERS if each.control]

Job = tuple[Contender, Moment, int]


@dataclass
class Part:
    """What is to be done now; several lanes take from it, and add to the file of deaths."""

    jobs: list[Job]
    file: Path
    done: int = 0
    unplaced: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stopped: bool = False
    began: float = field(default_factory=time.monotonic)

    def next(self) -> Job | None:
        with self.lock:
            if self.stopped or len(self.unplaced) > TOO_MANY or not self.jobs:
                return None
            return self.jobs.pop(0)

    def note(self, death: Death) -> None:
        with self.lock:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(death)) + "\n")
            self.done += 1
            if self.done % 50 == 0:
                minutes = (time.monotonic() - self.began) / 60
                left = minutes * len(self.jobs) / self.done
                print(f"{self.done:5,} done, {minutes:.0f} min; {left:.0f} min to go", flush=True)


def main() -> int:
    """Do what was asked for. Answers the exit code."""
    asked = _arguments().parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    file = OUT / "deaths.jsonl"
    with file.open("a") as alone:
        try:
            fcntl.flock(alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return _no("Another `make matrix` is running here: wait for its end.")
        unplaced = [] if asked.page else _kill_them(asked, file)
    try:
        report = _report(kept(file))
    except Changed as error:
        return _no(f"VOID: {error}")
    _write(report, DOCS if asked.page and not report.void else OUT)
    print(page.in_short(report))
    return 1 if report.void or len(unplaced) > TOO_MANY else 0


def _no(why: str) -> int:
    print(why, file=sys.stderr)
    return 1


def kept(file: Path) -> list[Death]:
    """All deaths that were made so far."""
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    typed = ({"moment": Moment(line["moment"]), "unsure": tuple(line["unsure"])} for line in lines)
    return [Death(**{**line, **more}) for line, more in zip(lines, typed, strict=True)]


def missing(deaths: Sequence[Death], wanted: Iterator[Job]) -> list[Job]:
    """What is asked for and was not done yet."""
    done = {(death.contender, death.moment, death.number) for death in deaths}
    return [job for job in wanted if (job[0].name, *job[1:]) not in done]


def wanted(contenders: Sequence[str], moments: Sequence[Moment], deaths: int) -> Iterator[Job]:
    """Each cell once, then each again: whenever it is stopped, all have had as many."""
    for number in range(1, deaths + 1):
        for contender in CONTENDERS:
            # The controls have all moments: at one of them alone they might have nothing to show.
            for moment in Moment:
                asked = contender.name in contenders and moment in moments
                if contender.control or asked:
                    yield contender, moment, number


def _kill_them(asked: argparse.Namespace, file: Path) -> list[str]:
    """Make the deaths of this part; answers those that could not be placed."""
    part = Part(missing(kept(file), wanted(asked.contenders, asked.moments, asked.deaths)), file)
    contenders = {contender.name: contender for contender, _, _ in part.jobs}.values()
    # A Unix socket's path is short.
    with tempfile.TemporaryDirectory(prefix="matrix-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)  # root's PostgreSQL runs as somebody else
        with standing(contenders, folder) as environment, ThreadPoolExecutor(LANES) as pool:
            lanes = [
                pool.submit(_run_lane, part, folder / f"lane{n}", environment)
                for n in range(LANES if part.jobs else 0)
            ]
            try:
                for each in lanes:
                    each.result()
            except KeyboardInterrupt:
                print("Stopped: what was done is kept.", file=sys.stderr)
            finally:
                part.stopped = True
    return part.unplaced


def _run_lane(part: Part, folder: Path, environment: dict[str, str]) -> None:
    record = OUT / f"record-{time.time_ns():x}-{folder.name}.jsonl"
    with Lane(folder, record, environment) as lane:
        while (job := part.next()) is not None:
            _place(part, lane, *job)


def _place(part: Part, lane: Lane, contender: Contender, moment: Moment, number: int) -> None:
    """Make one death. A start that ended before it could die is made again, and counted.

    What goes wrong after the death is never made again: that is what is tried here.
    """
    why = ""
    for again in range(STARTS):
        try:
            part.note(lane.die(contender, moment, number, again))
            return
        except NotReached as error:
            why = str(error)
        except Misplaced as error:
            why = str(error)
            case = f"{contender.name}-{moment}-{number}.{again}"
            part.note(Death(case, contender.name, moment, number, again=again, failed=why))
            break
    part.unplaced.append(why)
    print(f"NOT PLACED: {why}", file=sys.stderr)


def _report(deaths: Sequence[Death]) -> page.Report:
    """What all deaths so far say. Raises Changed if a record is not the one that was written."""
    heads: dict[str, set[str]] = {}
    for death in deaths:
        if not death.failed:
            heads.setdefault(death.record, set()).add(death.head)
    records = {name: verified(OUT / name, heads[name]) for name in heads}
    cells = judge(deaths, records)
    return page.Report(
        cells,
        wrong=surprises(cells, PREDICTED, PREDICTED_OTHERS),
        void=void(cells, PREDICTED, {each.name for each in CONTROLS}),
        days=sorted({death.day for death in deaths if death.day}),
        repeated=sum(death.again for death in deaths),
        lanes=LANES,
    )


def _write(report: page.Report, into: Path) -> None:
    (into / "matrix.md").write_text(page.page(report), "utf-8")
    (into / "matrix.svg").write_text(page.picture(report), "utf-8")


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("make matrix", description=__doc__)
    parser.add_argument("--contenders", nargs="+", choices=BY_NAME, default=[*BY_NAME])
    parser.add_argument("--moments", nargs="+", choices=[*Moment], default=[*Moment])
    parser.add_argument(
        "--deaths", type=int, default=page.WHOLE, help="in each cell (default: 100)"
    )
    parser.add_argument("--page", action="store_true", help="kill nobody; make the page in docs")
    return parser


if __name__ == "__main__":
    sys.exit(main())
