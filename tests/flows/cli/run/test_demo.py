"""The demo, as a stranger runs it: an empty home, Prefect's own temporary server."""

import email
import os
import re
import shlex
import subprocess
from email import policy
from pathlib import Path

import pytest

from sandbox.server import Sandbox
from tests.support.prefects.prefect_home import CAMPAIGN, Desk
from tests.support.trapped_folder import trapped


# Where another demo takes its port meanwhile, the second one is at a desk of its own.
@pytest.mark.xdist_group("demo")
def test_the_demo_twice_in_an_empty_home(tmp_path: Path) -> None:
    """It ends well, shows seven invitations and seven links, and its second run sends nothing."""
    environment = {
        "PATH": "/usr/bin:/bin",  # no `campaign` there
        "HOME": str(tmp_path / "home"),
        "CAMPAIGN_OUTPUT_DIR": str(tmp_path / "out"),
    }
    (tmp_path / "home").mkdir()
    shown = [
        subprocess.run(
            [CAMPAIGN, "demo"], env=environment, capture_output=True, text=True, check=False
        )
        for _ in range(2)
    ]
    assert [end.returncode for end in shown] == [0, 0], shown[0].stderr + shown[1].stderr
    assert "first run sent 12 requests, the second 0 requests" in shown[0].stdout
    assert "first run sent 0 requests, the second 0 requests" in shown[1].stdout
    assert [end.stderr for end in shown] == ["", ""]
    assert not list((tmp_path / "home").rglob("*")), "something of the demo is among their own"
    for end in shown:
        offered = re.findall(r"\S*campaign (?:new|sandbox|links|run|status|settle) .*", end.stdout)
        assert [line.split()[:2] for line in offered] == [
            [str(CAMPAIGN), "sandbox"],
            [str(CAMPAIGN), "new"],
        ]
        written = subprocess.run(
            shlex.split(offered[1]), env=environment, cwd=tmp_path, check=False
        )
        assert written.returncode == 0
        (tmp_path / "hiring.yaml").unlink()

    [folder] = (tmp_path / "out" / "demo").iterdir()
    letters = [
        email.message_from_bytes(path.read_bytes(), policy=policy.default)
        for path in sorted((folder / "sandbox" / "outbox").glob("*.eml"))
    ]
    assert len({letter["To"] for letter in letters}) == len(letters) == 7
    with Sandbox(folder / "sandbox") as service:
        for person in service.candidates:
            link = f"projectId={person.project_id}&candidateId={person.candidate_id}"
            assert f"{person.email1} " in shown[0].stdout
            assert link in shown[0].stdout
        assert len(service.record.invitations) == 7


@pytest.mark.xdist_group("demo")
def test_the_folder_where_a_command_is_typed_is_never_executed(tmp_path: Path) -> None:
    """Modules with the names of ours and of Prefect's, and Prefect's own file of settings."""
    folder = tmp_path / "theirs"
    executed = trapped(folder)
    (tmp_path / "home").mkdir()
    with Sandbox() as service:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path / "home"),
            "CAMPAIGN_DATABASE_URL": f"sqlite:///{tmp_path / 'ledger.db'}",
            "CAMPAIGN_OUTPUT_DIR": str(tmp_path / "out"),
            **service.environment(),
        }
        desk = Desk(folder, service, environment)
        file = desk.campaign("ours", 2)
        for words in (["check", file], ["plan", file], ["run", file], ["doctor"], ["demo"]):
            end = desk.type(*words)
            assert end.code == 0, end.err + end.out
        assert len(service.record.invitations) == 2
    assert not executed.exists(), executed.read_text()
