"""Errors that a spreadsheet shows in a cell that it could not calculate: never a name or any other
text.

A workbook marks such cells. A text table, and whatever was pasted from one, has only these words.
"""

import re

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


def is_error(text: str) -> bool:
    """Say whether a whole trimmed text is such an error."""
    # Hardly any text begins like this, and there are many texts.
    return text.startswith(("#", "Err:")) and _ERROR.fullmatch(text) is not None
