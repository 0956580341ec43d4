"""The files by which other programs use this repository: pre-commit, and what runs its checks."""

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.support.documents import BIN, ROOT

GOOD = """campaign: spring
project: {name: Backend engineer}
problem: 42
candidates: [{first_name: Ada, last_name: Lovelace, email1: ada@people.test}]
"""


def read(name: str) -> Any:
    return YAML(typ="safe", pure=True).load(ROOT / name)


@pytest.mark.parametrize(
    ("bad", "code"), [((), 0), (("second.yaml",), 2), (("first.yaml",), 2)], ids=str
)
def test_the_hook_checks_every_file_that_it_is_given(
    tmp_path: Path, bad: tuple[str, ...], code: int
) -> None:
    """pre-commit gives several files at once; one bad file is enough, wherever it stands."""
    [hook] = read(".pre-commit-hooks.yaml")
    names = ["first.yaml", "second.yaml"]
    for name in names:
        key = f"campaign: {Path(name).stem}"
        text = GOOD.replace("campaign: spring", key)
        (tmp_path / name).write_text(text.replace("problem: 42", "") if name in bad else text)
    ended = subprocess.run(
        ["bash", "-c", f'{hook["entry"]} "$@"', "hook", *names],
        cwd=tmp_path,
        env={"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert ended.returncode == code, ended.stderr
    assert ended.stdout.count("OK. Next:") == len(names) - len(bad)


def test_the_runner_does_what_hands_in() -> None:
    """One command, kept in one place; on a Python of each end of what the project takes."""
    job = read(".github/workflows/ci.yml")["jobs"]["ci"]
    assert job["steps"][-1] == {"run": ".ci/run"}
    assert job["strategy"]["matrix"]["python"] == ["3.11", "3.13"]


def test_the_version_is_that_of_the_newest_entry_in_the_changelog() -> None:
    """While changes wait for the next release, the newest that has a date."""
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    released = re.findall(r"^## (\d+\.\d+\.\d+)(?: \(\d{4}-\d{2}-\d{2}\))?$", changelog, re.M)
    assert released[0] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
