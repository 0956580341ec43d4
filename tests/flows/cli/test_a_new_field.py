"""A new field of a candidate: a line in the model carries it everywhere."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.promises.support.commands import Campaign

ROOT = Path(__file__).parents[3]
CHANGES = (  # the service learns it as well
    ("config/definition.py", '    source: Text = ""\n', '    shoe_size: Text = ""\n'),
    ("sandbox/api.py", "_SHAPES = (", '_CANDIDATE["shoe_size"] = str\n'),
)


@pytest.mark.slow
def test_a_new_field_arrives_everywhere(campaign: Campaign, tmp_path: Path) -> None:
    for name in ("config", "sandbox"):
        shutil.copytree(ROOT / name, tmp_path / "changed" / name)
    for file, before, line in CHANGES:
        path = tmp_path / "changed" / file
        path.write_text(path.read_text("utf-8").replace(before, line + before, 1), "utf-8")
    campaign.environment["PYTHONPATH"] = os.pathsep.join((str(tmp_path / "changed"), str(ROOT)))
    serves = campaign.start("sandbox", "--port", 0).until_shown("AUDIENCE=")
    settings = re.findall(r"(?m)^export (ASSESSMENT_\w+)=(\S+)$", serves.shown())
    campaign.environment |= dict(settings)
    people = "First name,Last name,Email,Shoe size\nAda,Byron,ada@example.org,EU 38\n"
    (campaign.folder / "people.csv").write_text(people)
    campaign.write(candidates={"file": "people.csv"})
    assert "Shoe size as shoe_size" in campaign("check", "hiring.yaml").out
    assert campaign("run", "hiring.yaml", "--yes").code == 0
    [record] = campaign.outputs.rglob("record.jsonl")
    added = [e for e in map(json.loads, record.read_text().splitlines()) if e["op"] == "add"]
    assert [row["shoe_size"] for row in added[0]["body"]] == ["EU 38"]
    assert campaign.status()["candidates"][0]["shoe_size"] == "EU 38"
    assert campaign("links", "hiring", "--format", "json").json()[0]["shoe_size"] == "EU 38"
    assert "shoe_size: EU 38" in campaign("forget", "ada@example.org", "--show").out
    assert campaign("forget", "ada@example.org", "--yes").code == 0
    assert b"EU 38" not in campaign.ledger.read_bytes()
