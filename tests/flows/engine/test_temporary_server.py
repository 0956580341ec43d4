"""Prefect's temporary server, as a run without a server of its own meets it."""

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from prefect.exceptions import FlowRunWaitTimeout, ObjectNotFound, PrefectException

from flows.engine.login import guarded, made
from sandbox.server import Sandbox
from tasks.shell import in_words
from tests.bench.recorded import lost
from tests.support.prefects.prefect_home import Desk, PrefectServer, kept
from tests.support.prefects.prefect_tables import furnish
from tests.support.session import PATIENCE


def desk_at(folder: Path, service: Sandbox, **more: str) -> Desk:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PREFECT_HOME": str(folder / ".prefect"),
        "CAMPAIGN_DATABASE_URL": f"sqlite:///{folder / 'ledger.db'}",
        "CAMPAIGN_OUTPUT_DIR": str(folder / "out"),
        **service.environment(),
        **more,
    }
    return Desk(folder, service, environment)


@pytest.mark.journey
def test_it_keeps_every_step_and_the_end_of_a_run(tmp_path: Path) -> None:
    """Once the command is back, Prefect's database has all of it, ended as it did."""
    with Sandbox() as service:
        desk = desk_at(tmp_path, service)
        furnish(tmp_path / ".prefect")
        ran = desk.type("run", desk.campaign("crowd", 450))
        assert ran.code == 0, ran.err
        assert ran.err == ""
    assert lost(tmp_path / ".prefect", 450) == []
    with closing(sqlite3.connect(tmp_path / ".prefect" / "prefect.db")) as database:
        # Kinds of blocks are for forms on pages, which it does not have; they take a while.
        assert database.execute("SELECT name FROM block_type").fetchall() == []


@pytest.mark.journey
def test_another_prefect_in_the_same_home_stops_nothing(tmp_path: Path) -> None:
    """A newer version was at work in ~/.prefect: ours has a home of its own."""
    theirs = tmp_path / ".prefect"
    furnish(theirs)
    with closing(sqlite3.connect(theirs / "prefect.db")) as database, database:
        database.execute("UPDATE alembic_version SET version_num = 'f00dfeed0000'")
    before = (theirs / "prefect.db").read_bytes()
    ours = tmp_path / ".local" / "share" / "hiring-campaigns" / "prefect"
    with Sandbox() as service:
        desk = desk_at(tmp_path, service)
        del desk.environment["PREFECT_HOME"]
        ran = desk.type("run", desk.campaign("crowd", 2))
        assert ran.code == 0, ran.err
        stopped = desk.type("run", desk.campaign("crowd", 3), PREFECT_HOME=str(theirs))
        assert (stopped.code, f"PREFECT_HOME={theirs} prefect server" in stopped.err) == (1, True)
    assert (theirs / "prefect.db").read_bytes() == before
    assert stat.S_IMODE(ours.stat().st_mode) == 0o700
    assert lost(ours, 2) == []


@pytest.mark.journey
def test_a_server_that_cannot_start_is_told_in_words(tmp_path: Path) -> None:
    """Nothing is sent, and the person reads what to do instead of a stack trace."""
    nowhere = f"sqlite+aiosqlite:///{tmp_path / 'missing' / 'prefect.db'}"
    with Sandbox() as service:
        desk = desk_at(tmp_path, service, PREFECT_SERVER_DATABASE_CONNECTION_URL=nowhere)
        ran = desk.type("run", desk.campaign("crowd", 2))
        assert ran.code == 1
        assert "prefect server start" in ran.err
        assert "Traceback" not in ran.err + ran.out
        assert service.api_requests() == 0


@pytest.mark.parametrize("kind", [PrefectException, ObjectNotFound, FlowRunWaitTimeout])
def test_what_prefect_could_not_do_is_no_mistake_of_ours(kind: type[Exception]) -> None:
    """A server that is busy with other runs ends one, and is told as that; nothing is quoted."""
    words = in_words(kind(Exception("ada@example.com")))
    assert words.startswith(f"Prefect failed ({kind.__name__})")
    assert "ada@example.com" not in words


@pytest.mark.journey
def test_nobody_but_its_own_run_reaches_it(tmp_path: Path) -> None:
    """Its login is made for it alone; no other host's page or name, and nothing that shows it."""
    furnish(tmp_path / ".prefect")
    login = made()
    environment = guarded(login) | {
        "HOME": str(tmp_path),
        "PREFECT_HOME": str(tmp_path / ".prefect"),
    }
    environment.pop("PREFECT_API_URL", None)
    command = [sys.executable, "-m", "flows.engine.prefect_server"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    api = process.stdout.readline().strip()
    try:
        assert process.stdout.readline() == "answers\n"
        ours = PrefectServer(api, tmp_path / ".prefect", login)
        assert ours.ask("flow_runs") == []
        stranger = PrefectServer(api, tmp_path / ".prefect", made())
        with pytest.raises(httpx.HTTPStatusError, match="401"):
            stranger.ask("flow_runs")
        for header in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {}):
            for method, path in (("GET", "admin/settings"), ("POST", "flow_runs/filter")):
                met = httpx.request(
                    method, f"{api}/{path}", headers=header, json={}, timeout=PATIENCE
                )
                assert met.status_code in (400, 401, 403), met.text
                assert "access-control-allow-origin" not in met.headers
        own = {"Authorization": ours.enter()["Authorization"], "Host": "evil.example"}
        assert httpx.get(f"{api}/admin/version", headers=own, timeout=PATIENCE).status_code == 400
    finally:
        process.terminate()
        process.communicate()
    assert login.encode() not in b"".join(kept(ours).values())


@pytest.mark.journey
@pytest.mark.parametrize("where", ["named", "PREFECT_HOME", "~/.prefect"])
def test_a_server_named_in_a_profile_is_used(tmp_path: Path, where: str) -> None:
    """What a person set in Prefect stands: no server is started beside it."""
    folder = tmp_path / (".prefect" if where == "~/.prefect" else "theirs")
    folder.mkdir()
    profiles = folder / "profiles.toml"
    profiles.write_text(
        'active = "ours"\n[profiles.ours]\nPREFECT_API_URL = "http://127.0.0.1:9/api"\n'
    )
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    if where == "named":
        environment["PREFECT_PROFILES_PATH"] = str(profiles)
    if where == "PREFECT_HOME":
        environment["PREFECT_HOME"] = str(folder)
    code = "from flows.engine.prefect_settings import prepare; prepare(quiet=True);"
    code += "from flows.engine.prefect_server import main; main();"
    code += "from prefect.settings import get_current_settings as now; print(now().home)"
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    ours = tmp_path / ".local" / "share" / "hiring-campaigns" / "prefect"
    assert said.stdout.split() == ["named", str(folder if where == "PREFECT_HOME" else ours)]
