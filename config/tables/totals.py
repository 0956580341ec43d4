"""Rows of totals that a report has below or between its people."""

import re
from collections.abc import Sequence
from typing import Any

from config.tables.cells import as_text, is_blank

LONGEST = 60
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


def is_total(cells: Sequence[Any]) -> bool:
    """Say whether a row begins with a word for a total, and otherwise has only numbers."""
    begins, first = next(
        ((at, cell) for at, cell in enumerate(cells) if not is_blank(cell)), (0, None)
    )
    if not isinstance(first, str) or len(first) > LONGEST or not _TOTAL.fullmatch(first.strip()):
        return False
    others = (cell for cell in cells[begins + 1 :] if not is_blank(cell))
    return all(_NUMBER.fullmatch(str(as_text(cell))) for cell in others)
