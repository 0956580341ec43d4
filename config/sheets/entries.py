"""Read a do-not-contact list as people write it: addresses and whole domains."""

import re
from contextlib import suppress
from pathlib import Path

from config.emails import ascii_domain, checked_address, mailbox
from config.errors import BadInput, Mistake, Place
from config.sheets.cells import addresses_in, error_in, plain_address
from config.sheets.files import read_file
from config.sheets.table import grids_of, read_table

WANTED = "an address, or a domain such as @corp.org"
_EACH = re.compile(r"(?s)[\s,;]*([^@]*@[^\s,;]*|.+)")  # an address, or a rest without an @
_BARE = re.compile(r"([^@\s./]+\.)+[^\W\d_]{2,}")  # a domain without its @


class BadList(BadInput):
    says = "{files}: {count}. Nothing is sent until this is mended."
    then = "campaign doctor"


def entry(typed: str) -> str:
    """Read `ada@corp.org` as a mailbox; `@corp.org` or `*@corp.org` as a domain. Raises ValueError
    with what was wanted, also for other wildcards, which would block nobody.
    """
    text = typed.strip()
    if domain := re.fullmatch(r"\*?@((?:[^@\s*.,;]+\.)+[^@\s*.,;]+)", text):
        return ascii_domain(domain[1])
    if "*" in text:
        raise ValueError(f"{WANTED}; a * stands only before the @ of a whole domain")
    return mailbox(checked_address(text))


def read_entries(file: Path) -> list[str]:
    """Read a list of any format: its column of addresses, or if it has none, every cell with an @.

    In all other cells of the file, addresses count, and domains alone in a cell; # begins a remark.
    Raises BadList, also for a row or a list without entries, and for any other @.
    """
    try:
        table = read_table(source := read_file(file))
    except BadInput as error:
        raise BadList(error.mistakes) from None
    column = table.by_field.get("email1")
    entries: list[str] = []
    wrong = {each.place: each for each in (table.grid if column is None else table).mistakes}
    for number, row in table.grid.rows:
        cells = row if column is None else row[column : column + 1]
        whole = "\n".join(cells)
        is_header = column is not None or not re.search(r"[@.]", whole)
        text = whole if any(map(error_in, cells)) else whole.partition("#")[0]
        lines = [line.strip() for line in text.splitlines() if "@" in line] or [text.strip()]
        typed = [each for line in lines for each in _EACH.findall(line.strip(" \t,;"))] or [""]
        if (is_header and number <= table.header) or (whole.strip() and not typed[0]):
            continue
        for each in typed:
            try:
                entries.append(entry(plain_address(each)))
            except ValueError as error:
                place = table.place(number, column)
                wrong.setdefault(place, Mistake(place, found=each or None, wanted=str(error)))
    for grid in grids_of(source):
        for number, row in grid.rows:
            for at, cell in enumerate(row):
                place, rest = grid.place(number, at), re.sub("#.*", "", cell).strip()
                for text in (cell, *re.split("[\n,;]", rest), *addresses_in(rest)):
                    with suppress(ValueError):
                        entries.append(entry(plain_address(text)))
                        rest = rest.replace(text, "")
                if "@" in rest or (grid.sheet != table.grid.sheet and _BARE.fullmatch(rest)):
                    wrong.setdefault(place, Mistake(place, found=cell, wanted=WANTED))
    if wrong:
        raise BadList(wrong.values())
    if not entries:
        raise BadList.at(Place(file), "it is empty; unset CAMPAIGN_DO_NOT_CONTACT to have none")
    return entries
