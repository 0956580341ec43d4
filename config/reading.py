"""Read a campaign and its people from files, or report every mistake in them."""

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from config.definition import ORDERS, Candidate, Definition, Listed, PeopleTable
from config.emails import email_key
from config.errors import BadInput, Bug, CampaignError, Mistake, Place, command
from config.sheets.files import Format, read_file
from config.sheets.people import People, compare, read_people
from config.validation import Written, build
from config.yaml_file import read_yaml

YAML = (".yaml", ".yml")


@dataclass(kw_only=True)
class CampaignFile(People):
    """A campaign as it was read. Its digest identifies the definition and its people."""

    file: Path
    definition: Definition


def read_campaign(file: Path, campaign: str | None = None, at: Path | None = None) -> CampaignFile:
    """Read a definition and its people. Raises BadInput (also if `campaign` is another key), Bug.

    People of a `url` or `query` are read only from `at`, the file into which they were fetched.
    """
    try:
        return _read(file, campaign, at)
    except CampaignError:
        raise
    except Exception as error:  # an unforeseen error stops no other campaign
        raise Bug(error, f"Reading {file} failed. Nothing was sent.") from error


def _read(file: Path, campaign: str | None, at: Path | None) -> CampaignFile:
    data, written = _written(file)
    definition, mistakes = build(written, datetime.now(UTC))
    if campaign and not mistakes and definition.campaign != campaign:
        message = f"this is the campaign {definition.campaign}, not {campaign}"
        mistakes.append(Mistake(written.place(("campaign",)), message, "campaign"))
    people = _people(written, definition.candidates, at)
    if mistakes := [*mistakes, *people.mistakes]:
        raise BadInput(mistakes)
    stage = {"stage_id": definition.stage_id}  # for people who have no stage of their own
    for row, each in enumerate(people.listed):  # in place, to save memory
        if each.candidate.stage_id is None:
            people.listed[row] = replace(each, candidate=each.candidate.model_copy(update=stage))
    if at is not None:  # the bytes of a fetched workbook may differ each time
        people.digest = "".join(each.candidate.model_dump_json() for each in people.listed)
    people.digest = sha256(sha256(data).digest() + people.digest.encode()).hexdigest()
    return CampaignFile(file=file, definition=definition, **vars(people))


def key_of(file: Path) -> str:
    """Read only the campaign's key, which is cheap. Raises BadInput."""
    _, written = _written(file)
    if not isinstance(key := written.fields.get("campaign"), str):
        raise BadInput.at(written.place(("campaign",)), "missing, wanted a key", field="campaign")
    return key.strip().lower()


def _written(file: Path) -> tuple[bytes, Written]:
    """Read a definition from a file of any format. Raises BadInput, also for a table of people."""
    source = read_file(file)
    if file.suffix.lower() in YAML:
        return source.data, read_yaml(source.data, file)
    if source.format is Format.WORKBOOK:
        from config.campaign_sheet import campaign_sheet  # noqa: PLC0415 - only for workbooks

        if sheet := campaign_sheet(source):
            return source.data, sheet
    do = f"not a campaign; type  {command('new', file.with_suffix('.yaml'), '--from', file)}"
    if reader := who_reads(file):
        do = f"which {reader} reads; type  {command('check', reader)}"
    raise BadInput.at(Place(file), f"this is only a table of people, {do}")


def who_reads(table: Path, *folders: Path, sheet: str | None = None) -> Path | None:
    """Find the definition that may read this table or sheet, beside it or in these folders."""
    for folder in filter(Path.is_dir, dict.fromkeys((table.parent, *folders))):
        for each in sorted(folder.iterdir()):
            if named_table(each) == table.resolve():
                names = filter(None, (said_of_table(each).get("sheet"), sheet))
                if len({str(name).strip().casefold() for name in names}) < 2:
                    return each
    return None


def named_table(definition: Path) -> Path | None:
    """The table that a YAML definition names; None if it has none, or cannot be read."""
    named = said_of_table(definition).get("file")
    try:
        return (definition.parent / named).resolve() if named else None
    except (OSError, TypeError, ValueError, RuntimeError):
        return None  # not a file name, or a loop of links


def said_of_table(definition: Path | None) -> dict[str, Any]:
    """What a YAML definition says of its table; empty if it has none, or cannot be read."""
    with suppress(BadInput, OSError):  # a pipe, which is no file, may never end
        if definition and definition.suffix.lower() in YAML and definition.is_file():
            people = read_yaml(definition.read_bytes(), definition).fields.get("candidates")
            return people if isinstance(people, dict) else {}
    return {}


def _people(written: Written, candidates: list[Candidate] | PeopleTable, at: Path | None) -> People:
    if isinstance(candidates, PeopleTable):
        table = candidates.model_copy(update={"file": str(at)}) if at else candidates
        name, base = table.file or "", written.whole.file.parent
        if name and os.path.exists(base / name):  # noqa: PTH110 - os.path.exists never raises
            return read_people(table, base)
        missing = Mistake(written.place(("candidates", "file")), f"there is no file {name}")
        # No file is no mistake if people are fetched later (no name), or nobody was ordered yet.
        return People(mistakes=[missing] if name and not name.endswith(ORDERS) else [])
    places = (written.place(("candidates", at)) for at in range(len(candidates)))
    pairs = zip(candidates, places, strict=True)
    people = People(listed=[Listed(each, email_key(each.email1), place) for each, place in pairs])
    compare(people.listed, people)
    return people
