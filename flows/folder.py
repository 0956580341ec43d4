"""Which files of a folder are campaigns."""

import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

from config.errors import BadInput, Mistake, Place
from config.reading import YAML, key_of, named_table
from config.sheets.files import read_file
from config.sheets.workbook import DAMAGED
from config.yaml_file import read_yaml
from tasks.outputs.exports import COPY
from tasks.outputs.overwriting import written_by_us

WORKBOOKS = (".xlsx", ".xlsm")
KINDS = (*YAML, *WORKBOOKS)
HIDDEN = (".", "~", "#")  # how names of locks, drafts and unfinished copies begin


@dataclass(frozen=True)
class Folder:
    """The campaign files of a folder, by name, and mistakes in files that may be campaigns."""

    files: list[Path] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)


def campaigns_in(folder: Path, keyed: Callable[[Path], str] = str) -> Folder:
    """Find the campaign files of a folder, not of its subfolders. Given a file, find that file.

    A YAML file is a campaign if it has a field `campaign` or `candidates`. A workbook is one if it
    has a sheet `campaign`, and no definition of this folder reads it. A copy of ours is left out
    as we wrote it, and beside an original with the same key. Files that cannot be read are
    mistakes; so are those that share a key, workbooks only with `keyed`.
    """
    found = Folder()
    try:
        named = (each for each in folder.iterdir() if not each.name.startswith(HIDDEN))
        files = sorted(each for each in named if each.suffix.lower() in KINDS and not each.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return Folder([folder])
    except OSError as error:
        why = f"this cannot be read: {error.strerror}"
        return Folder(mistakes=[Mistake(Place(folder), why)])
    tables = {*map(named_table, files)}
    keys: dict[str, list[Place]] = {}
    for file in files:
        try:
            # `read_file` refuses a pipe, a device and a dead link, whatever their names.
            if file.suffix.lower() in YAML or not file.is_file():
                written = read_yaml(read_file(file).data, file)
                if {"campaign", "candidates"} & written.fields.keys():
                    key = str(written.fields.get("campaign", file)).strip().lower()
                    keys.setdefault(key, []).append(written.place(("campaign",)))
            elif file.resolve() not in tables and _is_campaign(file):
                keys.setdefault(keyed(file), []).append(Place(file))
        except BadInput as error:
            found.mistakes.extend(error.mistakes)
        except Exception as error:  # noqa: BLE001 - one bad file stops no other
            why = f"this file cannot be read ({type(error).__name__}); save it anew, or remove it"
            found.mistakes.append(Mistake(Place(file), why))
    # Nobody can know which of the files with one key is the copy, so none of them is sent.
    for key, places in keys.items():
        for place in places:
            others = ", ".join(each.file.name for each in places if each is not place)
            why = f"the campaign {key} is in {others} as well; keep one, or give each its own key"
            if others:
                found.mistakes.append(Mistake(place, why, "campaign"))
            else:
                found.files.append(place.file)
    return found


def _is_campaign(workbook: Path) -> bool:
    """Whether a workbook has a sheet `campaign`, and is more than our copy. Raises BadInput."""
    is_one, original_name = _inside(workbook)
    original = workbook.with_name(original_name or workbook.name)
    if not is_one or original == workbook:
        return is_one
    if written_by_us(workbook):
        return False
    # Somebody changed this copy. It is a campaign unless its original is one with the same key.
    is_there = original.suffix.lower() in WORKBOOKS and original.is_file()
    return not (is_there and _inside(original)[0] and key_of(workbook) == key_of(original))


def _inside(workbook: Path) -> tuple[bool, str | None]:
    """Whether a workbook has a sheet `campaign`; the name of its original if it is our copy.

    Raises BadInput.
    """
    parts = {"xl/workbook.xml": "", "docProps/core.xml": ""}
    try:
        with zipfile.ZipFile(workbook) as archive:
            for name in parts.keys() & {*archive.namelist()}:
                with archive.open(name) as content:
                    parts[name] = content.read(2**20).decode("utf-8", "replace")
    except Exception:  # noqa: BLE001 - a damaged file raises anything at all
        read_file(workbook)  # if the file cannot be read, this says why
        raise BadInput.at(Place(workbook), DAMAGED) from None
    sheets, core = parts.values()
    has_sheet = re.search(r'<(?:\w+:)?sheet [^<>]*\bname="\s*campaign\s*"', sheets, re.I)
    of = re.search(rf"<(?:\w+:)?category>{COPY}([^<]*)</", core)
    return bool(has_sheet), unescape(of[1]) if of else None
