"""Commands start without what they do not need, seen in real processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from data.store.ledger import Ledger

pytestmark = pytest.mark.journey
DEFINITION = """\
campaign: backend-2026
project: {name: Backend engineer}
problem: 42
candidates: [{first_name: Ada, last_name: Lovelace, email1: ada@example.com}]
"""

# Runs a command as its entry point does, then says on the last line of stderr what was imported.
WATCHED = """\
import atexit, sys
names = lambda: {name.partition(".")[0] for name in sys.modules}
atexit.register(lambda: print(" ".join(names()), file=sys.__stderr__))
from flows.cli.main import main
main()
"""

HEAVY = {"prefect", "pandas", "numpy", "openpyxl"}
# The command line itself shows help; only commands read files and ledgers.
LATE = HEAVY | {"sqlmodel", "sqlalchemy", "pydantic", "ruamel", "httpx", "sandbox", "xlsxwriter"}


def imported(folder: Path, *words: str) -> set[str]:
    """Type a command in a process of its own; answers the packages it imported."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "CAMPAIGN_DATABASE_URL": f"sqlite:///{folder}/ledger.db",
        "CAMPAIGN_OUTPUT_DIR": str(folder / "out"),
    }
    ended = subprocess.run(
        [sys.executable, "-c", WATCHED, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode in (0, 2), ended.stderr
    assert "Traceback" not in ended.stderr
    return set(ended.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("words", "unneeded"),
    [
        (("--help",), LATE),
        (("--version",), LATE),
        (("check", "--help"), LATE - {"pydantic"}),  # typer's own, to read arguments
        (("check", "hiring.yaml"), HEAVY | {"sqlmodel", "sqlalchemy", "httpx", "sandbox"}),
        (("status",), HEAVY | {"httpx", "sandbox"}),
        (("links", "backend-2026"), HEAVY | {"httpx", "sandbox", "xlsxwriter", "jinja2"}),
        (("plan", "hiring.yaml"), HEAVY | {"sandbox"}),
        (("history", "backend-2026"), HEAVY | {"httpx", "sandbox", "xlsxwriter", "jinja2"}),
        (("rehearse", "hiring.yaml"), HEAVY),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_imports_only_what_it_needs(
    tmp_path: Path, words: tuple[str, ...], unneeded: set[str]
) -> None:
    """Help, check of a YAML file, status, links and plan import neither Prefect nor pandas."""
    (tmp_path / "hiring.yaml").write_text(DEFINITION)
    Ledger.open(f"sqlite:///{tmp_path}/ledger.db").close()
    found = imported(tmp_path, *words)
    assert "typer" in found  # it did run, and was watched
    assert found & unneeded == set()


def test_a_report_imports_pandas_once_it_draws() -> None:
    """Until then it holds 100,000 people, which are gone when pandas takes its memory."""
    program = "import flows.report.campaign_report, flows.report.page, sys; print(*sys.modules)"
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert set(ended.stdout.split()) & HEAVY == set()


def test_a_ledger_in_a_file_imports_nothing_of_a_server(tmp_path: Path) -> None:
    """SQLAlchemy imports all it knows of PostgreSQL as soon as a table speaks of it."""
    program = (
        "import sys\n"
        "from data.store.ledger import Ledger\n"
        "Ledger.open('sqlite:///ledger.db').close()\n"
        "print(*sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not [name for name in ended.stdout.split() if "postgresql" in name or "psycopg" in name]


# Ends when Prefect's temporary server would be started, and says what was imported until then.
STARTING = """\
import sys
from flows.cli.main import main
from flows.engine import temporary_server
def start(*words, **more):
    print(*{name.partition(".")[0] for name in sys.modules})
    sys.stdout.flush()
    raise SystemExit
temporary_server.start_child = start
main()
"""


@pytest.mark.parametrize("file", ["hiring.yaml", "."])
def test_a_run_starts_its_server_before_it_imports_much(tmp_path: Path, file: str) -> None:
    """Nobody waits twice: the server takes seconds, and the rest is imported meanwhile."""
    (tmp_path / "hiring.yaml").write_text(DEFINITION)
    ended = subprocess.run(
        [sys.executable, "-c", STARTING, "run", file],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    found = set(ended.stdout.split())
    assert "typer" in found, ended.stderr
    assert found & (LATE - {"pydantic"}) == set()
