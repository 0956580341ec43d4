"""What is left of somebody outside the ledger: outputs of ours go, the rest is named."""

import html
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from starlette.exceptions import HTTPException

from config.emails import email_key
from config.errors import command, some
from config.folder import ORDERS
from config.settings import settings
from data.decisions.privacy import Known
from tasks.orders.desk import COLUMNS, alone, change
from tasks.outputs.ours import written_by_us
from tasks.sources.bringing import folder_of

KINDS = (".csv", ".json", ".xlsx", ".xlsm", ".html")  # of outputs
LARGEST = 200_000_000  # bytes of one output; a larger file is not ours


def remove_outputs(folder: Path, known: Sequence[Known]) -> tuple[list[Path], list[Path]]:
    """Delete every file of ours that names them, in the folder of outputs and beside definitions.

    Returns these files, which can be written again without them, and others that may have been ours
    and name them.
    """
    _empty_orders(known)
    signs = [sign for each in known for sign in _signs(each)]
    fetched = folder_of(settings())
    read = {held.table or held.file for each in known for held in each.campaigns}
    removed: list[Path] = []
    changed: list[Path] = []
    for file in sorted({*_outputs(folder, known), *fetched.glob("*")}) if signs else ():
        if file.is_symlink() or not file.is_file() or str(file) in read or not _names(file, signs):
            continue
        if file.parent == fetched or written_by_us(file):
            file.unlink()
            removed.append(file)
        elif file.suffix.lower() in KINDS:
            changed.append(file)
    return removed, changed


def what_is_left(
    known: Iterable[Known],
    removed: Sequence[Path],
    changed: Sequence[Path],
    backups: Sequence[Path],
) -> Iterator[str]:
    """What a person has to remove by hand, line by line."""
    for each in known:
        named = ", ".join(held.campaign for held in each.campaigns) or "no campaign"
        yield f"{each.email} is forgotten ({named})."
        for held in each.campaigns:
            if not (held.table or "").endswith(ORDERS):
                yield f"  remove the row from {held.table or held.file}"
            if held.candidate_id is not None:
                project = f"project {held.project_id}"
                yield f"  in the web application, {project}: remove candidate {held.candidate_id}"
        for other in each.corrected:
            forget = command("forget", other)
            yield f"  it was corrected from or to {other}; if that is the same person:  {forget}"
    if removed:
        yield f"  deleted {some([*map(str, removed)])}; write them again without this person"
    for path in changed:
        yield f"  look into {path}, which names this person as well"
    for path in backups:
        yield f"  delete the older copy of the ledger {path}"
    yield "  links, pages and exports that you kept elsewhere or sent are yours to remove"


def _empty_orders(known: Sequence[Known]) -> None:
    """Leave of their orders nothing but the ids, which do not come again."""
    emptied = dict.fromkeys(COLUMNS[1:], "") | {"withdrawn": "forgotten"}
    keys = [email_key(held.email1) for each in known for held in each.campaigns]
    for folder in {Path(held.file).parent for each in known for held in each.campaigns}:
        for table in folder.glob(f"*{ORDERS}"):
            with suppress(HTTPException), alone(table) as rows:
                change(table, rows, keys, **emptied)


def _outputs(folder: Path, known: Sequence[Known]) -> Iterator[Path]:
    """The files that may be ours; `-o` mostly writes beside the definition."""
    yield from folder.rglob("*")
    for beside in {Path(held.file).parent for each in known for held in each.campaigns}:
        for pattern in ("*", "*/index.html", "*/pages/*.html"):
            yield from beside.glob(pattern)


def _signs(known: Known) -> Iterator[re.Pattern[str]]:
    """What gives somebody away in a file: an address, or both names side by side."""
    addresses = [held.email1 for held in known.campaigns] + [known.email.strip()]
    yield re.compile("|".join(re.escape(each.casefold()) for each in addresses))
    for held in known.campaigns:
        names = [str(held.fields.get(n, "")).casefold() for n in ("first_name", "last_name")]
        if all(names):
            one, two = map(re.escape, names)
            beside = r"\W{1,9}(?:last_name|first_name)?\W{0,9}"
            yield re.compile(rf"\b{one}{beside}{two}\b|\b{two}{beside}{one}\b")


def _names(file: Path, signs: Sequence[re.Pattern[str]]) -> bool:
    if file.stat().st_size > LARGEST:
        return False
    content = file.read_bytes()
    with suppress(Exception), zipfile.ZipFile(file) as archive:  # a damaged one raises anything
        members = archive.infolist()
        if sum(each.file_size for each in members) <= LARGEST:
            content = b"".join(map(archive.read, members))
    text = content.decode("utf-8", "replace")
    seen = f"{text} {re.sub('<[^<>]*>', ' ', html.unescape(text))}"
    if file.suffix == ".json":
        with suppress(ValueError):  # somebody has changed it by hand
            seen += json.dumps(json.loads(text), ensure_ascii=False)
    seen = seen.casefold()
    return any(sign.search(seen) for sign in signs)
