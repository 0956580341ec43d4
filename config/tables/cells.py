"""What a cell of a table means for the field that its column belongs to.

Spreadsheets keep 3 as 3.0 and a phone extension as a number; what a person sees is what counts. A
cell that does not fit its field is passed on as it is, so that the rules of the field refuse it.
"""

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

# How a text begins that a spreadsheet would take for a formula, and the apostrophe that marks it as
# text. Japanese and Chinese versions of Excel treat the wide characters as the same.
STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
GUARD = "'"
_GUARDED = tuple(GUARD + begins for begins in STARTS)

YES = {"true", "yes", "1"}
NO = {"false", "no", "0"}
# Beyond this, floating-point numbers skip whole numbers.
LARGEST_EXACT = 2**53

# The years 2000 to 2100, in a spreadsheet's day numbers; other numbers are not dates of a campaign.
LIKELY_DAYS = range(36_526, 73_051)
DAYS_TO_1904 = 1_462
DAY_ZERO = datetime(1899, 12, 30)  # noqa: DTZ001 - cells have no timezone

# With three zeros it might be a thousand, as written in some countries.
_WHOLE = re.compile(r"[+-]?\d+(?:[.,]0{0,2})?", re.ASCII)
# Errors that a spreadsheet shows in a cell that it could not calculate. A workbook marks such
# cells; a text table, and whatever was pasted from one, has only these words.
_ERROR = re.compile(
    r"""
    [#](?:
        # In English, with what newer versions and web spreadsheets have added.
        N/A | (?: DIV/0 | REF | VALUE | NULL | NUM | SPILL | CALC | FIELD | BLOCKED | UNKNOWN
        | CONNECT | BUSY | ERROR )! | NAME\? | GETTING_DATA
        # German, French, Spanish, Italian, Portuguese and Dutch, where they differ.
        | NV | (?: BEZUG | WERT | ZAHL )!
        | (?: VALEUR | NUL | NOMBRE )! | NOM\?
        | N/D | ¡(?: DIV/0 | REF | VALOR | NULO | NUM )! | ¿NOMBRE\?
        | (?: RIF | VALORE | NULLO )! | NOME\?
        | (?: VALOR | NULO | NÚM )!
        | N/B | (?: DEEL/0 | VERW | WAARDE | LEEG | GETAL )! | NAAM\?
    )
    # LibreOffice's own, such as Err:502 for a bad argument.
    | Err:[0-9]{3}
    """,
    re.VERBOSE,
)

# Rows of totals that a report has below or between its people.
LONGEST_TOTAL = 60
_WORDS = (
    *("totals?", "sum", "count", "number", "records?", "rows?", "candidates?", "applicants?"),
    *("summe", "gesamt", "gesamtsumme", "gesamtzahl", "anzahl", "zwischensumme"),
    *("total général", "totaux", "nombre", "somme", "totales", "suma", "recuento", "cantidad"),
    *("totali", "totale", "somma", "conteggio", "totais", "soma", "contagem", "totaal", "aantal"),
    *("razem", "łącznie", "liczba", "totalt", "summa", "antal", "antall", "i alt", "yhteensä"),
    *("celkem", "počet", "toplam", "всего", "итого", "合計", "総計", "总计", "合计", "합계"),
)
_EACH = "|".join(_WORDS)
# `Total`, `Grand total: 312`, `Total records = 312`, `Count of candidates`, `312 records`.
_TOTAL = re.compile(
    rf"(?:(?:grand|sub|report|overall)[ -]?)?(?:{_EACH})(?: (?:of |der |de )?(?:{_EACH}))?"
    r"\s*[:=]?\s*\(?[\d.,\s]*\)?(?:\s(?:records|rows|candidates))?|\d[\d.,\s]*\s(?:records|rows)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[\d.,\s%$€£+-]+")


def is_blank(cell: Any) -> bool:
    """Say whether a cell holds nothing that a person would see."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def as_text(cell: Any) -> Any:
    """Write a cell as the text a person sees in it."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, int):
        return str(cell)
    if isinstance(cell, float) and math.isfinite(cell):
        whole = cell.is_integer() and abs(cell) <= LARGEST_EXACT
        return str(int(cell)) if whole else repr(cell)
    if isinstance(cell, datetime):
        midnight = cell.time() == time()
        return cell.date().isoformat() if midnight else cell.isoformat(" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    return cell


def as_whole_number(cell: Any) -> Any:
    """Read 3, 3.0, "3" and "3,0" as the number 3."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) <= LARGEST_EXACT:
        return int(cell)
    if isinstance(cell, str) and len(cell) < 32 and _WHOLE.fullmatch(cell.strip()):
        return int(cell.strip().replace(",", ".").partition(".")[0])
    return cell


def is_words(cell: Any) -> bool:
    """Say whether a cell holds a text that is neither a number nor an error."""
    if not isinstance(cell, str) or is_error(cell.strip()):
        return False
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return True
    return False


def as_yes_or_no(cell: Any) -> Any:
    """Read true, yes and 1, or false, no and 0, as a truth value."""
    text = str(as_text(cell)).strip().casefold()
    if text in YES:
        return True
    return False if text in NO else cell


def as_moment(cell: Any, from_1904: bool = False) -> Any:
    """Keep a date-time cell and a text; a date becomes a text, which lacks its time of day.

    A number counts days as a spreadsheet does: since 1900, or since 1904. A spreadsheet keeps a
    bare date as midnight. An end at midnight would be a day too early for somebody who meant the
    whole day, so a person has to type midnight.
    """
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        days = cell + (DAYS_TO_1904 if from_1904 else 0)
        if int(days) not in LIKELY_DAYS:
            return cell
        cell = DAY_ZERO + timedelta(seconds=round(days * 86400))
    if isinstance(cell, datetime) and cell.time() != time():
        return cell
    return cell.strftime("%Y-%m-%d") if isinstance(cell, date) else cell


def is_error(text: str) -> bool:
    """Say whether a whole trimmed text is an error of a spreadsheet, never a name or other text."""
    # Hardly any text begins like this, and there are many texts.
    return text.startswith(("#", "Err:")) and _ERROR.fullmatch(text) is not None


def is_total(cells: Sequence[Any]) -> bool:
    """Say whether a row begins with a word for a total, and otherwise has only numbers."""
    begins, first = next(
        ((at, cell) for at, cell in enumerate(cells) if not is_blank(cell)), (0, None)
    )
    if (
        not isinstance(first, str)
        or len(first) > LONGEST_TOTAL
        or not _TOTAL.fullmatch(first.strip())
    ):
        return False
    others = (cell for cell in cells[begins + 1 :] if not is_blank(cell))
    return all(_NUMBER.fullmatch(str(as_text(cell))) for cell in others)


def guarded(cell: object) -> object:
    """Keep a spreadsheet from calculating a cell when somebody opens the text table."""
    return GUARD + cell if isinstance(cell, str) and cell.startswith(STARTS) else cell


def unguarded(row: list[str]) -> list[str]:
    """Remove the apostrophes that programs have added; they are not part of the texts."""
    if any(cell.startswith(_GUARDED) for cell in row):
        return [cell[1:] if cell.startswith(_GUARDED) else cell for cell in row]
    return row
