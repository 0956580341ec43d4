"""Exports made as the pages in README.md describe them; the people are samples.

Four people applied: Ada and Mary stand at the stage that is to be invited, the others do not.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import xlsxwriter

from tests.sheets import formats, writers
from tests.sheets.shapes import Book, Sheet

ADA, GRACE, ALAN, MARY = "Ada Lovelace", "Grace Hopper", "Alan Turing", "Mary Somerville"
PLACES = {
    ADA: ("Backend Engineer", "Take-home test", "Referral"),
    GRACE: ("Backend Engineer", "Phone screen", "Careers page"),
    ALAN: ("Data Scientist", "Take-home test", "LinkedIn"),
    MARY: ("Backend Engineer", "Take-home test", "Careers page"),
}
# What a column holds of each person.
FILL: dict[str, Callable[[str, str], Any]] = {
    "first": lambda name, _: name.split()[0],
    "last": lambda name, _: name.split()[1],
    "full": lambda name, _: name,
    "turned": lambda name, _: ", ".join(reversed(name.split())),
    "email": lambda name, host: f"{name.split()[0].lower()}@{host}",
    "two": lambda name, host: f"{name.split()[0].lower()}@{host}, {name.split()[0]}@home.example",
    "named": lambda name, host: f"{name} <{name.split()[0].lower()}@{host}>",
    "job": lambda name, _: PLACES[name][0],
    "stage": lambda name, _: PLACES[name][1],
    "source": lambda name, _: PLACES[name][2],
    "id": lambda name, _: 9_000_000_001 + list(PLACES).index(name),
    "text": lambda name, _: f"{name[0]}; said “yes”, twice",
    "phone": lambda name, _: f"+44 20 7946 0{len(name):03}",
    "date": lambda _, __: "2026-11-02T09:30:00",
    "day": lambda _, __: datetime(2026, 11, 2, 9, 30),  # noqa: DTZ001 - cells have no timezone
    "none": lambda _, __: "",
}


@dataclass(frozen=True)
class Made:
    """One export: its columns as `Header=what`, the way it is written, and what stands under
    `candidates` beside the file. `complaint` where it must be refused, at the cell that it names.
    """

    columns: str
    way: str
    options: str = ""
    complaint: str = ""
    # Lines of a report above the header, and whether Ada stands there a second time.
    above: int = 0
    twice: bool = False


SPLIT = "split_name: true\n"
JOB_STAGE = "where: {Job: Backend Engineer, Stage: Take-home test}\n"


def where(job: str, stage: str) -> str:
    return f'where: {{"{job}": backend engineer, "{stage}": take-home test}}\n'


def table(name: str, made: Made) -> list[list[Any]]:
    """The rows of an export; each export has addresses of its own."""
    host = f"{name.partition('.')[0]}.example"
    pairs = [column.rpartition("=") for column in made.columns.split(" | ")]
    people = [*PLACES, ADA] if made.twice else list(PLACES)
    rows = [[FILL[what](person, host) for _, _, what in pairs] for person in people]
    above = [[f"Prompt {number}", f"value {number}"] for number in range(made.above)]
    return [*above, [header for header, _, _ in pairs], *rows]


def content(name: str, made: Made) -> bytes:
    """Write an export as its system does."""
    return WAYS[made.way](table(name, made))


def _text(delimiter: str, encoding: str, first: str = "") -> Callable[[list[list[Any]]], bytes]:
    def write(rows: list[list[Any]]) -> bytes:
        import csv

        text = io.StringIO(newline="")
        text.write(first)
        csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
        return text.getvalue().encode(encoding, "replace")

    return write


def _xlsx(rows: list[list[Any]]) -> bytes:
    return writers.by_xlsxwriter(Book("", [Sheet("Candidates", rows)], _NOTHING))


def _numbers(rows: list[list[Any]]) -> bytes:
    summary = [list(row) for row in formats.SUMMARY]
    sheets = [
        Sheet("Export Summary", summary),
        Sheet("Sheet 1 - Candidates", [["Candidates"], *rows]),
    ]
    return writers.by_xlsxwriter(Book("", sheets, _NOTHING))


def _ods(rows: list[list[Any]]) -> bytes:
    return writers.by_hand(Book("", [Sheet("Sheet1", rows)], _NOTHING))


def _linked(rows: list[list[Any]]) -> bytes:
    """Google Sheets turns addresses into links; the workbook keeps both."""
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        sheet = book.add_worksheet("Form Responses 1")
        for number, row in enumerate(rows):
            for column, value in enumerate(row):
                if isinstance(value, str) and "@" in value:
                    sheet.write_url(number, column, f"mailto:{value}", string=value)
                else:
                    sheet.write(number, column, value)
    return file.getvalue()


def _page(rows: list[list[Any]]) -> bytes:
    lines = (
        f"<tr>{''.join(f'<td>{formats.escape(str(cell))}</td>' for cell in row)}</tr>"
        for row in rows
    )
    return formats.page(f"<table border=1>{''.join(lines)}</table>")


def _xml(rows: list[list[Any]]) -> bytes:
    cells = (formats.row_2003(tuple(map(str, row))) for row in rows)
    return formats.written_2003("".join(cells)).encode()


_NOTHING: Any = None
WAYS: dict[str, Callable[[list[list[Any]]], bytes]] = {
    "csv": _text(",", "utf-8"),
    "csv with mark": _text(",", "utf-8-sig"),
    "semicolons": _text(";", "cp1252"),
    "sep": _text(";", "utf-8-sig", "sep=;\r\n"),
    "tabs": _text("\t", "utf-8"),
    "unicode text": _text("\t", "utf-16"),
    "xlsx": _xlsx,
    "ods": _ods,
    "page": _page,
    "xml": _xml,
    "linked": _linked,
    "numbers": _numbers,
}
NAMES = "First Name=first | Last Name=last"
GREENHOUSE = "Candidate Name=full | Job=job | Stage=stage | Source=source | Applied On=day"
LEVER = (
    "Full name=full | Email={} | Lever Posting URL=none | Stage=stage | Sources=source | Job=job"
)
SMART = (
    "applicationID=id | applicationStage=stage | candidateFirstName=first | "
    "candidateLastName=last | candidateEmail=email | jobTitle=job"
)
PERSONIO = (
    "Candidate ID=id | Candidate name=full | Gender=none | Email address=email | Birthday=none"
)
STARRED = (
    "Candidate_ID=id | First_Name=first | Last_Name=last | Email=email | Source=source | "
    "Job_Posting_Title=job | Candidate_Stage=stage"
)
TRAKSTAR = (
    "Candidate Name=full | Candidate Email=email | Source Type=source | Source=source | "
    "Candidate Phone=phone | Opening Title=job | Stage=stage"
)
CLEAR = (
    "Candidate ID=id | Candidate First Name=first | Candidate Last Name=last | "
    "Candidate Email=email | Current Workflow Stage=stage | Requisition Title=job"
)
APPLITRACK = (
    "Applicant Number=id | Email Address=email | First Name=first | Middle Initial=none | "
    "Last Name=last | Job=job | Stage=stage | **EndOfHeader**=none"
)

MADE = {
    "greenhouse-essential.xlsx": Made(
        f"{GREENHOUSE} | Email Addresses=email", "xlsx", SPLIT + JOB_STAGE, above=3
    ),
    "greenhouse-all-addresses.xlsx": Made(
        f"{GREENHOUSE} | Email Addresses=two", "xlsx", SPLIT + "several: first\n" + JOB_STAGE
    ),
    "greenhouse-several-refused.xlsx": Made(
        f"{GREENHOUSE} | Email Addresses=two",
        "xlsx",
        SPLIT + JOB_STAGE,
        complaint="Candidates!F2, email1",
    ),
    "greenhouse-names.csv": Made(
        f"{NAMES} | Email=email | Job=job | Stage=stage", "csv", JOB_STAGE
    ),
    "greenhouse-applications.xlsx": Made(
        f"{NAMES} | Email=email | Job=job | Stage=stage", "xlsx", JOB_STAGE, twice=True
    ),
    "lever-candidates.csv": Made(LEVER.format("email"), "csv", SPLIT + JOB_STAGE),
    "lever-two-addresses.csv": Made(
        LEVER.format("two"), "csv", SPLIT + "several: first\n" + JOB_STAGE
    ),
    "lever-excel.xlsx": Made(LEVER.format("email"), "xlsx", SPLIT + JOB_STAGE, twice=True),
    "lever-slip-refused.csv": Made(
        LEVER.format("email"),
        "csv",
        SPLIT + "where: {Job: Backend Enginer}\n",
        complaint='candidates.where.Job: … "Backend Enginer" … "Backend Engineer"',
    ),
    "ashby-candidates.csv": Made(
        "Candidate Name=full | Primary Email Address=email | Job=job | Current stage=stage",
        "csv with mark",
        SPLIT + where("job", "current stage"),
    ),
    "ashby-sheet.xlsx": Made(
        "Name=full | Email=email | Job=job | Stage=stage | Status=none", "xlsx", SPLIT + JOB_STAGE
    ),
    "workable-candidates.csv": Made(
        "First name=first | Last name=last | Email=email | Job=job | Stage=stage | Source=source",
        "csv",
        JOB_STAGE,
    ),
    "workable-template.xlsx": Made(
        "Firstname=first | Lastname=last | Email=email | Job=job | Stage=stage",
        "xlsx",
        JOB_STAGE,
        above=4,
    ),
    "teamtailor-candidates.csv": Made(
        "Candidate ID=id | First name=first | Last name=last | Email=email | Job=job | Stage=stage",
        "semicolons",
        JOB_STAGE,
    ),
    "teamtailor-excel.csv": Made(
        "First name=first | Last name=last | Email=named | Job=job | Stage=stage",
        "sep",
        JOB_STAGE,
    ),
    "smartrecruiters-applications.csv": Made(SMART, "csv", where("jobTitle", "applicationStage")),
    "smartrecruiters-report.csv": Made(
        SMART, "unicode text", where("jobTitle", "applicationStage"), above=2
    ),
    "recruitee-search.csv": Made(
        "Name=full | Jobs=job | Emails=email | Phones=phone | Tags=stage | Sources=source",
        "csv",
        SPLIT + where("Jobs", "Tags"),
    ),
    "recruitee-several.csv": Made(
        "Name=full | Jobs=job | Emails=two | Tags=stage",
        "semicolons",
        SPLIT + "several: first\n" + where("Jobs", "Tags"),
    ),
    "personio-applications.xlsx": Made(
        f"{PERSONIO} | Final phase=stage | Job=job | Application date=day",
        "xlsx",
        SPLIT + where("Job", "Final phase"),
    ),
    "personio-applications.csv": Made(
        f"{PERSONIO} | Final phase=stage | Job=job | Application date=date",
        "csv with mark",
        SPLIT + where("Job", "Final phase"),
    ),
    "personio-bewerber.csv": Made(
        "Vorname=first | Nachname=last | E-Mail=email | Phase=stage | Stelle=job",
        "semicolons",
        where("Stelle", "Phase"),
    ),
    "bamboohr-candidates.csv": Made(
        "Applicant Name=full | Email=email | Job Opening=job | Status=stage | Rating=none",
        "csv",
        SPLIT + where("Job Opening", "Status"),
    ),
    "bamboohr-report.xls": Made(
        "Candidate Name=full | Email Address=email | Job Opening=job | Status=stage",
        "page",
        SPLIT + where("Job Opening", "Status"),
    ),
    "workday-candidates.xlsx": Made(
        f"{NAMES} | Email Address=email | Candidate Stage=stage | Job Requisition=job",
        "xlsx",
        where("Job Requisition", "Candidate Stage"),
        above=12,
    ),
    "workday-report.csv": Made(STARRED, "csv", where("Job_Posting_Title", "Candidate_Stage")),
    "workday-xml.xls": Made(
        "Legal Name - First Name=first | Legal Name - Last Name=last | Email - Primary=email | "
        "Job=job | Stage=stage",
        "xml",
        JOB_STAGE,
    ),
    "icims-search.xls": Made(
        "Person : Full Name: Last, First=turned | Person : Email=email | Job=job | Stage=stage",
        "page",
        SPLIT + JOB_STAGE,
    ),
    "icims-people.xlsx": Made(
        "Person : First Name=first | Person : Last Name=last | Person : Email=email | Job=job | "
        "Stage=stage",
        "xlsx",
        JOB_STAGE,
    ),
    "sap-integration.csv": Made(
        "jobReqId=job | applicationId=id | firstName=first | lastName=last | primaryEmail=email | "
        "status=stage",
        "csv",
        where("jobReqId", "status"),
    ),
    "sap-applicants.xlsx": Made(
        "Candidate First Name=first | Candidate Last Name=last | Contact Email=email | "
        "Requisition=job | Status=stage",
        "xlsx",
        where("Requisition", "Status"),
        above=6,
    ),
    "trakstar-hire.xlsx": Made(TRAKSTAR, "xlsx", SPLIT + where("Opening Title", "Stage")),
    "clearcompany.xlsx": Made(CLEAR, "xlsx", where("Requisition Title", "Current Workflow Stage")),
    "applitrack.txt": Made(APPLITRACK, "tabs", JOB_STAGE),
    "applitrack.xls": Made(APPLITRACK, "tabs", JOB_STAGE),
    "applitrack.csv": Made(APPLITRACK, "csv", JOB_STAGE),
    "jobaffinity.xlsx": Made(
        "Prénom=first | Nom=last | E-mail=email | Poste=job | Étape=stage",
        "xlsx",
        where("poste", "étape"),
    ),
    "jobaffinity.csv": Made(
        "Prénom=first | Nom=last | E-mail=email | Poste=job | Étape=stage",
        "semicolons",
        where("poste", "étape"),
    ),
    "peopleclick.xls": Made(
        f"{NAMES} | Email=email | Folder=stage | Job=job", "page", where("Job", "Folder")
    ),
    "breezy.csv": Made(
        "Name=full | Email=email | Phone=phone | Source=source | Stage=stage | Position=job",
        "csv",
        SPLIT + where("Position", "Stage"),
    ),
    "zoho-backup.csv": Made(
        f"Candidate Id=id | {NAMES} | Email=email | Candidate Stage=stage | Posting Title=job",
        "csv",
        where("Posting Title", "Candidate Stage"),
    ),
    "zoho-old.xls": Made(f"{NAMES} | Email=email | Stage=stage | Job=job", "xml", JOB_STAGE),
    "google-form.csv": Made(
        "Timestamp=date | Email Address=email | First name=first | Last name=last | "
        "Which job?=job | Stage=stage | Anything else?=text",
        "csv",
        where("Which job?", "Stage"),
    ),
    "google-form.xlsx": Made(
        "Timestamp=day | Email Address=email | First name=first | Last name=last | Job=job | "
        "Stage=stage",
        "linked",
        JOB_STAGE,
    ),
    "google-sheets.ods": Made(f"{NAMES} | Email=email | Job=job | Stage=stage", "ods", JOB_STAGE),
    "google-sheets.tsv": Made(f"{NAMES} | Email=email | Job=job | Stage=stage", "tabs", JOB_STAGE),
    "numbers.xlsx": Made(f"{NAMES} | Email=email | Job=job | Stage=stage", "numbers", JOB_STAGE),
    "numbers.csv": Made(
        f"{NAMES} | Email=email | Job=job | Stage=stage", "semicolons", JOB_STAGE, above=1
    ),
    "libreoffice.ods": Made(
        f"{NAMES} | E-mail=named | Job=job | Stage=stage", "ods", JOB_STAGE, above=2
    ),
    "libreoffice.csv": Made(f"{NAMES} | E-mail=email | Job=job | Stage=stage", "csv", JOB_STAGE),
    "excel.txt": Made(f"{NAMES} | E-mail=email | Job=job | Stage=stage", "unicode text", JOB_STAGE),
    "excel-2003.xml": Made(f"{NAMES} | E-mail=email | Job=job | Stage=stage", "xml", JOB_STAGE),
    "excel-page.html": Made(f"{NAMES} | E-mail=email | Job=job | Stage=stage", "page", JOB_STAGE),
    "excel-utf-8.csv": Made(
        f"{NAMES} | E-mail=email | Job=job | Stage=stage", "csv with mark", JOB_STAGE
    ),
    "no-addresses-refused.xlsx": Made(
        f"{NAMES} | Phone=phone | Job=job | Stage=stage",
        "xlsx",
        JOB_STAGE,
        complaint="Candidates!A1: … email1; ",
    ),
}
