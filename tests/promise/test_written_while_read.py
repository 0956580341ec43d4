"""Files that are written while they are read: no half of one is ever taken for the whole."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from random import Random

import openpyxl
import pytest

from config.errors import BadInput, CampaignError
from config.mistakes import Place
from config.reading import sources
from config.reading.reading import read_campaigns
from config.tables import file_bytes as reader
from config.tables.file_bytes import WRITTEN_NOW, file_bytes
from sandbox.server import Sandbox
from tasks.plan.target import Rewritten
from tests.support.campaigns import Office

PEOPLE = 8
RUNS = 60  # beside which files are saved, over all kinds
HEAD = "campaign: {key}\nproject: {{name: E}}\nproblem: 42\n"


def emails(key: str) -> list[str]:
    return [f"{key}.p{number}@example.com" for number in range(PEOPLE)]


def as_list(key: str, path: Path) -> tuple[Path, bytes]:
    """A definition that lists its people: the file that is rewritten, and its bytes."""
    rows = (f"  - {{first_name: A, last_name: B, email1: {email}}}\n" for email in emails(key))
    return path, (HEAD.format(key=key) + "candidates:\n" + "".join(rows)).encode()


def as_table(key: str, path: Path) -> tuple[Path, bytes]:
    """A definition beside a table of people."""
    table = path.with_suffix(".csv")
    path.write_text(HEAD.format(key=key) + f"candidates: {{file: {table.name}}}\n")
    rows = (f"A,B,{email}\n" for email in emails(key))
    return table, ("first_name,last_name,email1\n" + "".join(rows)).encode()


def as_workbook(key: str, path: Path) -> tuple[Path, bytes]:
    """A definition beside a workbook of people."""
    table = path.with_suffix(".xlsx")
    path.write_text(HEAD.format(key=key) + f"candidates: {{file: {table.name}}}\n")
    workbook, content = openpyxl.Workbook(), BytesIO()
    for row in (("first_name", "last_name", "email1"), *(("A", "B", e) for e in emails(key))):
        workbook.active.append(row)
    workbook.save(content)
    return table, content.getvalue()


def half(data: bytes) -> bytes:
    """The first half, cut at the end of a row, so that it reads well."""
    cut = len(data) // 2
    return data[:cut] if data.startswith(b"PK") else data[: data.index(b"\n", cut) + 1]


@contextmanager
def saved_again_and_again(path: Path, data: bytes, dice: Random) -> Iterator[None]:
    """Save the same bytes over and over, as programs do that write in place; whole at the end."""
    over = threading.Event()

    def save() -> None:
        while not over.wait(dice.uniform(0, 0.01)):
            with path.open("wb", buffering=0) as file:
                file.write(half(data))
                over.wait(dice.uniform(0, 0.01))
                file.write(data[len(half(data)) :])

    writer = threading.Thread(target=save)
    writer.start()
    try:
        yield
    finally:
        over.set()
        writer.join()


@pytest.mark.parametrize("kind", [as_list, as_table, as_workbook])
def test_a_file_that_is_saved_beside_runs_forgets_nobody(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: Callable[[str, Path], tuple[Path, bytes]],
) -> None:
    """Whatever a run saw of it, the one after the file is at rest invites everybody, once."""
    monkeypatch.setattr(reader, "REST", 0.004)  # shorter than many pauses: halves are read as well
    dice = Random(5)
    with Sandbox() as service:
        office = Office.at(tmp_path, service, request_deadline=31.0)
        for number in range(RUNS // 6):
            key = f"c{number}"
            path = tmp_path / f"{key}.yaml"
            written, data = kind(key, path)
            written.write_bytes(data)
            with saved_again_and_again(written, data, dice), monkeypatch.context() as patch:
                patch.setattr(reader, "PATIENCE", 0.02)
                for _ in range(2):
                    with suppress(BadInput):  # it is said, and the next run reads it
                        office.run(path)
            office.run(path)
            invited = office.emails()
            assert [invited[email] for email in emails(key)] == [1] * PEOPLE, key


def test_a_second_reading_decides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """People, digest and plan come from the same bytes, whatever the file becomes meanwhile."""
    whole = as_table("c", tmp_path / "c.yaml")[1]
    table = tmp_path / "c.csv"

    def halved_afterwards(path: Path) -> bytes:
        data = file_bytes(path)
        if path == table:
            table.write_bytes(half(whole))
        return data

    with Sandbox() as service:
        office = Office.at(tmp_path, service)
        table.write_bytes(whole)
        monkeypatch.setattr(sources, "file_bytes", halved_afterwards)
        office.run(tmp_path / "c.yaml")
        monkeypatch.undo()
        table.write_bytes(whole)
        office.run(tmp_path / "c.yaml")
        assert office.emails() == dict.fromkeys(emails("c"), 1)


class Clock:
    """Time that passes only where somebody waits, and what happens to a file meanwhile."""

    def __init__(self, patch: pytest.MonkeyPatch, path: Path) -> None:
        self.slept: list[float] = []
        # Nobody can set this one; `st_ctime` is a rounded sum and may lie beside it.
        self.now = path.stat().st_ctime_ns / 1e9
        self.meanwhile: Callable[[int], None] = lambda _: None
        patch.setattr(reader, "REST", 0.5)
        patch.setattr(reader, "PATIENCE", 5.0)
        patch.setattr(reader, "time", self)

    def time(self) -> float:
        return self.now

    monotonic = time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        self.meanwhile(len(self.slept))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("whole")
    return path


def test_a_file_at_rest_is_read_at_once(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a file that was saved before the command was typed."""
    clock = Clock(monkeypatch, table)
    clock.now += 0.5
    assert (file_bytes(table), clock.slept) == (b"whole", [])


def test_a_file_just_saved_is_looked_at_twice(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where its time lies in the future, as another machine's clock may set it."""
    clock = Clock(monkeypatch, table)
    clock.now -= 60
    assert (file_bytes(table), clock.slept) == (b"whole", [0.5])


def test_a_file_that_grows_is_waited_for(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read is what it holds once nobody writes to it."""
    clock = Clock(monkeypatch, table)
    clock.now -= 60
    clock.meanwhile = lambda times: table.write_text("w" * times) if times < 4 else None
    assert (file_bytes(table), clock.slept) == (b"www", [0.5] * 4)


def test_a_file_that_is_written_all_the_time_is_refused(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said within seconds, with what is safe."""
    clock = Clock(monkeypatch, table)
    clock.now -= 60
    clock.meanwhile = lambda times: table.write_text("w" * times)
    with pytest.raises(BadInput) as caught:
        file_bytes(table)
    [problem] = caught.value.problems
    assert problem.clause == WRITTEN_NOW
    assert sum(clock.slept) == 5


def test_what_is_shorter_than_its_size_is_no_whole_file(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over a network a file may have its size before all of its bytes are there."""
    clock = Clock(monkeypatch, table)
    clock.now += 60
    monkeypatch.setattr(Path, "read_bytes", lambda _: b"whol" if len(clock.slept) < 3 else b"whole")
    assert (file_bytes(table), clock.slept) == (b"whole", [0.5] * 3)


def test_a_run_carries_out_what_was_shown_or_nothing(tmp_path: Path) -> None:
    """A flow that was given the digest of what a person saw refuses any other bytes."""
    path, data = as_list("c", tmp_path / "c.yaml")
    path.write_bytes(data)
    seen = read_campaigns(path).digest
    with Sandbox() as service:
        office = Office.at(tmp_path, service)
        path.write_bytes(half(data))
        with pytest.raises(Rewritten) as caught:
            office.run(path, digest=seen)
        assert caught.value.exit_code == 2
        assert [problem.place for problem in caught.value.problems] == [Place(str(path))]
        path.write_bytes(b"campaign: [")
        with pytest.raises(CampaignError, match=r"c.yaml: 1 mistake; nothing was sent"):
            office.run(path, digest=seen)
        assert service.record.requests == []
        path.write_bytes(data)
        office.run(path, digest=seen)
        assert office.emails() == dict.fromkeys(emails("c"), 1)
