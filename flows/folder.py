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

KINDS = (*YAML, ".xlsx", ".xlsm")
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
    if not re.search(r'<(?:\w+:)?sheet [^<>]*\bname="\s*campaign\s*"', sheets, re.I):
        return False
    of = re.search(rf"<(?:\w+:)?category>{COPY}([^<]*)</", core)
    if of is None or (original := workbook.with_name(unescape(of[1]))) == workbook:
        return True
    if written_by_us(workbook):
        return False
    # Somebody changed this copy. With a key of its own, or without its original, it is a campaign.
    return not original.is_file() or key_of(workbook) != key_of(original)
