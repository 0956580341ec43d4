"""Reminders: which of the invited people get one more email."""

from collections import Counter
from collections.abc import Collection
from pathlib import Path

from sqlmodel import Session

from config.emails import checked_address, mailbox
from config.errors import BadInput, Mistake, shown
from config.sheets.cells import addresses_in, plain_address
from config.sheets.files import read_file
from config.sheets.left_out import REMARK, marked_rows
from config.sheets.table import PERSON, grids_of, read_table
from data.campaigns.people import rows
from data.eligibility.do_not_contact import corrected
from data.eligibility.holds import holds
from data.store.states import Op, State
from data.store.tables import Campaign

UNKNOWN = "Nobody can know who has finished: whoever has gets this email too, without --except LIST"
NOT_READ = "an address of this campaign stands outside the list that is read; move it there"
ALONE = "one email address and nothing beside it, so that nobody on this list is missed"
ONLY = "this column may say who is not meant; keep only people to remind, and delete it"
MARKED = "this row is {}, so nobody can know whether it is meant; delete it, or unmark it"


def whom(
    session: Session, campaign: Campaign, listed: Path | None, finished: Path | None
) -> tuple[list[str], list[str]]:
    """The addresses to remind, from a list or from all, and notes for the person who asks.

    Raises BadInput for a list that cannot be read.
    """
    emails: list[str] = []
    notes: list[str] = []
    everybody = rows(session, campaign.id)
    invited = {row.person_id for row in everybody if row.states[Op.INVITE] is State.DONE}
    held = holds(session, campaign, invited)
    boxes = {mailbox(row.email1) for row in everybody}
    only = _mailboxes(listed, boxes, notes, reminds=True) if listed else boxes
    done = corrected(session, _mailboxes(finished, boxes, notes)) if finished else set()
    others: Counter[str] = Counter()
    for row in everybody:
        why_not = {
            "not invited, not any more, or invited once more already": row.person_id not in invited,
            "the pilot": row.person_id == campaign.pilot_id,
            f"in {finished}": mailbox(row.email1) in done,
            f"not in {listed}": mailbox(row.email1) not in only,
            "held": row.person_id in held,
        }
        if first := next((why for why, is_so in why_not.items() if is_so), None):
            others[first] += 1
        else:
            emails.append(row.email1)
    notes += [f"Left out: {number:,} {why}" for why, number in others.items()]
    notes += [UNKNOWN] if finished is None else []
    notes.append(f"People who get one more email: {len(emails):,}")
    return emails, notes


def _mailboxes(
    file: Path, known: Collection[str], notes: list[str], *, reminds: bool = False
) -> set[str]:
    """The mailboxes in a table of any format. Those that are not `known` are noted.

    Raises BadInput also for a marked row, a cell that is no single address, a `known` mailbox that
    stands elsewhere, and, with `reminds`, for any other column.
    """
    table = read_table(source := read_file(file))
    people = [row for row, _ in table.rows]
    for at in {*range(table.cells.shape[1] if reminds else 0)} - {table.by_field.get("email1")}:
        is_name = at in (table.by_field.get(name) for name in PERSON)
        if any(map(REMARK.search if is_name else str.strip, table.cells[at].loc[people])):
            table.mistakes += [Mistake(table.place(table.header, at), ONLY)]
    if table.mistakes:
        raise BadInput(table.mistakes)
    for mark, them in marked_rows(table, people).items():
        raise BadInput.at(table.place(min(them)), MARKED.format(mark))
    column, boxes = table.by_field["email1"], set()
    for row, *cells in table.cells.itertuples(name=None):
        cell, where = cells[column], table.place(row, "email1")
        try:
            boxes.add(box := mailbox(checked_address(plain_address(cell))))
        except ValueError:
            raise BadInput.at(where, "", found=cell or None, wanted=ALONE) from None
        if box not in known:
            notes.append(f"{where}: {shown(cell)} is nobody of this campaign")
    unread = {*known} - boxes
    for grid in grids_of(source):
        for row, texts in grid.rows:
            if unread & {mailbox(each) for text in texts for each in addresses_in(text)}:
                raise BadInput.at(grid.place(row), NOT_READ)
    return boxes
