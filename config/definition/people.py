"""The people of a campaign, checked one by one and against each other."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from sys import intern
from unicodedata import normalize

from pydantic import ValidationError

from config.definition.fields import CandidateFields
from config.definition.kinds import complaint, unknown_field
from config.definition.model import Candidate
from config.definition.sent_fields import FIELDS
from config.email_key import email_key
from config.mistakes import Doubt, Mistake, Place, shown
from config.people.doubts import REMARK, email_doubts, mailbox, name_doubts, remarks
from config.tables.written import People, Row

# The fields of a person that are sent (interface 4.5), and the zone that decides when.
MEANT = (*FIELDS, "timezone")

# The first row of a person, with the fields that are wrong in it.
Half = tuple[Candidate, frozenset[str]]
ALL_RIGHT: frozenset[str] = frozenset()


def judge_people(
    people: People, stage_id: int, problems: list[Mistake], warnings: list[Mistake]
) -> tuple[tuple[Candidate, ...], int]:
    """Check the people; `stage_id` is for a person without one.

    Returns them, and how many rows of a table repeat an earlier row.
    """
    candidates: list[Candidate] = []
    repeated = 0
    seen: dict[str, int] = {}
    halves: dict[str, Half] = {}
    folded: dict[str, str] = {}
    for row in people.rows:
        if isinstance(row, Mistake):
            problems.append(row)
            continue
        fields, spoilt = _fields(row, people, problems)
        if fields is None:
            continue
        key = email_key(fields.email1)
        candidate = _candidate(fields, key, people.place(row.number, None), stage_id, row.hidden)
        at = seen.get(key)
        first, left_out = halves.get(key) or (None if at is None else candidates[at], ALL_RIGHT)
        if first is not None:
            # An export has a row for each application, so a person may be there twice; a list in a
            # definition may not.
            differing = _differing(first, candidate, spoilt | left_out) if people.whole else None
            if differing != []:
                alike = _alike(fields.email1, folded.get(key, key))
                there = people.place(row.number, "email1")
                problems.append(_again(fields.email1, there, first.place, differing or [], alike))
                continue
        if not fields.email1.isascii():
            folded.setdefault(key, fields.email1)
        if spoilt and first is None:
            halves[key] = candidate, spoilt
        elif spoilt:
            continue
        elif at is not None:
            repeated += 1
            same = candidates[at]
            candidates[at] = replace(same, hidden=same.hidden and row.hidden)
        else:
            seen[key] = len(candidates)
            candidates.append(candidate)
            for each in _about(fields, key, row, people):
                # Nobody may be watching: a schedule, the inbox.
                (problems if each.cause == REMARK else warnings).append(each)
    warnings.extend(_one_mailbox(candidates))
    return tuple(candidates), repeated


def _fields(
    row: Row, people: People, problems: list[Mistake]
) -> tuple[CandidateFields | None, frozenset[str]]:
    """Check the fields of a row; returns them, and which are wrong and so have no value.

    None: nobody can say who the person is.
    """
    try:
        return CandidateFields.model_validate(row.fields), ALL_RIGHT
    except ValidationError as error:
        problems.extend(_row_problems(error, row, people))
        wrong = frozenset(str(field) for detail in error.errors() for field in detail["loc"][:1])
    if not wrong or "email1" in wrong:
        return None, wrong
    right = {name: value for name, value in row.fields.items() if name not in wrong}
    return CandidateFields.model_validate({"first_name": "?", "last_name": "?"} | right), wrong


def _about(fields: CandidateFields, key: str, row: Row, people: People) -> Iterator[Mistake]:
    """Point at what a person should look at in a row that is right."""
    if row.doubt:
        named, doubt = people.place(row.number, "first_name"), row.doubt
        for out in remarks(doubt.left_out):
            doubt = replace(out, sentence=f"{doubt.sentence}; {out.sentence}")
        yield Mistake(named, "first_name", message=doubt.sentence, cause=doubt.kind)
    place = people.place(row.number, None)
    yield from _doubted(fields.email1, place, "email1", email_doubts(fields.email1, key))
    for field in ("first_name", "last_name"):
        # Nearly all names are plain.
        if each := list(name_doubts(name := getattr(fields, field))):
            yield from _doubted(name, people.place(row.number, field), field, each)


def _doubted(text: str, place: Place, field: str, doubts: Iterable[Doubt]) -> Iterator[Mistake]:
    for doubt in doubts:
        sentence = f"{shown(text)}: {doubt.sentence}"
        yield Mistake(place, field, message=sentence, cause=doubt.kind)


def _differing(first: Candidate, again: Candidate, unknown: frozenset[str]) -> list[str]:
    """Name the fields in which two rows of one person differ, those that change what is sent."""
    them = (name for name in MEANT if name not in unknown)
    return [name for name in them if getattr(first, name) != getattr(again, name)]


def _again(typed: str, place: Place, first: Place, differing: list[str], alike: bool) -> Mistake:
    """Report a second row for one person; `alike`: the addresses are equal only after folding."""
    sentence = f"found {shown(typed)}, the same person as {first}"
    if alike:
        sentence += " if letters such as ß and ss count as the same"
    elif "email1" in differing:
        sentence += " with other capitals"
    if others := ", ".join(name for name in differing if name != "email1"):
        sentence += f", but with a different {others}"
    if alike:
        sentence += "; if these are two people, put one of them into a separate campaign"
    cause = "each person only once"
    return Mistake(place, "email1", found=shown(typed), message=sentence, cause=cause)


def _alike(address: str, other: str) -> bool:
    """Say whether two addresses of one key differ in more than their case."""
    first, second = (normalize("NFC", each.rpartition("@")[0].lower()) for each in (address, other))
    return first != second


def _one_mailbox(people: Sequence[Candidate]) -> Iterator[Mistake]:
    """Report different addresses that end up in one mailbox."""
    labelled = [candidate.key for candidate in people if mailbox(candidate.key) != candidate.key]
    if not labelled:
        return
    places = {candidate.key: candidate.place for candidate in people}
    first: dict[str, str] = {}
    for key in labelled:
        box = mailbox(key)
        other = box if box in places else first.setdefault(box, key)
        if other != key:
            message = (
                f"{shown(key)}: probably the same mailbox as {shown(other)} at {places[other]}; "
                "that person would be invited twice"
            )
            yield Mistake(places[key], "email1", message=message, cause="one mailbox")


def _row_problems(error: ValidationError, row: Row, people: People) -> Iterator[Mistake]:
    for detail in error.errors(include_url=False):
        if not detail["loc"]:
            what = "a mapping with first_name, last_name and email1"
            yield Mistake(people.place(row.number, None), "candidates", shown(row.fields), what)
            continue
        name = str(detail["loc"][0])
        place = people.place(row.number, name)
        model_fields = CandidateFields.model_fields
        if detail["type"] == "extra_forbidden":
            yield unknown_field(place, name, name, list(model_fields))
        else:
            yield complaint(detail, place, name, model_fields[name].description or "")


def _candidate(
    fields: CandidateFields, key: str, place: Place, stage_id: int, hidden: bool
) -> Candidate:
    return Candidate(
        first_name=fields.first_name,
        last_name=fields.last_name,
        email1=fields.email1,
        source=intern(fields.source),
        notes=intern(fields.notes),
        stage_id=stage_id if fields.stage_id is None else fields.stage_id,
        # Mostly the same text as typed: then it is stored only once.
        key=fields.email1 if key == fields.email1 else key,
        place=place,
        timezone=fields.timezone,
        hidden=hidden,
    )
