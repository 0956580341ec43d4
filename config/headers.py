"""Which column of a table holds which field: by the meaning of its header."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NEEDED = ("first_name", "last_name", "email1")
# The interface's field names and their obvious other names, as `spelling` reduces them.
ALIASES: dict[str, tuple[str, ...]] = {
    "first_name": ("firstname", "givenname", "forename", "vorname", "prenom", "nombre"),
    "last_name": ("lastname", "surname", "familyname", "nachname", "nomdefamille", "apellido"),
    "email1": ("email1", "email", "emailaddress", "mail", "mailaddress"),
    "source": ("source", "candidatesource", "applicationsource"),
    "notes": ("notes", "note", "comment", "comments", "remarks"),
    "stage_id": ("stageid", "stage"),
    "campaign": ("campaign", "campaignkey"),
}
FIELD_OF = {alias: name for name, aliases in ALIASES.items() for alias in aliases}


def spelling(header: str) -> str:
    """Reduce a header to its letters and digits: `E-mail ` and `e_mail` are one."""
    decomposed = unicodedata.normalize("NFKD", header).casefold()
    return "".join(c for c in decomposed if c.isalnum())


@dataclass(frozen=True, slots=True)
class Columns:
    """The column (from 0) of each field, the headers nobody asked for, and what is wrong."""

    by_field: Mapping[str, int]
    unused: tuple[str, ...]
    complaints: tuple[str, ...]


def find_columns(
    header: Sequence[str], chosen: Mapping[str, str], needed: Sequence[str] = NEEDED
) -> Columns:
    """Find the fields in a header row; `chosen` (field to header) wins over the known names.

    A field that is needed and absent, or found twice, is a complaint that lists what there is.
    """
    found: dict[str, list[int]] = {}
    meanings = {spelling(header): field for field, header in chosen.items()}
    unused = []
    for column, name in enumerate(header):
        reduced = spelling(name)
        field = meanings.get(reduced) or FIELD_OF.get(reduced)
        if field is None or (field in chosen and reduced not in meanings):
            if reduced:
                unused.append(name.strip())
            continue
        found.setdefault(field, []).append(column)
    listed = ", ".join(name.strip() for name in header if name.strip()) or "nothing"
    complaints = [
        f"no column for {field}; found {listed}"
        for field in dict.fromkeys((*needed, *chosen))
        if field not in found
    ]
    complaints += [
        f"{len(columns)} columns for {field}: "
        + ", ".join(header[column].strip() for column in columns)
        for field, columns in found.items()
        if len(columns) > 1
    ]
    by_field = {field: columns[0] for field, columns in found.items()}
    return Columns(by_field, tuple(unused), tuple(complaints))


def matches(header: Sequence[str], chosen: Mapping[str, str]) -> int:
    """Count the fields that a header row names: how well a guessed delimiter fits."""
    return len(find_columns(header, chosen).by_field)
