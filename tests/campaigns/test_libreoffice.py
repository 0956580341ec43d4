"""LibreOffice itself: the sheets that it saves are sent, and it opens whatever we hand back."""

import csv
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

import openpyxl
import pytest

from config.errors import BadInput
from config.reading.reading import read_campaigns
from flows.reports import tell
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tasks.outputs.exports import COLUMNS, RESULT_COLUMNS
from tasks.outputs.workbook_copy.fills import LIGHT_RED
from tests.sheets.exports.made import ADA, MADE, MARY, content
from tests.support.campaigns import Office
from tests.support.doubtful_campaign import KEY, DoubtfulCampaign, doubtful_campaign
from tests.support.libreoffice import LibreOffice, Rows, Seen, seen

pytestmark = pytest.mark.xdist_group("libreoffice")

CSV = "Text - txt - csv (StarCalc)"


def text(delimiter: str, charset: int) -> str:
    """How a text is saved and opened: the delimiter, quotes where needed, the character set; all
    sheets, cells as they are shown."""
    return f"{CSV}:{ord(delimiter)},34,{charset},1,,0,false,true,true,false,false,-1"


UTF_8, WINDOWS, UTF_16 = 76, 1, 65535
# What LibreOffice saves a workbook as: the folder, and its own name for the format.
WORKBOOKS = {
    "xlsx": "xlsx",
    "xlsm": "xlsm:Calc MS Excel 2007 VBA XML",
    "xls": "xls",
    "ods": "ods",
    "html": "html:HTML (StarCalc)",
}
TEXTS = {
    "commas": ("csv", ",", UTF_8),
    "semicolons": ("csv", ";", WINDOWS),
    "bars": ("csv", "|", UTF_8),
    "tabs": ("tsv", "\t", UTF_8),
    "unicode": ("txt", "\t", UTF_16),
}
KINDS = [*WORKBOOKS, *TEXTS]
EXPORTS = [
    "greenhouse-essential.xlsx",  # lines of a report above, full names
    "greenhouse-applications.xlsx",  # a person in two rows
    "google-form.xlsx",  # addresses that are links, dates
    "workday-candidates.xlsx",
    "personio-applications.xlsx",
    "numbers.xlsx",  # two sheets
]


def saved(program: LibreOffice, files: list[Path], into: Path) -> dict[str, dict[str, Path]]:
    """Let LibreOffice save workbooks in every format: the files by kind, and there by their stem.

    Of a text that has several sheets, the last.
    """
    by_kind = {}
    for kind, saved_as in WORKBOOKS.items():
        by_kind[kind] = {
            path.stem: path
            for path in program.save(files, into / kind, saved_as)
            if path.suffix == f".{kind}"
        }
    for kind, (suffix, delimiter, charset) in TEXTS.items():
        made = program.save(files, into / kind, f"{suffix}:{text(delimiter, charset)}")
        by_kind[kind] = {
            file.stem: [path for path in made if path.name.startswith(file.stem)][-1]
            for file in files
        }
    assert all(set(found) == {file.stem for file in files} for found in by_kind.values())
    return by_kind


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> LibreOffice:
    return LibreOffice(tmp_path_factory.mktemp("profile"))


@pytest.fixture(scope="module")
def exports(
    program: LibreOffice, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Path]]:
    """Some exports as LibreOffice saves them, in every format."""
    folder = tmp_path_factory.mktemp("exports")
    for name in EXPORTS:
        (folder / name).write_bytes(content(name, MADE[name]))
    return saved(program, [folder / name for name in EXPORTS], folder / "saved")


@pytest.mark.parametrize("kind", KINDS)
def test_what_libreoffice_saves_is_sent(
    kind: str, exports: Mapping[str, Mapping[str, Path]], tmp_path: Path
) -> None:
    """Each export in each of its formats: whom `where` keeps gets one email, and nobody else."""
    with Sandbox() as service:
        office = Office.at(tmp_path, service)
        for name in EXPORTS:
            host, path = f"{name.partition('.')[0]}.example", exports[kind][Path(name).stem]
            options = "".join(f"  {line}\n" for line in MADE[name].options.splitlines())
            definition = tmp_path / f"{Path(name).stem}.yaml"
            definition.write_text(
                f"campaign: {definition.stem}\nproject: {{name: Engineers}}\nproblem: 42\n"
                f"candidates:\n  file: {json.dumps(str(path))}\n{options}"
            )
            (read,) = read_campaigns(definition).definitions
            assert [(f"{p.first_name} {p.last_name}", p.email1) for p in read.candidates] == [
                (ADA, f"ada@{host}"),
                (MARY, f"mary@{host}"),
            ]
            office.run(definition)
        assert office.emails() == {
            f"{who}@{Path(name).stem}.example": 1 for name in EXPORTS for who in ("ada", "mary")
        }


HEADER = ["Ref", "First name", "Last name", "E-mail", "Phone", "Start", "Remarks"]
PEOPLE = [
    ["0049", "Ada", "Lovelace", "ada@mail.example", "+44 20 7946", datetime(2026, 11, 2), "=1+1"],  # noqa: DTZ001
    ["0050", "Zoë", "Müller; Ñandú", "zoe@mail.example", "-", None, 'says "yes",\nthen no'],
    ["0051", "Grace", "O'Neil", "grace@mail.example", "@home", None, "  "],
    ["0052", "Linus", "Torvalds", "linus@mail.example", "", None, "#N/A"],
]
DATE, REMARKS = HEADER.index("Start"), HEADER.index("Remarks")
DEFINITION = """\
campaign: backend-2026
project: {{name: Engineers}}
problem: 42
candidates: {{file: {}}}
"""


def write_book(path: Path, people: list[list[object]]) -> Path:
    """A person's own workbook: texts that look like something else, a date, another sheet."""
    book = openpyxl.Workbook()
    book.active.title = "Candidates"
    for row in (HEADER, *people):
        book.active.append(row)
    for row in book.active.iter_rows():
        for cell in row:
            cell.data_type = "s" if isinstance(cell.value, str) else cell.data_type
    book.save(path)
    return path


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[DoubtfulCampaign]:
    """A campaign of four: two are invited, one was refused, one is unsure."""
    with doubtful_campaign(tmp_path, monkeypatch, capsys) as set_up:
        write_book(tmp_path / "people.xlsx", PEOPLE)
        set_up.file.write_text(DEFINITION.format("people.xlsx"))
        set_up.run(
            Fault("status", "invite", email="zoe@mail.example", status=422),
            Fault("lost", "invite", email="grace@mail.example"),
        )
        yield set_up


def flat(program: LibreOffice, files: list[Path], into: Path) -> dict[str, dict[str, Rows]]:
    """Let LibreOffice open every file, each of another stem; the sheets that it sees, by stem."""
    by_filter: dict[str, list[Path]] = {}
    for file in files:
        charset = UTF_8
        delimiters = {"tsv": "\t", "txt": "\t", "csv": ";" if "semicolons" in file.stem else ","}
        delimiters |= {"csv": "|"} if "bars" in file.stem else {}
        delimiter = delimiters.get(file.suffix[1:])
        opened_as = text(delimiter, charset) if delimiter else ""
        by_filter.setdefault(opened_as, []).append(file)
    for opened_as, some in by_filter.items():
        program.save(some, into, "fods", opened_as=opened_as)
    # Each was opened.
    assert {path.stem for path in into.iterdir()} == {file.stem for file in files}
    return {file.stem: seen(into / f"{file.stem}.fods") for file in files}


def written_back(desk: DoubtfulCampaign, own: Mapping[str, Mapping[str, Path]]) -> list[Path]:
    """Have the results written into copies of a person's table, of every kind there is."""
    copies = []
    for kind, paths in own.items():
        endings = {"xlsx", kind if kind in ("xlsm", *TEXTS) else "xlsx"}
        for ending in endings - ({"xlsx"} if kind == "xlsm" else set()):
            suffix = TEXTS[ending][0] if ending in TEXTS else ending
            copies.append(desk.folder / f"back-{kind}-{ending}.{suffix}")
            into = ("--into", paths["people"], "--campaign", desk.file)
            answer = desk.type("links", KEY, *into, "-o", copies[-1])
            assert answer.code == 0, answer.err
    return copies


def results(desk: DoubtfulCampaign) -> dict[str, tuple[str, ...]]:
    """What must stand beside each person: id, link and status."""
    links = json.loads(desk.type("links", KEY, "--format", "json").out)
    words = {"done": "invited"}
    return {
        link["email1"]: (
            str(link["candidate_id"]),
            link["embed_url"],
            words.get(link["invite"], link["invite"]),
        )
        for link in links
    }


def check_copy(rows: Rows, expected: Mapping[str, tuple[str, ...]], *, clicked: bool) -> None:
    """Each of these people has their own result; what stood in the row before is still there."""
    header = [cell.text for cell in rows[0]]
    assert header[: len(HEADER)] == HEADER and tuple(header[-4:]) == RESULT_COLUMNS
    typed = {person[3]: person for person in PEOPLE}
    assert {row[3].text for row in rows[1:]} == expected.keys()
    for row in rows[1:]:
        before, (number, url, status) = row[: len(HEADER)], row[len(HEADER) : len(HEADER) + 3]
        email = before[3].text
        assert (number.text, url.text, status.text) == expected[email]
        assert number.number and url.link == (url.text if clicked else None)
        assert [cell.text for cell in before[1:4]] == typed[email][1:4]
        assert bool(before[DATE].text) == bool(typed[email][DATE])
        assert not [cell for cell in row if cell.formula]


def test_libreoffice_opens_every_copy_with_results(
    desk: DoubtfulCampaign, program: LibreOffice
) -> None:
    """Values as they were, each person's own result beside them, links that can be clicked in
    every workbook, and nothing that is calculated."""
    own = saved(program, [desk.folder / "people.xlsx"], desk.folder / "own")
    for paths in own.values():
        answer = desk.type("check", paths["people"], "--campaign", desk.file)
        assert answer.code == 0, answer.err
    copies = written_back(desk, own)
    unfinished = desk.folder / "unfinished.xlsx"
    desk.type("links", KEY, "--into", "people.xlsx", "--failed-only", "-o", unfinished)
    expected = results(desk)
    assert {status for *_, status in expected.values()} == {"invited", "refused", "unsure"}
    sheets = flat(program, [*copies, unfinished, desk.folder / "people.xlsx"], desk.folder / "flat")
    (original,) = sheets.pop("people").values()
    to_mend = {email: row for email, row in expected.items() if row[2] != "invited"}
    check_copy(sheets.pop("unfinished")["Candidates"], to_mend, clicked=True)
    for stem, by_name in sheets.items():
        (rows,) = by_name.values()
        check_copy(rows, expected, clicked=stem.endswith(("xlsx", "xlsm")))
        if stem in ("back-xlsx-xlsx", "back-xlsm-xlsm"):  # the very cells
            assert [row[: len(HEADER)] for row in rows[1:]] == [
                [*row, *[Seen("")] * (len(HEADER) - len(row))] for row in original[1:]
            ]


def test_libreoffice_opens_the_links(desk: DoubtfulCampaign, program: LibreOffice) -> None:
    """As a workbook, with links that can be clicked; as CSV, typed or written by the run."""
    desk.type("links", KEY, "--format", "xlsx", "-o", "book.xlsx")
    desk.type("links", KEY, "-o", "typed.csv")
    texts = [desk.folder / "typed.csv", desk.folder / "out" / KEY / "links.csv"]
    sheets = flat(program, [desk.folder / "book.xlsx", *texts], desk.folder / "flat")
    listed = json.loads(desk.type("links", KEY, "--format", "json").out)
    assert len(listed) == len(PEOPLE)
    expected = [list(COLUMNS), *([str(link[name]) for name in COLUMNS] for link in listed)]
    for (rows,) in (by_name.values() for by_name in sheets.values()):
        assert [[cell.text for cell in row] for row in rows] == expected
    (rows,) = sheets["book"].values()
    assert [row[4].link for row in rows] == [None, *(link["embed_url"] for link in listed)]


def test_libreoffice_opens_every_marked_copy(desk: DoubtfulCampaign, program: LibreOffice) -> None:
    """One cell is red and has a note that says why, in a copy of every kind of table, asked for
    or laid beside a bad file."""
    bad = [*PEOPLE[:3], [*PEOPLE[3][:3], "linus@", *PEOPLE[3][4:]]]
    own = saved(program, [write_book(desk.folder / "bad.xlsx", bad)], desk.folder / "own")
    marked = []
    for kind, paths in own.items():
        marked.append(desk.folder / f"marked-{kind}.{'xlsm' if kind == 'xlsm' else 'xlsx'}")
        answer = desk.type("check", paths["bad"], "--campaign", desk.file, "--mark", marked[-1])
        assert answer.code == 2, answer.err
    definition = desk.folder / "bad.yaml"
    definition.write_text(DEFINITION.format("bad.xlsx"))
    with pytest.raises(BadInput) as refused:
        read_campaigns(definition)
    tell(definition, "0f1e2d3c", refused.value.problems)
    (beside,) = desk.folder.glob("bad.xlsx.problems.*.xlsx")
    for stem, by_name in flat(program, [*marked, beside], desk.folder / "flat").items():
        (rows,) = by_name.values()
        assert [row[3].text for row in rows] == [HEADER[3], *(person[3] for person in bad)], stem
        red = f"#{LIGHT_RED[-6:].lower()}"
        spoken_of = [cell for row in rows for cell in row if cell.note or cell.colour == red]
        assert [(cell.text, cell.colour) for cell in spoken_of] == [("linus@", red)]
        assert "wanted an email address" in (spoken_of[0].note or "")


@pytest.mark.parametrize("kind", ["xlsx", "ods", "xls"])
def test_a_workbook_begun_here_is_filled_in_with_libreoffice(
    kind: str, desk: DoubtfulCampaign, program: LibreOffice
) -> None:
    """`campaign new` writes a workbook; what LibreOffice makes of it is a campaign as well."""
    assert desk.type("new", "spring.xlsx").code == 0
    files = program.save([desk.folder / "spring.xlsx"], desk.folder / kind, kind)
    (before,) = read_campaigns(desk.folder / "spring.xlsx").definitions
    (after,) = read_campaigns(files[0]).definitions
    assert (after.project, after.problem, after.invites.send) == (
        before.project,
        before.problem,
        before.invites.send,
    )
    assert [p.email1 for p in after.candidates] == [p.email1 for p in before.candidates]


@pytest.mark.parametrize("kind", ["xlsx", "xls", "ods", "commas", "semicolons", "unicode"])
def test_verdicts_filled_in_with_libreoffice_are_taken(
    kind: str, desk: DoubtfulCampaign, program: LibreOffice
) -> None:
    """The list of what is unsure is opened, saved as whatever comes to mind, and settles."""
    assert desk.settle("--export", "-o", "unsure.csv").code == 0
    unsure = desk.folder / "unsure.csv"
    with unsure.open(newline="", encoding="utf-8-sig") as file:
        header, row = list(csv.reader(file))
    row[header.index("verdict")] = "sent"
    with unsure.open("w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows([header, row])
    if kind in TEXTS:
        suffix, delimiter, charset = TEXTS[kind]
        saved_as = f"{suffix}:{text(delimiter, charset)}"
    else:
        saved_as = WORKBOOKS[kind]
    opened_as = text(",", UTF_8)
    files = program.save([unsure], desk.folder / "saved", saved_as, opened_as=opened_as)
    answer = desk.settle("--from", files[0])
    assert answer.code == 0, answer.err
    assert desk.steps("grace@mail.example") == ("done", "done")
