"""Prefect's temporary server, as a run without a server of its own meets it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.server import Sandbox
from tests.bench.recorded import lost
from tests.prefect_home import Desk
from tests.prefect_tables import furnish

pytestmark = pytest.mark.timeout(600)


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


def test_it_keeps_every_step_and_the_end_of_a_run(tmp_path: Path) -> None:
    """Once the command is back, Prefect's database has all of it, ended as it did."""
    with Sandbox() as service:
        desk = desk_at(tmp_path, service)
        furnish(tmp_path / ".prefect")
        ran = desk.type("run", desk.campaign("crowd", 450))
        assert ran.code == 0, ran.err
        assert ran.err == ""
    assert lost(tmp_path / ".prefect", 450) == []


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


def test_a_server_named_in_a_profile_is_used(tmp_path: Path) -> None:
    """What a person set in Prefect stands: no server is started beside it."""
    profiles = tmp_path / "profiles.toml"
    profiles.write_text(
        'active = "ours"\n[profiles.ours]\nPREFECT_API_URL = "http://127.0.0.1:9/api"\n'
    )
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PREFECT_PROFILES_PATH": str(profiles),
    }
    command = [sys.executable, "-m", "flows.prefect_server"]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert said.stdout == "named\n"
