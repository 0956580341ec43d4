"""The Prefect server of a command, which ends with it."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows.prefect_home import open_private, prefect_home

NOBODY_ASKS_IT = """
from flows.server import prefect_server
with prefect_server():
    print("no", flush=True)
"""


def test_a_server_that_nobody_asks_is_not_awaited(tmp_path: Path) -> None:
    """Whoever answers "n" need not wait until it has started."""
    settings = {"PREFECT_HOME": str(tmp_path), "PREFECT_API_URL": ""}
    with (tmp_path / "tables.lock").open("w") as ours:
        fcntl.flock(ours, fcntl.LOCK_EX)  # as long as another one makes its tables, it waits
        command = [sys.executable, "-c", NOBODY_ASKS_IT]
        done = subprocess.run(
            command, env=os.environ | settings, stdout=subprocess.PIPE, timeout=45, check=False
        )
    assert (done.returncode, done.stdout) == (0, b"no\n")


def test_each_ledger_has_a_prefect_of_its_own(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("PREFECT_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    for url in ("sqlite:////x/a.db", "postgresql://me:old@h/x", "postgresql://me:new@h/x"):
        monkeypatch.setenv("CAMPAIGN_DATABASE_URL", url)
        prefect_home()
    assert len([*(tmp_path / "hiring-campaigns").iterdir()]) == 2  # a password makes no ledger


BEGUN = """
from flows.cli import app
from flows.server import prefect_server

def begin(words):
    with prefect_server() as ready:
        ready()

app.run = begin
app.main()
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_nobody_else_reads_prefects_home_whatever_the_umask(umask: int, tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    settings = {"PREFECT_HOME": str(home), "PREFECT_API_URL": ""}
    command = [sys.executable, "-c", BEGUN]
    subprocess.run(command, env=os.environ | settings, umask=umask, check=False)
    assert {"login", "server.log", "tables.lock", "up"} < {each.name for each in home.iterdir()}
    modes = {each: each.stat().st_mode & 0o777 for each in (tmp_path / "new").rglob("*")}
    wanted = {each: 0o700 if each.is_dir() else 0o600 for each in modes}
    assert modes == wanted
    assert home.parent.stat().st_mode & 0o777 == 0o700


def test_a_link_in_the_place_of_a_file_of_ours_is_not_followed(tmp_path: Path) -> None:
    planted, elsewhere = tmp_path / "server.log", tmp_path / "elsewhere"
    planted.symlink_to(elsewhere)
    with pytest.raises(OSError, match=r"server\.log"), open(planted, "ab", opener=open_private):
        pass
    assert not elsewhere.exists()


SETTINGS = """
from flows.prefect_home import import_prefect
import_prefect()
from prefect.settings import get_current_settings
server = get_current_settings().server
print(sorted(server.services.db_vacuum.enabled_vacuum_types))
print(server.services.db_vacuum.retention_period.days, server.ui.show_promotional_content)
print(server.concurrency.lease_storage)
print(server.services.scheduler.min_scheduled_time)
"""


def test_a_server_of_ours_cleans_up_behind_itself_and_advertises_nothing() -> None:
    asked = subprocess.run([sys.executable, "-c", SETTINGS], capture_output=True, check=True)
    vacuumed, shown, leases, planned = asked.stdout.decode().splitlines()
    assert vacuumed == "['events', 'flow_runs', 'orphans']"
    assert shown == "90 False"
    assert leases.endswith(".filesystem")  # a run keeps its place when the server begins anew
    assert planned == "0:10:00"
