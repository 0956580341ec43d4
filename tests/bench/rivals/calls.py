"""The service's calls (interface 4) as every rival makes them, in words of httpx's `request`."""

import asyncio
import csv
import os
from collections.abc import Awaitable, Callable
from typing import Any

CHUNK = 100  # people in one request, as `campaign` has it
Call = dict[str, Any]

SETTINGS: dict[str, Any] = {
    "base_url": os.environ["ASSESSMENT_BASE_URL"],
    "headers": {"Content-Type": "application/json"},
    "timeout": 60,
    "trust_env": False,
}
TOKEN: Call = {
    "method": "POST",
    "url": os.environ["ASSESSMENT_AUTH_URL"] + "/oauth/token",
    "json": {
        "grant_type": "client_credentials",
        "client_id": os.environ["ASSESSMENT_CLIENT_ID"],
        "client_secret": os.environ["ASSESSMENT_CLIENT_SECRET"],
        "audience": os.environ["ASSESSMENT_AUDIENCE"],
    },
}
PROBLEMS: Call = {"method": "GET", "url": "/api/problems"}
PROJECT: Call = {
    "method": "POST",
    "url": "/api/projects",
    "json": {
        "name": "Engineers",
        "description": "",
        "state": "open",
        "starttime": "Oct 1, 2026 9:00 am",
        "endtime": "Oct 14, 2026 6:00 pm",
    },
}


def problem(project: int) -> Call:
    url = f"/api/projects/{project}/problems"
    return {"method": "POST", "url": url, "json": {"problemid": 42}}


def add(project: int, rows: list[dict[str, Any]]) -> Call:
    return {"method": "POST", "url": f"/api/projects/{project}/candidates", "json": rows}


def invite(project: int, candidate: int) -> Call:
    return {"method": "POST", "url": f"/api/projects/{project}/candidates/{candidate}/invite"}


def bearer(token: dict[str, Any]) -> dict[str, str]:
    """The header for every call after the first."""
    return {"Authorization": f"Bearer {token['access_token']}"}


def chunks(file: str) -> list[list[dict[str, Any]]]:
    """Read people from a CSV, as so many of them are sent in one request."""
    with open(file, encoding="utf-8", newline="") as table:  # noqa: PTH123 - as people write it
        rows = [row | {"source": "", "notes": "", "stage_id": 1} for row in csv.DictReader(table)]
    return [rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK)]


def ids(added: list[dict[str, Any]]) -> list[int]:
    return [row["candidate_id"] for row in added]


async def send(ask: Callable[[Call], Awaitable[Any]], file: str, in_flight: int) -> None:
    """A campaign as a bare loop sends it; `ask` answers what the service did, read as JSON."""
    await ask(PROBLEMS)
    project = (await ask(PROJECT))["id"]
    await ask(problem(project))
    everybody: list[int] = []
    for chunk in chunks(file):
        everybody += ids(await ask(add(project, chunk)))
    left = iter(everybody)

    async def one_after_another() -> None:
        for candidate in left:
            await ask(invite(project, candidate))

    await asyncio.gather(*(one_after_another() for _ in range(in_flight)))
