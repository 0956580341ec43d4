"""What is fed with bytes that nobody chose, and what must hold whatever they are.

Each target takes bytes and raises AssertionError, or any exception that is not meant for people,
where it breaks. `tests/fuzz/test_fuzzed.py` feeds them a little in every test run,
`tests/fuzz/fuzz_for_hours.py` for as long as it is told, led by which lines they reach.
"""

import contextlib
import csv
import json
import math
import os
import struct
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from io import BytesIO, StringIO
from pathlib import Path

from config.definition.model import Trust
from config.email_key import email_key
from config.errors import BadInput, CampaignError
from config.people.email_address import email_address
from config.reading.do_not_contact import read_do_not_contact
from config.reading.reading import read_campaigns
from config.tables import cells
from config.timetable.hours import hours
from config.timetable.moments import wall_time
from config.timetable.schedule import read_cron
from config.timetable.spans import span
from config.timetable.waves import share, sizes
from config.workbooks import __main__ as workbook_reader
from config.workbooks import frames
from config.workbooks.compound import stream_of
from config.workbooks.container import OLD_FORMAT
from config.workbooks.shapes import Unfit
from data.privacy.masking import masked_text
from data.store.states import Operation
from flows.words.speech import printable
from tasks.outputs.exports import Link, as_csv, as_json
from tasks.service.added_ids import match_answer
from tasks.service.auth import read_token
from tasks.service.evidence import Exchange, Phase
from tasks.service.messages import id_elsewhere, read_project_id
from tasks.service.problem import read_problems
from tasks.service.verdict import Proof, verdict
from tests.sheets.books import PLAIN
from tests.sheets.broken import changed
from tests.sheets.formats import BY_EXCEL, RICH_2003, SPANS
from tests.sheets.writers import by_hand, by_xlsxwriter

KINDS = ("application/json", "", "text/html; charset=utf-8", "APPLICATION/JSON;x=\x00", "\xff")
FAILURES = (None, "ReadTimeout", "ConnectError", "ValueError", "CredentialsRefused")


def answers(data: bytes) -> None:
    """Any answer to any request: only a proof moves anything, and an id is a number that is one."""
    which, status, kind, failure, flags = data[:5].ljust(5, b"\0")
    body = None if flags & 1 else data[5:]
    operation = list(Operation)[which % 4]
    reached = Phase(flags >> 1 & 3)
    seen = Exchange(
        reached,
        status=100 + status * 3 if reached is Phase.ANSWERED else None,
        content_type=KINDS[kind % len(KINDS)],
        body=body,
        early=bool(flags & 8),
        body_failed=bool(flags & 32),
        retry_after=data[5:25].decode("latin-1") if flags & 16 else None,
        failure=FAILURES[failure % len(FAILURES)],
    )
    trust = Trust.WIRE if flags & 4 else Trust.STATUS
    before = (401, 429, 403)[: flags >> 6]
    judged = verdict(operation, seen, rows=1 + (flags >> 5), trust=trust, before=before)
    if judged.proof is Proof.DONE:
        assert seen.status is not None and 200 <= seen.status < 300
    if trust is Trust.WIRE and seen.status is not None:
        assert judged.proof in (Proof.DONE, Proof.UNSURE)
    if judged.proof is Proof.REFUSED:
        assert seen.status is not None and (400 <= seen.status < 500 or seen.status in (501, 505))
    if reached is Phase.NOTHING:
        assert judged.proof is Proof.NOT_SENT
    if judged.pause is not None:
        assert 0 <= judged.pause < 86_400
    _bodies(body)
    _tokens(seen)


def _bodies(body: bytes | None) -> None:
    project = read_project_id(body)
    assert project is None or 0 < project < 2**63
    sent = {"ada@example.com": ("Ada", "Lovelace"), "bo@example.com": ("Bo", "X")}
    matched = match_answer(body, sent)
    assert matched.ids.keys() | matched.without.keys() == sent.keys()
    assert len(set(matched.ids.values())) == len(matched.ids)
    assert all(0 < number < 2**63 for number in matched.ids.values())
    perhaps = id_elsewhere(body)
    assert perhaps is None or 0 < perhaps < 2**63
    for problem in read_problems(body) or ():
        assert isinstance(problem.title, str)


def _tokens(seen: Exchange) -> None:
    try:
        value, lifetime = read_token(seen)
    except CampaignError:
        return
    assert value.isascii() and value.isprintable()
    assert 0 < lifetime < math.inf  # a token that dies sooner is renewed after a 401


def definitions(data: bytes) -> None:
    """Any bytes as a YAML definition: campaigns, or problems each with its place."""
    _read(data, ".yaml")


def tables(data: bytes) -> None:
    """Any bytes as a table of people, beside a definition that is in order."""
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder:
        definition = Path(folder, "d.yaml")
        definition.write_text("campaign: a\nproject: {name: A}\nproblem: 1\n")
        _read(data, ".csv", definition)


def _read(data: bytes, suffix: str, definition: Path | None = None) -> None:
    with tempfile.NamedTemporaryFile(dir=_MEMORY, suffix=suffix) as file:
        file.write(data)
        file.flush()
        try:
            found = read_campaigns(Path(file.name), definition).definitions
        except BadInput as error:
            assert error.problems
            assert all(str(problem) for problem in error.problems)
            return
    for one in found:
        keys = [person.key for person in one.candidates]
        assert len(set(keys)) == len(keys)
        assert all(person.email1 == email_address(person.email1) for person in one.candidates)


def workbooks(data: bytes) -> None:
    """Any bytes as a part of a workbook, or as a whole one: sheets, or what is wrong."""
    which, content = data[:1] or b"\0", data[1:]
    made, part = (*PARTS, (None, None))[which[0] % (len(PARTS) + 1)]
    whole = _with(made, part, content) if made and part else content
    if whole.startswith(OLD_FORMAT):
        # The library that reads its cells breaks, which is why it has a process of its own.
        with contextlib.suppress(Unfit, struct.error, IndexError):
            stream_of(whole, "Workbook", "Book")
        return
    answer = BytesIO()
    workbook_reader.main((), BytesIO(whole), answer)
    answer.seek(0)
    kinds = [frames.unpacked(packed)[0] for packed in frames.read(answer)]
    assert kinds[-1] in (frames.END, frames.UNFIT)
    assert kinds.count(frames.SHEET) >= kinds.count(frames.LAYOUT)


def _with(made: Callable[..., bytes], part: str, content: bytes) -> bytes:
    return changed(_plain(made), lambda name, before: content if name.endswith(part) else before)


@cache
def _plain(made: Callable[..., bytes]) -> bytes:
    return made(PLAIN)


PARTS = (
    (by_xlsxwriter, "xl/worksheets/sheet2.xml"),
    (by_xlsxwriter, "xl/sharedStrings.xml"),
    (by_xlsxwriter, "xl/styles.xml"),
    (by_xlsxwriter, "xl/workbook.xml"),
    (by_xlsxwriter, "xl/_rels/workbook.xml.rels"),
    (by_hand, "content.xml"),
)


def _of_a_workbook() -> list[bytes]:
    """Each part as the programs write it; an old workbook, web pages, and XML as whole ones."""
    found = []
    for which, (made, part) in enumerate(PARTS):
        with zipfile.ZipFile(BytesIO(_plain(made))) as archive:
            name = next(one for one in archive.namelist() if one.endswith(part))
            found.append(bytes([which]) + archive.read(name))
    old = Path(__file__).parents[1] / "sheets" / "libreoffice" / "nobody.xls"
    whole = (old.read_bytes(), BY_EXCEL.encode("latin-1"), SPANS, RICH_2003.encode())
    return [*found, *(bytes([len(PARTS)]) + content for content in whole)]


def lists(data: bytes) -> None:
    """Any bytes as a do-not-contact list: every address in it, or what is wrong with it."""
    with tempfile.NamedTemporaryFile(dir=_MEMORY, suffix=".txt") as file:
        file.write(data)
        file.flush()
        try:
            found = read_do_not_contact(Path(file.name))
        except BadInput:
            return
    assert all(key == email_key(typed) for key, typed in found.items())


def words(data: bytes) -> None:
    """Any text in any field: a value, or a ValueError with words for people."""
    text = data.decode("utf-8", "replace")
    for read in (read_cron, hours, span, share, wall_time, email_address):
        try:
            read(text)
        except ValueError as error:
            assert str(error)
    with contextlib.suppress(ValueError):
        assert all(size > 0 for size in sizes(text.split(",")))
    key = email_key(text)
    assert email_key(key) == key


def shown(data: bytes) -> None:
    """Any text on a terminal, in a table, in a report: it says something, and does nothing."""
    text = data.decode("utf-8", "replace")
    assert all(one.isprintable() or one in "\n\t" for one in printable(text))
    masked_text(text, {"ada", "lovelace", "李"})
    link = Link(text, text, text, 1, None, text)
    [_, row] = csv.reader(StringIO(b"".join(as_csv([link])).decode(), newline=""))
    assert not any(cell.startswith(cells.STARTS) for cell in row)
    assert json.loads(b"".join(as_json([link])))[0]["first_name"] == text


_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

TARGETS: dict[str, Callable[[bytes], None]] = {
    one.__name__: one for one in (answers, definitions, tables, workbooks, lists, words, shown)
}

# What a fuzzer begins with: one of each that is in order.
SEEDS: dict[str, list[bytes]] = {
    "answers": [
        b"\x02\x22\0\0\x06" + b'[{"email1": "ada@example.com", "candidate_id": 5001}]',
        b"\x00\x22\0\0\x06" + b'{"id": 101}',
        b"\x03\x22\0\0\x06" + b'{"access_token": "x", "token_type": "Bearer", "expires_in": 3600}',
        b"\x03\x6d\0\0\x16" + b"Wed, 21 Oct 2026 07:28:00 GMT",
        b"\x01\x22\0\0\x06"
        + b'[{"id": 42, "title": "Two sum", "skills": ["a"], "time_limit": 60}]',
    ],
    "definitions": [
        b"campaign: a\nproject: {name: A, starttime: 2026-10-01 09:00, timezone: Europe/Paris}\n"
        b"problem: {title: Two sum}\ncandidates:\n"
        b"  - {first_name: A, last_name: B, email1: a@example.com}\n"
        b"invites: {waves: [5, rest], between: 1 hour, hours: Mon-Fri 09:00-18:00}\n"
        b"guard: {removed: 20%}\nschedule: {every: 1 hour}\n"
    ],
    "tables": [
        b"first_name,last_name,email1\nAda,Lovelace,ada@example.com\n",
        b"Vorname;E-Mail\nA;a@b.de",
    ],
    "workbooks": _of_a_workbook(),
    "lists": [b"ada@example.com\n# nobody\nbo@example.com\n", b"name,email\nAda,ada@example.com\n"],
    "words": [
        b"Mon-Fri 09:00-18:00",
        b"*/5 9 * * 1-5",
        b"2 days",
        b"Oct 1, 2026 9:00 am",
        b"5,rest",
    ],
    "shown": [b"=1+1", b"\x1b[2J", b"Ada <ada@example.com>"],
}
