"""Which files of a folder are campaigns."""

import os
import re
import zipfile
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

from config.errors import BadInput, Mistake, Place
from config.reading import YAML, named_table
from config.sheets.files import read_file
from config.sheets.workbook import DAMAGED
from config.yaml_file import read_yaml

KINDS = (*YAML, ".xlsx", ".xlsm")
# tasks/outputs writes this and the original's name into the `category` of a copy of a workbook.
COPY = "campaign-copy-5b1f0c9e7a64 "
HIDDEN = (".", "~", "#")  # how names of locks, drafts and unfinished copies begin


@dataclass(frozen=True)
class Folder:
    """The campaign files of a folder, by name, and mistakes in files that may be campaigns."""

    files: list[Path] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)


def campaigns_in(folder: Path) -> Folder:
    """Find the campaign files of a folder, not of its subfolders. Given a file, find that file.

    A YAML file is a campaign if it has a field `campaign` or `candidates`. A workbook is one if it
    has a sheet `campaign`, is no copy of ours, and no definition of this folder reads it. Files
    that cannot be read are mistakes; so are YAML files that share a key.
    """
    found = Folder()
    if not os.path.isdir(folder):  # noqa: PTH112 - Path.is_dir raises in an unreadable folder
        return Folder([folder])
    try:
        named = (each for each in folder.iterdir() if not each.name.startswith(HIDDEN))
        files = sorted(each for each in named if each.suffix.lower() in KINDS and not each.is_dir())
    except OSError as error:
        why = f"this folder cannot be read: {error.strerror}"
        return Folder(mistakes=[Mistake(Place(folder), why)])
    tables = {*map(named_table, files)}
    keys: dict[str, list[Place]] = {}
    for file in files:
        try:
            if not file.is_file():
                read_file(file)  # raises BadInput: this is a pipe, a device or a dead link
            elif file.suffix.lower() in YAML:
                written = read_yaml(read_file(file).data, file)
                if {"campaign", "candidates"} & written.fields.keys():
                    found.files.append(file)
                    key = str(written.fields.get("campaign", file)).strip().lower()
                    keys.setdefault(key, []).append(written.place(("campaign",)))
            elif file.resolve() not in tables and _is_campaign(file):
                found.files.append(file)
        except BadInput as error:
            found.mistakes.extend(error.mistakes)
        except Exception as error:  # noqa: BLE001 - one bad file stops no other
            why = f"this file cannot be read ({type(error).__name__}); save it anew, or remove it"
            found.mistakes.append(Mistake(Place(file), why))
    # Nobody can know which of the files with one key is the copy, so none of them is sent.
    for key, places in keys.items():
        for place in places if places[1:] else ():
            found.files.remove(place.file)
            others = ", ".join(each.file.name for each in places if each is not place)
            why = f"the campaign {key} is in {others} as well; keep one, or give each its own key"
            found.mistakes.append(Mistake(place, why, "campaign"))
    return found


def _is_campaign(workbook: Path) -> bool:
    """Whether a workbook has a sheet `campaign` and is not our copy of another. Raises BadInput."""
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
    of = re.search(rf"<(?:\w+:)?category>{COPY}([^<]*)</", core)
    is_copy = of is not None and unescape(of[1]) != workbook.name
    has_sheet = re.search(r'<(?:\w+:)?sheet [^<>]*\bname="\s*campaign\s*"', sheets, re.I)
    return has_sheet is not None and not is_copy
