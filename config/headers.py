"""Which column of a table holds which field: by the meaning of its header."""

import re
import unicodedata
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

NEEDED = ("first_name", "last_name", "email1")
FULL_NAME = "full_name"
# The interface's field names and their other names in the languages of many applicants, as
# `spelling` reduces them.
ALIASES: dict[str, tuple[str, ...]] = {
    "first_name": (
        *("firstname", "givenname", "givennames", "forename", "forenames", "fname"),
        *("candidatefirstname", "applicantfirstname", "legalfirstname"),
        *("vorname", "prenom", "nombre", "nombres", "nome", "voornaam", "imie", "fornamn"),
    ),
    "last_name": (
        *("lastname", "surname", "familyname", "lname"),
        *("candidatelastname", "applicantlastname", "legallastname"),
        *("nachname", "familienname", "nomdefamille", "apellido", "apellidos", "cognome"),
        *("sobrenome", "achternaam", "nazwisko", "efternamn"),
    ),
    "email1": (
        *("email1", "email", "emailaddress", "mail", "mailaddress", "emailid", "primaryemail"),
        *("candidateemail", "candidateemailaddress", "applicantemail", "contactemail"),
        *("workemail", "personalemail", "emailadresse", "mailadresse", "adresseemail"),
        *("adressemail", "courriel", "correo", "correoelectronico", "indirizzoemail"),
        *("enderecodeemail", "emailadres", "adresemail", "epost", "epostadress"),
    ),
    "source": (
        *("source", "sources", "candidatesource", "applicationsource", "leadsource"),
        *("quelle", "herkunft", "origine", "origen", "fuente", "bron"),
    ),
    "notes": ("notes",),
    "stage_id": ("stageid", "stage", "stagenumber"),
    "campaign": ("campaign", "campaignkey", "kampagne", "campagne", "campana", "campagna"),
    FULL_NAME: (
        *("fullname", "name", "candidate", "candidatename", "applicant", "applicantname"),
        *("vollername", "vollstandigername", "nomcomplet", "nombrecompleto", "nomecompleto"),
        *("volledigenaam", "imieinazwisko"),
    ),
}
# What people write here may be meant for nobody else: sent as notes only where they say so.
REMARKS = frozenset(
    (
        *("note", "comment", "comments", "remark", "remarks"),
        *("notiz", "notizen", "bemerkung", "bemerkungen", "kommentar", "kommentare"),
        *("remarque", "remarques", "commentaire", "commentaires", "notas", "comentarios"),
        *("opmerking", "opmerkingen", "commenti"),
    )
)
FIELD_OF = {alias: name for name, aliases in ALIASES.items() for alias in aliases}
# Beside a first name in these words, these mean the family name; alone they might be whole names.
FAMILY_NAME_BESIDE = {"vorname": "name", "prenom": "nom", "voornaam": "naam"}
# Words that mean names only side by side; alone they might be anything.
SIDE_BY_SIDE = {"first": "first_name", "last": "last_name"}

_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


@lru_cache(maxsize=1024)
def spelling(header: str) -> str:
    """Reduce a header to its letters and digits: `E-mail ` and `e_mail` are one."""
    decomposed = unicodedata.normalize("NFKD", header).casefold()
    return "".join(c for c in decomposed if c.isalnum())


def meaning(header: str) -> str | None:
    """Answer the field that a header names; what stands in brackets only explains it.

    Not of notes: `Notes (internal)` is no column to send.
    """
    if (field := FIELD_OF.get(spelling(header))) is not None:
        return field
    explained = FIELD_OF.get(spelling(_IN_BRACKETS.sub("", header)))
    return None if explained == "notes" else explained


def may_be_notes(header: str) -> bool:
    """Whether a header names remarks of any kind."""
    reduced = spelling(_IN_BRACKETS.sub("", header))
    return reduced in REMARKS or FIELD_OF.get(reduced) == "notes"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a definition says about the columns: `named` (field to header, None where the table has
    no column for it), and whether a full name is to be split into first and last name.
    """

    named: Mapping[str, str | None]
    split_name: bool = False
    first_address: bool = False

    @property
    def needed(self) -> tuple[str, ...]:
        """The fields without which nobody can be added."""
        return (FULL_NAME, "email1") if self.split_name else NEEDED


def wishes_of(options: Mapping[str, Any]) -> Wishes:
    """Take the wishes from a definition's `candidates`; what is wrong there is told elsewhere."""
    columns = options.get("columns")
    columns = columns if isinstance(columns, Mapping) else {}
    named = {field: header for field, header in columns.items() if isinstance(header, str | None)}
    # Whoever says which column holds full names wants them split.
    split_name = options.get("split_name") is True or bool(named.get(FULL_NAME))
    return Wishes(named, split_name, options.get("several") == "first")


@dataclass(frozen=True, slots=True)
class Columns:
    """The column (from 0) of each field and its header, the headers nobody asked for, and what is
    wrong.
    """

    by_field: Mapping[str, int]
    names: Mapping[str, str]
    unused: tuple[str, ...]
    complaints: tuple[str, ...]


def find_columns(
    header: Sequence[str],
    chosen: Mapping[str, str | None],
    needed: Sequence[str] = NEEDED,
    unfit: Container[int] = (),
) -> Columns:
    """Find the fields in a header row; `chosen` (field to header) wins over the known names, and
    None says that there is no column for the field. Columns that are `unfit` hold no field.

    A field that is needed and absent, or found twice, is a complaint that lists what there is. A
    full name counts only where it is needed or chosen.
    """
    meant = fields_meant(header, chosen, needed)
    found: dict[str, list[int]] = {}
    unused = []
    for column, field in enumerate(meant):
        if field is not None and column not in unfit:
            found.setdefault(field, []).append(column)
        elif spelling(header[column]):
            unused.append(header[column].strip())
    listed = ", ".join(name.strip() for name in header if name.strip()) or "nothing"
    complaints = [
        f"no column for {field}{_asked_for(field, chosen)}; found {listed}"
        f"{_one_of(unused, field, chosen)}"
        for field in dict.fromkeys((*needed, *filter(chosen.get, chosen)))
        if field not in found
    ]
    complaints += [
        f"{len(columns)} columns for {field}: "
        + ", ".join(header[column].strip() for column in columns)
        + f'; say which, as in columns: {{{field}: "{header[columns[0]].strip()}"}}'
        for field, columns in found.items()
        if len(columns) > 1
    ]
    complaints += _about_names(header, found, chosen)
    by_field = {field: columns[0] for field, columns in found.items()}
    names = {field: header[column].strip() for field, column in by_field.items()}
    return Columns(by_field, names, tuple(unused), tuple(complaints))


def fields_meant(
    header: Sequence[str], chosen: Mapping[str, str | None], needed: Sequence[str]
) -> list[str | None]:
    """Answer the field of each column."""
    named = {spelling(name): field for field, name in chosen.items() if name}
    beside = _by_their_neighbours(header)
    fields: list[str | None] = []
    for name in header:
        reduced = spelling(name)
        field = named.get(reduced)
        if field is None:
            field = beside.get(reduced) or meaning(name)
            if field in chosen or (field == FULL_NAME and FULL_NAME not in needed):
                field = None
        fields.append(field)
    return fields


def _by_their_neighbours(header: Sequence[str]) -> dict[str, str]:
    """Answer what words mean that say a name only beside others, by their spelling."""
    spellings = set(map(spelling, header))
    beside = {
        family: "last_name" for first, family in FAMILY_NAME_BESIDE.items() if first in spellings
    }
    names = {"first_name", "last_name"}
    if spellings >= SIDE_BY_SIDE.keys() and not names & set(map(meaning, header)):
        beside |= SIDE_BY_SIDE
    return beside


def _asked_for(field: str, chosen: Mapping[str, str | None]) -> str:
    if field not in chosen:
        return ""
    return f' under the header "{chosen[field]}"' if chosen[field] else ", as columns says"


def _one_of(unused: Sequence[str], field: str, chosen: Mapping[str, str | None]) -> str:
    """Say how to name a column, where one that nobody asked for might be the missing one."""
    likely = [name for name in unused if meaning(name) != FULL_NAME]
    if not likely or field in chosen or field == "campaign":
        return ""
    return f'; if one of these is it: columns: {{{field}: "…"}}'


def _about_names(
    header: Sequence[str], found: Mapping[str, list[int]], chosen: Mapping[str, str | None]
) -> list[str]:
    """Help where one column holds whole names, and where names are there twice."""
    if FULL_NAME in found:
        return [
            f"a full name is to be split, but there is a column for {field} as well; "
            "leave out split_name"
            for field in ("first_name", "last_name")
            if field in found
        ]
    full = [name.strip() for name in header if meaning(name) == FULL_NAME]
    if full and FULL_NAME not in chosen and "first_name" not in found and "last_name" not in found:
        return [f'to split "{full[0]}" into first and last name, say so with split_name: true']
    return []


def matches(
    header: Sequence[str], chosen: Mapping[str, str | None], split_name: bool = False
) -> int:
    """Count the fields that a header row names: how well a row, or a guessed delimiter, fits."""
    needed = (FULL_NAME,) if split_name else ()
    return len(find_columns(header, chosen, needed).by_field)
