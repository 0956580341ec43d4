"""Workbooks as people have them. Each is written by several programs and must read the same."""

from datetime import datetime
from typing import Any

from tests.sheets.shapes import Book, Formula, Outcome, Sheet

Row = list[Any]
at = datetime.fromisoformat
HEADER: Row = ["First Name", "Surname", "E-mail", "Source", "Notes", "Stage"]
ADA: Row = ["Ada", "Lovelace", "ada@example.com", "referral", "met at a fair", 3]
BOB: Row = ["Null", "NA", "bob@example.com", None, None, None]
ZOE: Row = ["Zoë", "Müller-Ñandú", "zoe@example.com", "", "", 2.0]


def campaign(*more: Row) -> Sheet:
    fields = [["field", "value"], ["campaign", "a"], ["project.name", "A"], ["problem", 42]]
    return Sheet("campaign", [*fields, *more])


def one(name: str, people: list[Row], outcome: Outcome, *more: Row, **layout: Any) -> Book:
    from_1904 = layout.pop("from_1904", False)
    sheets = [campaign(*more), Sheet("Candidates", people, **layout)]
    return Book(name, sheets, outcome, from_1904)


def person(row: Row, cell: str, **changed: str) -> tuple[str, ...]:
    """A row of the above as it must be read; without a stage the campaign's own counts."""
    texts = ["" if value is None else str(value) for value in row]
    texts[5] = str(int(float(texts[5] or 1)))
    names = ["first_name", "last_name", "email1", "source", "notes", "stage_id"]
    values = dict(zip(names, texts, strict=True)) | changed
    return (*values.values(), cell)


def nothing(cell: str, field: str) -> str:
    return f"{{file}}, Candidates!{cell}, {field}: missing, …"


PLAIN = one(
    "plain",
    [HEADER, ADA, BOB, ZOE],
    Outcome({"a": [person(ADA, "C2"), person(BOB, "C3"), person(ZOE, "C4")]}),
)
TITLE = one(
    "title",
    [
        [],
        [None, "Applicants, December cohort", None, "ours", None, None, None, "draft"],
        [],
        [None, *HEADER, "Salary", "Interviewer's email address book"],
        [None, *ADA, 90_000, "x"],
        [],
        [None, None, None, None, None, None, None, 1],
        [None, *BOB],
        [None, *ZOE],
    ],
    Outcome(
        {"a": [person(ADA, "D5"), person(BOB, "D8"), person(ZOE, "D9")]},
        remarks=(
            "{file}, Candidates: …: Salary, Interviewer's email address book",
            "{file}, Candidates: 2 … hidden, …: 5, 8",
        ),
    ),
    hidden=[1, 5, 8],
    merged=["B2:C2"],
)
FORMULAS = one(
    "formulas",
    [
        HEADER,
        [
            Formula('"A"&"da"', "Ada"),
            "Lovelace",
            Formula('LOWER("ADA")&"@example.com"', "ada@example.com"),
            Formula('IF(1=2,"x","")', ""),
            Formula("2*1.25", 2.5),
            Formula("1+2", 3),
        ],
    ],
    Outcome({"a": [("Ada", "Lovelace", "ada@example.com", "", "2.5", "3", "C2")]}),
)
ERRORS = one(
    "errors",
    [
        HEADER,
        [Formula("NA()", "#N/A"), "B", "b@example.com"],
        ["C", "D", "c@example.com", Formula("1/0", "#DIV/0!"), None, Formula("NA()", "#N/A")],
        ["E", "F", Formula("NA()", "#N/A"), None, None, 1, Formula("1/0", "#DIV/0!")],
        ADA,
    ],
    Outcome(
        complaints=(
            "{file}, Candidates!A2, first_name: found the error #N/A, …",
            "{file}, Candidates!D3, source: found the error #DIV/0!, …",
            "{file}, Candidates!F3, stage_id: found the error #N/A, …",
            "{file}, Candidates!C4, email1: found the error #N/A, …",
        )
    ),
)
MERGED = one(
    "merged",
    [
        ["Person", None, "E-mail", "Source", "Notes", "Stage"],
        ["First name", "Last name", None, None, None, None],
        ["Ada", "Lovelace", "ada@example.com", "job fair", None, 3],
        ["Bob", "Byron", "bob@example.com"],
        ["Zoe", "Zeta", "zoe@example.com", None, None, 2],
        ["Eve", "Epsilon", "eve@example.com", "web"],
    ],
    Outcome(
        {
            "a": [
                ("Ada", "Lovelace", "ada@example.com", "job fair", "", "3", "C3"),
                ("Bob", "Byron", "bob@example.com", "job fair", "", "3", "C4"),
                ("Zoe", "Zeta", "zoe@example.com", "job fair", "", "2", "C5"),
                ("Eve", "Epsilon", "eve@example.com", "web", "", "1", "C6"),
            ]
        }
    ),
    merged=["A1:B1", "C1:C2", "D1:D2", "E1:E2", "F1:F2", "D3:D5", "F3:F4"],
)
NUMBERS = one(
    "numbers",
    [
        HEADER,
        ["A", "1", "a1@example.com", 49, "0049", "3.0"],
        ["B", 2.5, "b2@example.com", True, at("2026-12-01T00:00"), " 4 "],
        [1815, 3, "c3@example.com", False, at("2026-12-01T09:30"), 0],
    ],
    Outcome(
        {
            "a": [
                ("A", "1", "a1@example.com", "49", "0049", "3", "C2"),
                ("B", "2.5", "b2@example.com", "TRUE", "2026-12-01", "4", "C3"),
                ("1815", "3", "c3@example.com", "FALSE", "2026-12-01 09:30:00", "0", "C4"),
            ]
        },
        look_at=tuple(
            f"{{file}}, Candidates!{cell}: … hardly a name, …"
            for cell in ("B2, last_name", "B3, last_name", "A4, first_name", "B4, last_name")
        ),
    ),
)
SCRIPTS = one(
    "scripts",
    [
        HEADER,
        ["Łukasz", "Żółć", "l@example.com", "Ünïcode & <tags>", 'say "hi"\nthen go', 1],
        ["明", "王", "w@example.com", "=1+1", "+49 30 1234", 1],
        ["محمد", "الفارسي", "m@bücher.example", "-5", "@home", 1],
        ["😀", "O'Neil", "o'neil@example.com", "'quoted", "  spaces  ", 1],
    ],
    Outcome(
        {
            "a": [
                *[("Łukasz", "Żółć", "l@example.com", "Ünïcode & <tags>")],
                *[("明", "王", "w@example.com", "=1+1", "+49 30 1234", "1", "C3")],
                *[("محمد", "الفارسي", "m@bücher.example", "-5", "@home", "1", "C4")],
                *[("😀", "O'Neil", "o'neil@example.com", "'quoted", "spaces", "1", "C5")],
            ]
        },
        look_at=('{file}, Candidates!A5, first_name: "😀": … hardly a name, …',),
    ),
)
SCRIPTS.outcome.people["a"][0] += ('say "hi"\nthen go', "1", "C2")
DATES: Row = ["project.starttime", at("2026-12-01T09:00")]
ENDS: Row = ["project.endtime", at("2026-12-14T18:30")]
DATES_1900 = one(
    "dates-1900",
    [HEADER, [*ADA[:4], at("2026-12-01T00:00"), 3]],
    Outcome({"a": [person(ADA, "C2", notes="2026-12-01")]}, starttime="2026-12-01 09:00"),
    DATES,
    ENDS,
)
DATES_1904 = one(
    "dates-1904",
    [HEADER, [*ADA[:4], at("2026-12-01T00:00"), 3]],
    Outcome({"a": [person(ADA, "C2", notes="2026-12-01")]}, starttime="2026-12-01 09:00"),
    DATES,
    ENDS,
    from_1904=True,
)
SERIAL_1900 = one(
    "serial-1900",
    [HEADER, ADA],
    Outcome({"a": [person(ADA, "C2")]}, starttime="2026-12-01 09:00"),
    ["starttime", 46357.375],
    ["endtime", "2026-12-14 18:00"],
)
SERIAL_1904 = one(
    "serial-1904",
    [HEADER, ADA],
    Outcome({"a": [person(ADA, "C2")]}, starttime="2026-12-01 09:00"),
    ["starttime", 46357.375 - 1462],
    from_1904=True,
)
DATE_ALONE = one(
    "date-alone",
    [HEADER, ADA],
    Outcome(
        complaints=(
            '{file}, campaign!B5, project.starttime: found "2026-12-01", … 2026-12-01 09:00',
        )
    ),
    ["starttime", at("2026-12-01T00:00")],
)
BATCH = Book(
    "batch",
    [
        Sheet("Read me", [["This is our winter batch."]]),
        Sheet("campaigns", [["campaign", "name", "problem"], ["a", "A", 1], ["b", "B", 2]]),
        Sheet("candidates", [[*HEADER, "Campaign"], [*ADA, "b"], [*BOB, "a"], [*ZOE, "b"]]),
    ],
    Outcome({"a": [person(BOB, "C3")], "b": [person(ADA, "C2"), person(ZOE, "C4")]}),
)
HIDDEN_SHEET = Book(
    "hidden-sheet",
    [campaign(), Sheet("candidates", [HEADER, ADA], concealed=True)],
    Outcome(
        {"a": [person(ADA, "C2")]},
        remarks=("{file}, candidates: … hidden, …",),
    ),
)
BAD_PEOPLE = one(
    "bad-people",
    [
        ["E-mail", "First Name", "Surname", "Stage"],
        ["ana@", "Ana", "A", 1],
        ["Ben <ben@example.org>", "Ben", "B", 1],
        ["ca\u200bra@example.com", "Cara", "C", 1],
        ["dan@example.com", None, "D", 2.5],
        ["DAN@EXAMPLE.COM", "Dan", "D", "Phone screen"],
        [None, "Eve", "E"],
    ],
    Outcome(
        complaints=(
            '{file}, Candidates!A2, email1: found "ana@", …',
            '{file}, Candidates!A4, email1: found "ca\\u200bra@example.com", … ZERO WIDTH SPACE',
            nothing("B5", "first_name"),
            "{file}, Candidates!D5, stage_id: found 2.5, …",
            '{file}, Candidates!A6, email1: found "DAN@EXAMPLE.COM", … {file}, Candidates!A5 '
            "with other capitals",
            '{file}, Candidates!D6, stage_id: found "Phone screen", …',
            nothing("A7", "email1"),
        )
    ),
)
TWICE = one(
    "twice",
    [HEADER, ADA, [], [*ADA[:2], " ADA@Example.com\u00a0"]],
    Outcome(
        complaints=(
            '{file}, Candidates!C4, email1: found "ADA@Example.com", … {file}, Candidates!C2 '
            "with other capitals, … source, notes, stage_id",
        )
    ),
)
NO_EMAIL = one(
    "no-email",
    [["First name", "Last name", "Phone"], ["A", "B", 1]],
    Outcome(
        complaints=(
            "{file}, Candidates!A1: … email1; found First name, Last name, Phone; … {{email1: …}}",
        )
    ),
)
TWO_EMAILS = one(
    "two-emails",
    [["First name", "Last name", "E-mail", "Work email"], ["A", "B", "a@x.org", "b@x.org"]],
    Outcome(
        complaints=(
            '{file}, Candidates!A1: 2 … email1: E-mail, Work email; … {{email1: "E-mail"}}',
        )
    ),
)
MAPPED = one(
    "mapped",
    [["First name", "Last name", "E-mail", "Work email"], ["A", "B", "a@x.org", "b@x.org"]],
    Outcome(
        {"a": [("A", "B", "b@x.org", "", "", "1", "D2")]},
        remarks=("{file}, Candidates: …: E-mail",),
    ),
    ["columns.email1", "work E-MAIL"],
)
FULL_NAMES = one(
    "full-names",
    [["Name", "E-mail"], ["Ada Lovelace", "a@x.org"], ["Beethoven, Ludwig van", "b@x.org"]],
    Outcome(
        {
            "a": [
                ("Ada", "Lovelace", "a@x.org", "", "", "1", "B2"),
                ("Ludwig", "van Beethoven", "b@x.org", "", "", "1", "B3"),
            ]
        },
        look_at=(
            '{file}, Candidates!A3, first_name: "Beethoven, Ludwig van" … "Ludwig" … '
            '"van Beethoven"; … "Ludwig van" … "Beethoven" …',
        ),
    ),
    ["split_name", True],
)
FULL_NAMES_UNTOLD = one(
    "full-names-untold",
    [["Name", "E-mail"], ["Ada Lovelace", "a@x.org"]],
    Outcome(complaints=('{file}, Candidates!A1: … "Name"; …  split_name: true  …',)),
)
DOUBTFUL = one(
    "doubtful",
    [
        ["Vorname", "Name", "E-Mail-Adresse", "Herkunft", "Bemerkung", "Stage"],
        ["Ann", "A", "ann@gmial.com"],
        ["Ben", "B", "jobs@example.com"],
        ["Cy", "C", "a.b.c@gmail.com"],
        ["Di", "D", "abc+work@googlemail.com"],
        ["El", "E", "\u0430dam@example.com"],
    ],
    Outcome(
        {
            "a": [
                ("Ann", "A", "ann@gmial.com", "", "", "1", "C2"),
                ("Ben", "B", "jobs@example.com", "", "", "1", "C3"),
                ("Cy", "C", "a.b.c@gmail.com", "", "", "1", "C4"),
                ("Di", "D", "abc+work@googlemail.com", "", "", "1", "C5"),
                ("El", "E", "\u0430dam@example.com", "", "", "1", "C6"),
            ]
        },
        look_at=(
            '{file}, Candidates!C2, email1: "ann@gmial.com": gmial.com … gmail.com',
            '{file}, Candidates!C3, email1: "jobs@example.com": …',
            '{file}, Candidates!C5, email1: "abc+work@googlemail.com": … "a.b.c@gmail.com" at '
            "{file}, Candidates!C4; …",
            '{file}, Candidates!C6, email1: "\u0430dam@example.com": …: CYRILLIC SMALL LETTER A',
        ),
        remarks=(
            "{file}, Candidates: …: Bemerkung",
            '{file}, Candidates: … columns: {{notes: "Bemerkung"}}  (…: columns.notes)',
        ),
    ),
)
NO_SHEETS = Book(
    "no-sheets",
    [Sheet("Tabelle1", [HEADER, ADA])],
    Outcome(
        complaints=("{file}, sheets: found the sheets Tabelle1, …: --campaign definition.yaml",)
    ),
)
NOBODY = one(
    "nobody",
    [HEADER],
    Outcome(complaints=("{file}, Candidates, candidates: found no candidates, …",)),
)

NO_RESULT = "found a formula …"
# What comes of a book that a program wrote which calculates nothing.
WITHOUT_RESULTS = {
    "formulas": Outcome(
        complaints=(
            f"{{file}}, Candidates!A2, first_name: {NO_RESULT}",
            f"{{file}}, Candidates!C2, email1: {NO_RESULT}",
            f"{{file}}, Candidates!D2, source: {NO_RESULT}",
            f"{{file}}, Candidates!E2, notes: {NO_RESULT}",
            f"{{file}}, Candidates!F2, stage_id: {NO_RESULT}",
        )
    ),
    "errors": Outcome(
        complaints=(
            f"{{file}}, Candidates!A2, first_name: {NO_RESULT}",
            f"{{file}}, Candidates!D3, source: {NO_RESULT}",
            f"{{file}}, Candidates!F3, stage_id: {NO_RESULT}",
            f"{{file}}, Candidates!C4, email1: {NO_RESULT}",
        )
    ),
}

# xlsxwriter stores nothing for the empty text.
EMPTY_TEXT_MISSING = Outcome(complaints=(WITHOUT_RESULTS["formulas"].complaints[2],))

BOOKS = [value for value in list(globals().values()) if isinstance(value, Book)]
