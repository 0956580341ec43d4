"""A folder of its own for each test, and files that count as whole as soon as they are written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from config.definition import PeopleTable
from config.errors import in_order
from config.sheets import files
from config.sheets.people import People, read_people

Read = Callable[..., People]


@pytest.fixture(autouse=True)
def at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test has just written is not waited for."""
    monkeypatch.setattr(files, "REST", 0)


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write a table, read its people as the options of a definition say, with all mistakes."""

    def read_table(table: str | bytes, name: str = "people.csv", **options: Any) -> People:
        data = table if isinstance(table, bytes) else table.encode()
        (tmp_path / name).write_bytes(data)
        people = read_people(PeopleTable.model_validate({"file": name, **options}), tmp_path)
        people.mistakes = in_order(people.mistakes)
        return people

    return read_table


def short(value: object) -> str:
    """The name of a case; the bytes of a workbook differ each time."""
    return "bytes" if isinstance(value, bytes) else str(value)[:30]


def said(people: People, folder: Path) -> list[str]:
    """The mistakes as a person reads them, without the folder."""
    return [str(mistake).replace(f"{folder}/", "") for mistake in people.mistakes]


def sent(people: People) -> list[tuple[str, str, str]]:
    """First name, last name and address of everybody who is read."""
    each = (listed.candidate for listed in people.listed)
    return [(person.first_name, person.last_name, person.email1) for person in each]
