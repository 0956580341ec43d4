"""Traces of a forgotten person outside the ledger: delete our outputs, and list the rest."""

import html
import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from sqlmodel import Session, select

from config.definition import ORDERS
from config.emails import email_key
from config.errors import command, some
from config.reading import who_reads
from config.settings import settings
from data.decisions.privacy import Known
from data.store.states import Op, State
from data.store.tables import Campaign, SeenFile
from tasks.orders.table import COLUMNS, orders, write
from tasks.outputs.overwriting import written_by_us
from tasks.sources.local_copy import folder_of

KINDS = (".csv", ".tsv", ".txt", ".json", ".xlsx", ".xlsm", ".html")  # endings of outputs
Paths = list[Path]
LARGEST = 200_000_000  # bytes; a larger file is no output of ours
MARKUP = re.compile(r"<[^<>]*>|\\[nrt]")  # tags, and how JSON writes line breaks and tabs


def folders_of(session: Session) -> list[Path]:
    """The folders of definitions and orders that the ledger knows."""
    files = {*session.exec(select(Campaign.file)), *session.exec(select(SeenFile.path))}
    return sorted({Path(file).parent for file in files})


def ordered(folders: Iterable[Path], email: str, *, empty: bool = False) -> list[Path]:
    """The tables of orders that name this address, even if no run has read them.

    With `empty`, these orders keep only their ids, which stay used, and the word `forgotten`.
    Raises BadInput for a table that cannot be read.
    """
    found, nothing = [], dict.fromkeys(COLUMNS[1:], "") | {"withdrawn": "forgotten"}
    for table in (each for folder in folders for each in sorted(folder.glob(f"*{ORDERS}"))):
        with orders(table) as rows:
            theirs = {k: r for k, r in rows.items() if email_key(r["email1"]) == email_key(email)}
            found += [table] if theirs else []
            if theirs and empty:
                write(table, rows | {number: {"id": number, **nothing} for number in theirs})
    return found


def remove_outputs(folder: Path, known: Sequence[Known], folders: Paths) -> tuple[Paths, Paths]:
    """Delete fetched copies, and outputs in `folder` or beside definitions, that name these people.

    Returns the deleted files, and files of KINDS that name these people and may be outputs that
    somebody changed. No file is deleted from which a definition in `folders` reads its people.
    """
    signs = [sign for each in known for sign in _signs(each)]
    fetched = folder_of(settings())
    read = {held.table or held.file for each in known for held in each.campaigns}
    removed: list[Path] = []
    changed: list[Path] = []
    for file in sorted({*_outputs(folder, folders), *fetched.glob("*")}) if signs else ():
        unread = file.is_symlink() or not os.access(file, os.R_OK) or not file.is_file()
        if unread or str(file) in read or not _names(file, signs):
            continue
        ours = file.parent == fetched or (written_by_us(file) and not who_reads(file, *folders))
        with suppress(OSError):
            if ours:
                file.unlink()
        if not file.exists():
            removed.append(file)
        elif file.suffix.lower() in KINDS:
            changed.append(file)
    return removed, changed


def what_is_left(
    folder: Path, known: Sequence[Known], folders: Paths, backups: Paths
) -> Iterator[str]:
    """Say line by line what a person has to remove by hand, and remove outputs before the last."""
    for each in known:
        named = ", ".join(held.campaign for held in each.campaigns) or "no campaign"
        yield f"{each.email} is forgotten ({named})."
        for held in each.campaigns:
            if not (held.table or "").endswith(ORDERS):
                yield f"  remove the row from {held.table or held.file}"
            if held.candidate_id is not None or held.states[Op.ADD] is State.UNSURE:
                who = held.candidate_id or "with that address, if there is one"
                yield f"  in the web application, project {held.project_id}: remove candidate {who}"
        for other in each.others:
            yield f"  if {other} is the same person:  {command('forget', other)}"
    removed, changed = remove_outputs(folder, known, folders)
    if removed:
        yield f"  deleted {some([*map(str, removed)])}; write them again without this person"
    yield from (f"  look into {path}, which names this person as well" for path in changed)
    yield from (f"  delete the older copy of the ledger {path}" for path in backups)
    yield "  links, pages and exports that you kept elsewhere or sent are yours to remove"


def _outputs(folder: Path, folders: Paths) -> Iterator[Path]:
    """The files that may be our outputs; people often write outputs beside the definition."""
    yield from folder.rglob("*")
    for beside in folders:
        for pattern in ("*", "*/index.html", "pages/*.html", "*/pages/*.html"):
            yield from beside.glob(pattern)


def _signs(known: Known) -> Iterator[re.Pattern[str]]:
    """Patterns that find a person in a file: an address, or both names side by side."""
    addresses = [held.email1 for held in known.campaigns] + [known.email.strip()]
    yield re.compile("|".join(map(_alone, addresses)))
    for held in known.campaigns:
        names = [str(held.fields.get(n, "")) for n in ("first_name", "last_name")]
        if all(names):
            one, two = map(_alone, names)
            beside = r"\W{1,9}(?:last_name|first_name)?\W{0,9}"
            yield re.compile(f"{one}{beside}{two}|{two}{beside}{one}")


def _alone(text: str) -> str:
    """A pattern of an address or name that is no part of a longer one: Mary-Ann is not Ann."""
    before = r"(?<![\w.!#$%&*+/=?^`{|}~-])(?<!\w['’])"  # as_csv puts a ' before some texts
    return f"{before}{re.escape(text.casefold())}(?!\\w|[.-]+\\w)"


def _names(file: Path, signs: Sequence[re.Pattern[str]]) -> bool:
    if file.stat().st_size > LARGEST:
        return False
    content = file.read_bytes()
    with suppress(Exception), zipfile.ZipFile(file) as archive:  # a damaged file may raise anything
        members = archive.infolist()
        if sum(each.file_size for each in members) <= LARGEST:
            content = b"".join(map(archive.read, members))
    text = content.decode("utf-8", "replace")
    text = html.unescape(text) if text.startswith("<") else text
    seen = f"{text} {MARKUP.sub(' ', text)}".casefold()
    return any(sign.search(seen) for sign in signs)
