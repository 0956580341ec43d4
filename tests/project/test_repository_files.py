"""The files by which other programs use this repository: pre-commit, make, what runs its checks."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.support.documents import BIN, ROOT

PINNED = "--require-hashes -r .venv/run.lock"
OURS = "--no-deps --no-build-isolation --editable ."
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


@pytest.mark.parametrize(
    ("uv_exits", "asked"),
    [(None, ["pip", "pip"]), (0, ["uv", "uv"]), (1, ["uv", "pip", "uv", "pip"])],
    ids=["no uv", "uv", "a uv that fails"],
)
def test_both_parts_are_installed_by_uv_or_by_pip(
    tmp_path: Path, uv_exits: int | None, asked: list[str]
) -> None:
    """uv does not know pip's settings, so where it fails pip must do all of it."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, code in {"pip": 0, "uv": uv_exits}.items():
        if code is not None:
            tool = tools / name
            tool.write_text(f'#!/bin/sh\n[ "$1" = -c ] || echo {name} "$@" >> asked\nexit {code}\n')
            tool.chmod(0o755)
    for name in ("sed", "touch", "mkdir", "sh", "env"):
        (tools / name).symlink_to(shutil.which(name) or name)
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(tools / "pip")
    subprocess.run(
        [shutil.which("make") or "make", "--silent", f"PYTHON={tools / 'pip'}", ".venv/.ready"],
        cwd=tmp_path,
        env={"PATH": str(tools), "HOME": str(tmp_path)},
        check=True,
    )
    lines = (tmp_path / "asked").read_text().splitlines()
    assert [line.split()[0] for line in lines] == asked
    assert all("--no-compile" in line for line in lines if line.startswith("pip"))
    half = len(lines) // 2
    assert all(line.endswith(PINNED) for line in lines[:half])
    assert all(line.endswith(OURS) for line in lines[half:])


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
