"""The corpora of tests/data as campaigns: each case becomes a definition beside its table.

file = corpora.define(campaign, "lever", "exports/lever-candidates.csv", {"split_name": True})
corpora.sent(service)["lever"]      the people that the service was given, as they were sent
"""

import json
import shutil
from pathlib import Path
from typing import Any

from tests.promises.support.commands import Campaign
from tests.promises.support.service import Service

DATA = Path(__file__).parents[2] / "data"
Case = dict[str, Any]


def lines(name: str) -> list[str]:
    """The lines of a file; what else counts as the end of a line may stand in one."""
    return (DATA / name).read_text("utf-8").rstrip("\n").split("\n")


def cases(corpus: str, *files: str) -> list[Case]:
    """The cases of a corpus, or of some of its files, in order."""
    every = [json.loads(line) for line in lines(f"{corpus}/expected.jsonl")]
    chosen = [case for case in every if not files or case["file"] in files]
    return [{**case, "path": f"{corpus}/{case['file']}"} for case in chosen]


def define(
    campaign: Campaign,
    key: str,
    table: str,
    candidates: dict[str, Any] | None = None,
    **fields: Any,
) -> Path:
    """Write KEY.yaml for a file of the corpora, which is copied into a folder of its own."""
    copy = campaign.folder / key / Path(table).name
    copy.parent.mkdir(exist_ok=True)
    shutil.copy(DATA / table, copy)
    people = {"file": f"{key}/{copy.name}"} | (candidates or {})
    return write(campaign, key, candidates=people, **fields)


def write(campaign: Campaign, key: str, **fields: Any) -> Path:
    """Write KEY.yaml, a field a line; people are added, and invited only if `invites` says so."""
    definition = {
        "campaign": key,
        "project": {"name": key},
        "problem": 42,
        "invites": {"send": False},
    } | fields
    path = campaign.folder / f"{key}.yaml"
    lines = [
        f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in definition.items()
    ]
    path.write_text("".join(lines), "utf-8")
    return path


def sent(service: Service) -> dict[str, list[dict[str, Any]]]:
    """By project name: the rows of all adds that worked, in the order in which they were sent.

    A field that was sent as "" is left out: nobody's table or definition said anything of it.
    """
    names = {
        e["ids"]["project"]: e["body"]["name"] for e in service.entries("create") if e["worked"]
    }
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in names.values()}
    for entry in service.entries("add"):
        if entry["worked"]:
            rows[names[entry["project_id"]]] += [
                {name: value for name, value in row.items() if value != ""} for row in entry["body"]
            ]
    return rows


def wanted(case: Case) -> list[dict[str, Any]]:
    """The rows that the people of a case must be sent as."""
    names = ("first_name", "last_name", "email1")
    return [
        {**dict(zip(names, person[1:4], strict=True)), "stage_id": 1, **dict(*person[4:])}
        for person in case["people"]
    ]


def text(problem: dict[str, Any]) -> str:
    """All that a problem of `check --json` says."""
    return " ".join(str(problem[part]) for part in ("message", "found", "wanted") if problem[part])


def place(problem: dict[str, Any]) -> str:
    """Where it points, as people look it up: hiring.yaml:12:5, people.csv:3, people.xlsx!A2."""
    name = Path(problem["file"]).name
    if problem["sheet"]:
        return f"{name}, {problem['sheet']}!{problem['cell']}"
    column = problem["column"] if name.endswith(".yaml") else None
    return ":".join(str(part) for part in (name, problem["line"], column) if part is not None)
