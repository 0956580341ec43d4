"""A new field of a candidate: a line in the model carries it everywhere."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CHANGES = (  # the service learns it as well
    ("config/definition.py", '    source: Text = ""\n', '    shoe_size: Text = ""\n'),
    ("sandbox/api.py", "_SHAPES = (", '_CANDIDATE["shoe_size"] = str\n'),
)


@pytest.mark.slow
def test_a_new_field_arrives_everywhere(tmp_path: Path) -> None:
    for name in ("config", "sandbox"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for file, before, line in CHANGES:
        path = tmp_path / file
        path.write_text(path.read_text("utf-8").replace(before, line + before, 1), "utf-8")
    people = "First name,Last name,Email,Shoe size\nAda,Byron,ada@example.org,EU 38\n"
    (tmp_path / "people.csv").write_text(people)
    definition = "campaign: field\nproject: {name: X, timezone: UTC}\nproblem: 42\n"
    (tmp_path / "field.yaml").write_text(definition + "candidates: {file: people.csv}\n")
    record = tmp_path / "record.jsonl"
    environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environment |= {
        "HOME": str(tmp_path),
        "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT))),
        "CAMPAIGN_DATABASE_URL": f"sqlite:///{tmp_path}/ledger.db",
    }

    def campaign(words: str) -> str:
        started = [str(Path(sys.executable).with_name("campaign")), *words.split()]
        ended = subprocess.run(
            started, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    served = [sys.executable, "-m", "sandbox", "--port", "0", "--record", str(record)]
    with subprocess.Popen(
        served, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as service:
        try:
            assert service.stdout is not None
            service.stdout.readline()
            for _ in range(6):
                _, setting = shlex.split(service.stdout.readline())
                environment |= dict([setting.split("=", 1)])
            assert "Shoe size as shoe_size" in campaign("check field.yaml")
            campaign("run field.yaml --yes")
        finally:
            service.terminate()
    added = [e for e in map(json.loads, record.read_text().splitlines()) if e["op"] == "add"]
    assert [row["shoe_size"] for row in added[0]["body"]] == ["EU 38"]
    assert json.loads(campaign("status field --json"))["candidates"][0]["shoe_size"] == "EU 38"
    assert json.loads(campaign("links field --format json"))[0]["shoe_size"] == "EU 38"
    assert "shoe_size: EU 38" in campaign("forget ada@example.org --show")
    campaign("forget ada@example.org --yes")
    assert b"EU 38" not in (tmp_path / "ledger.db").read_bytes()
