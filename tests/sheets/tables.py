"""Text tables as systems export them; each is written in several encodings and delimiters."""

from tests.sheets.shapes import Outcome, Table

HEADER = ["First Name", "Last Name", "Email", "Source", "Notes", "Stage ID"]
ADA = ["Ada", "Lovelace", "ada@example.com", "referral", "", "3"]
ZOE = ["Zoë", "Müller", "zoe@example.com", "", "", "2.0"]
BOB = ["Null", "NA", "bob@example.com", "", "", ""]


def lines(*people: tuple[str, ...]) -> Outcome:
    return Outcome({"a": list(people)})


def wrong(*complaints: str) -> Outcome:
    return Outcome(complaints=tuple(f"{{file}}:{complaint}" for complaint in complaints))


TABLES = [
    Table(
        "plain",
        [HEADER, ADA, BOB],
        lines((*ADA[:5], "3", ":2"), (*BOB[:5], "1", ":3")),
    ),
    Table("accents", [HEADER, ZOE], lines((*ZOE[:5], "2", ":2"))),
    Table(
        "scripts",
        [HEADER, ["Łukasz", "王", "l@example.com", "עברית", "😀", "1"]],
        lines(("Łukasz", "王", "l@example.com", "עברית", "😀", "1", ":2")),
        encodings=("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"),
    ),
    Table(
        "quotes-and-breaks",
        [
            ["Applicants, December"],
            [],
            HEADER,
            ["Ada", "Lovelace", "ada@example.com", 'one, two; "three"', "up\ndown\tleft", "3"],
            ["", "", "", "", "", ""],
            BOB,
        ],
        lines(
            (*ADA[:3], 'one, two; "three"', "up\ndown\tleft", "3", ":4"),
            (*BOB[:5], "1", ":7"),
        ),
        encodings=("utf-8",),
    ),
    Table(
        "columns-named",
        [["Who", "Last", "Mail", "Contact"], ["Ada", "L", "x", "ada@example.com"]],
        Outcome(
            {"a": [("Ada", "L", "ada@example.com", "", "", "1", ":2")]},
            remarks=("{file}: …: Mail",),
        ),
        options="columns: {first_name: who, last_name: LAST, email1: Contact}",
        encodings=("utf-8",),
    ),
    Table(
        "full-names",
        [
            ["Applicant", "E-mail"],
            ["van Beethoven, Ludwig", "l@x.org"],
            ["Ada Byron de L", "a@x.org"],
        ],
        Outcome(
            {
                "a": [
                    ("Ludwig", "van Beethoven", "l@x.org", "", "", "1", ":2"),
                    ("Ada Byron", "de L", "a@x.org", "", "", "1", ":3"),
                ]
            },
            look_at=(
                '{file}:3, first_name: "Ada Byron de L" … "Ada Byron" … "de L"; … "Ada" … '
                '"Byron de L" … "Byron de L, Ada"',
            ),
        ),
        options="split_name: true",
        encodings=("utf-8",),
    ),
    Table(
        "one-word-name",
        [["Person", "E-mail"], ["Madonna", "m@x.org"]],
        wrong('2, last_name: found "Madonna", …'),
        options="columns: {full_name: person}",
        encodings=("utf-8",),
    ),
    Table(
        "guarded",
        [HEADER, ["Ada", "'=SUM(A1)", "ada@example.com", "'+49", "'@x", "1"]],
        lines(("Ada", "=SUM(A1)", "ada@example.com", "+49", "@x", "1", ":2")),
        encodings=("utf-8",),
    ),
    Table(
        "bad-people",
        [
            HEADER,
            ["A", "B", "a@", "", "", "x"],
            ["", "D", "d@x.org", "", "", ""],
            ADA,
            [*ADA[:5], "4"],
        ],
        wrong(
            '2, email1: found "a@", …',
            '2, stage_id: found "x", …',
            "3, first_name: missing, …",
            '5, email1: found "ada@example.com", … {file}:4, … stage_id',
        ),
    ),
    Table(
        "errors",
        [
            HEADER,
            ["#N/A", "B", "b@x.org", "", "", ""],
            ["C", " #NV ", "c@x.org", "Err:502", "#N/A, said the list", ""],
            ["D", "D", "#REF!", "", "#DIV/0!", "#VALUE!"],
            ["#1", "#NAME", "e@x.org", "", "", ""],
        ],
        wrong(
            "2, first_name: found the error #N/A, …",
            "3, last_name: found the error #NV, …",
            "3, source: found the error Err:502, …",
            "4, email1: found the error #REF!, …",
            "4, notes: found the error #DIV/0!, …",
            "4, stage_id: found the error #VALUE!, …",
            '5, first_name: "#1": …',
            '5, last_name: "#NAME": …',
        ),
        encodings=("utf-8", "cp1252"),
    ),
    Table(
        "nothing-in-words",
        [HEADER, ["null", "Nan", "n@x.org", "", "", ""], ["Null", "NaN", "m@x.org", "", "", ""]],
        Outcome(
            {
                "a": [
                    ("null", "Nan", "n@x.org", "", "", "1", ":2"),
                    ("Null", "NaN", "m@x.org", "", "", "1", ":3"),
                ]
            },
            look_at=(
                '{file}:2, first_name: "null": …',
                '{file}:3, last_name: "NaN": …',
            ),
        ),
        encodings=("utf-8",),
    ),
    Table(
        "no-header",
        [ADA, BOB],
        wrong("1: this row … is not a header; …"),
        encodings=("utf-8",),
    ),
    Table(
        "header-only",
        [HEADER],
        Outcome(complaints=("{file}, candidates: found no candidates, …",)),
        encodings=("utf-8", "utf-16"),
    ),
    Table(
        "zero-width",
        [HEADER, ["A", "B", "a\u200bb@x.org", "", "", ""], ["A", "B", "a\u3164@x.org", "", "", ""]],
        wrong(
            '2, email1: found "a\\u200bb@x.org", … ZERO WIDTH SPACE',
            '3, email1: found "a\u3164@x.org", … HANGUL FILLER',
        ),
        encodings=("utf-8", "utf-16"),
    ),
    Table(
        "nbsp",
        [HEADER, ["\u00a0Ada ", " Lovelace", "\u00a0ada@example.com ", "", "", " 3 "]],
        lines(("Ada", "Lovelace", "ada@example.com", "", "", "3", ":2")),
    ),
]
