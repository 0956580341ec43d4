"""Settle doubts by a list that a person exported from the web application."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from config.emails import email_key
from config.errors import BadInput
from config.sheets.cells import plain_address
from config.sheets.files import read_file
from config.sheets.headers import listed, says, worded
from config.sheets.table import Table, headers_shown, read_table
from data.decisions.doubts import Doubt, Settlement
from data.store.states import OF_PROJECT, Op

ABSENT = "not in the list"
ELSEWHERE = "in the list with another project"
OTHER_ID = "in the list with the id of another candidate"
EARLIER = "sent more than once on purpose; the list does not say which of them"
NO_ID = "in the list without an id, or with several"
NOT_SAID = "no column says that they were invited"
INVITED = "invited already, says the list, though only an unsure add is known here"


@dataclass(frozen=True, slots=True)
class _Entry:
    is_here: bool  # false if a column names another project
    number: str
    is_invited: bool


def read_seen(
    file: Path, doubts: Sequence[Doubt], project: Sequence[object]
) -> tuple[list[Settlement], dict[str, list[str]]]:
    """What a table settles of these doubts about people, by their addresses; and the addresses that
    it does not settle, by reason.

    `project` has the names that the list may use for the project: id and name. Raises BadInput.
    """
    table = read_table(read_file(file))
    if table.mistakes:
        raise BadInput(table.mistakes)
    if not _columns(table, _ID) and any(each.op is Op.ADD for each in doubts):
        why = f"no column of candidates' ids; found {headers_shown(table.headers)}"
        raise BadInput.at(table.grid.place(table.header), why)
    rows: dict[str, list[_Entry]] = {}
    for key, row in _rows(table, {str(each).casefold() for each in project if each}):
        rows.setdefault(key, []).append(row)
    verdicts: list[Settlement] = []
    left: dict[str, list[str]] = {}
    for doubt in doubts:
        if doubt.op not in OF_PROJECT:
            found = _settled(doubt, rows.get(email_key(doubt.email1), []))
            if isinstance(found, Settlement):
                verdicts.append(found)
            else:
                left.setdefault(found, []).append(doubt.email1)
    return verdicts, left


def _settled(doubt: Doubt, rows: Sequence[_Entry]) -> Settlement | str:
    """The verdict on a doubt, by the person's rows, or why there is none."""
    here = [row for row in rows if row.is_here]
    if not here:
        return ELSEWHERE if rows else ABSENT
    if doubt.times > 1:
        return EARLIER
    if doubt.op is not Op.ADD:  # of the other steps, the list settles only an invitation
        if not {row.number for row in here} <= {"", str(doubt.candidate_id)}:
            return OTHER_ID
        told = doubt.op is Op.INVITE and all(row.is_invited for row in here)
        sent = Settlement("sent", doubt.email1, doubt.op, None, doubt.part_id)
        return sent if told else NOT_SAID
    if any(row.is_invited for row in here):
        return INVITED
    number, *others = {row.number for row in here}
    if others or not re.fullmatch(r"[0-9]{1,19}", number):
        return NO_ID
    return Settlement("sent", doubt.email1, Op.ADD, int(number), doubt.part_id)


def _rows(table: Table, project: set[str]) -> Iterator[tuple[str, _Entry]]:
    ids, invited, of = (_columns(table, each) for each in (_ID, _INVITED, _PROJECT))
    address = table.by_field["email1"]
    for _, *cells in table.cells.itertuples(name=None):
        told = [cells[at] for at in invited if cells[at]]
        row = _Entry(
            all(cells[at].casefold() in project for at in of),
            cells[ids[0]] if ids else "",
            bool(told) and all(map(_says_so, told)),
        )
        yield email_key(plain_address(cells[address])), row


def _columns(table: Table, header: re.Pattern[str]) -> list[int]:
    """The columns whose header matches; those that say `candidate` come first."""
    found = [at for at, title in enumerate(table.headers) if header.fullmatch(worded(title))]
    return sorted(found, key=lambda at: "candidate" not in worded(table.headers[at]))


def _says_so(cell: str) -> bool:
    """Whether a cell says that somebody was invited: yes, Sent, a count of emails, a date."""
    if cell.isdecimal():
        return int(cell) > 0
    says_yes = cell.casefold() in listed("yes") or says("sent", cell, "fullmatch")
    return says_yes or bool(_DATE.fullmatch(cell))


_ID = re.compile("(?:candidate )?id")
_PROJECT = re.compile("(?:project|interview|assessment|competition)(?: id| name| title)?")
_INVITED = re.compile(
    "(?:was )?(?:invited|emailed|sent|invitation(?: status)?|(?:invitation|invite|email)s? sent)"
    "(?: at| on| date)?"
)
_DATE = re.compile(
    r"(?:20\d\d-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./](?:20)?\d\d)(?:[ T,]+\d[\d:.+]*(?: ?[AP]M|Z)?)?"
)
