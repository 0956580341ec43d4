"""The starter as a workbook: sheets to fill in, with help, drop-downs and formats that fit."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import available_timezones

import xlsxwriter

from config.command_line import command

# Drop-downs and checks end at this row; people below it are read too.
LAST_ROW = 5_000
TIMEZONES = "timezones"

Check = Mapping[str, Any]


def _suggested(*words: str) -> Check:
    """Offer some words in a list; a person may type others."""
    return {"validate": "list", "source": list(words), "show_error": False}


def _whole(least: int) -> Check:
    """Accept whole numbers only."""
    return {
        "validate": "integer",
        "criteria": ">=",
        "value": least,
        "error_title": "A whole number",
        "error_message": f"This must be a whole number, {least} or more.",
    }


def _listed(source: str | list[str], title: str, message: str) -> Check:
    """Accept only what is in a list."""
    return {"validate": "list", "source": source, "error_title": title, "error_message": message}


@dataclass(frozen=True, slots=True)
class Entry:
    """One field: what it is for, and what its cells take. A field of the campaign has a sample
    value, one of the people a width.
    """

    name: str
    shown: Any
    help: str
    check: Check = field(default_factory=lambda: {"validate": "any"})

    def hinted(self) -> Check:
        """What the cells take, with a hint beside a chosen cell."""
        return {**self.check, "input_title": self.name, "input_message": self.help}


TIMES = "Year-month-day hour:minute, local time in the timezone below."
LINES = (
    Entry("campaign", "", "Its key: lower-case letters, digits, - _ and . Keep it."),
    Entry("project.id", None, "Only for a project made in the web application.", _whole(1)),
    Entry("project.name", "Backend engineer", "Needed, unless there is a project.id."),
    Entry("project.description", None, "Optional, like every project field below."),
    Entry("project.state", "open", "The state of a new project.", _suggested("open")),
    Entry("project.starttime", "2030-01-07 09:00", TIMES),
    Entry("project.endtime", "2030-01-21 18:00", TIMES),
    Entry(
        "project.timezone",
        "Europe/Paris",
        "The timezone of the two times above.",
        _listed(f"={TIMEZONES}", "A timezone", "Choose one from the list, such as Europe/Paris."),
    ),
    Entry("problem", 42, f'Its id; the command "{command("problems")}" lists them.', _whole(1)),
    Entry("problem.title", None, "Instead of the id: a title that matches exactly one problem."),
    Entry("stage_id", 1, "For everyone without one of their own.", _whole(0)),
    Entry(
        "invites.send",
        True,
        "FALSE: add people and create their links, but invite nobody.",
        _listed(["TRUE", "FALSE"], "TRUE or FALSE", "Choose TRUE or FALSE."),
    ),
)
EMAIL_CHECK: Check = {
    "validate": "custom",
    "value": '=AND(ISNUMBER(FIND("@",C2)),COUNTIF(C:C,C2)=1)',
    "error_type": "warning",
    "error_title": "An email address",
    "error_message": "This is not an email address, or another row has the same one.",
}
PEOPLE = (
    Entry("first_name", 18, "Needed."),
    Entry("last_name", 18, "Needed."),
    Entry("email1", 30, "Needed. They must log in with exactly this address.", EMAIL_CHECK),
    Entry(
        "source",
        18,
        "Optional: where the person came from.",
        _suggested("referral", "application", "sourcing", "event"),
    ),
    Entry("notes", 30, "Optional."),
    Entry("stage_id", 10, "Optional: this person's stage, a number.", _whole(0)),
)
SAMPLES: tuple[tuple[Any, ...], ...] = (
    ("Ada", "Lovelace", "ada@example.com", "referral", "", 1),
    ("Grace", "Hopper", "grace@example.com", "", "", 1),
)
HELP = (
    "How to fill this in",
    "1.  Sheet campaign: replace the sample values in the column value. Optional values can stay "
    "empty.",
    "2.  Sheet candidates: one row for each person, in any order. The two people there are "
    "samples; replace them.",
    "3.  You can add columns of your own; they are never sent.",
    "",
    "Then type",
    "{check}     finds every mistake, sends nothing",
    "{run}       adds and invites; safe to run again at any time",
    "",
    "Keep the name and place of this file. To invite more people later, add rows and run it again:",
    "nobody is invited twice.",
)


def starter_workbook(name: str, key: str) -> bytes:
    """Write the workbook of a campaign; `name` is what its file will be called."""
    content = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with xlsxwriter.Workbook(content, options) as book:
        header = book.add_format({"bold": True, "bottom": 1, "bg_color": "#e8eef7"})
        grey = book.add_format({"font_color": "#666666", "italic": True})
        # Text, so that Excel neither turns a time into a serial number nor drops a zero.
        text = book.add_format({"num_format": "@"})
        _campaign(book.add_worksheet("campaign"), key, header, grey, text)
        _candidates(book.add_worksheet("candidates"), header, text)
        _help(book.add_worksheet("help"), name, header)
        _timezones(book)
    return content.getvalue()


def _campaign(sheet: Any, key: str, header: Any, grey: Any, text: Any) -> None:
    sheet.write_row(0, 0, ("field", "value", "help"), header)
    sheet.set_column(0, 0, 22)
    sheet.set_column(1, 1, 26)
    sheet.set_column(2, 2, 64)
    sheet.freeze_panes(1, 1)
    for number, line in enumerate(LINES, start=1):
        numeric = line.check["validate"] == "integer" or isinstance(line.shown, bool)
        sheet.write(number, 0, line.name)
        sample = key if line.name == "campaign" else line.shown
        sheet.write(number, 1, sample, None if numeric else text)
        sheet.write(number, 2, line.help, grey)
        sheet.data_validation(number, 1, number, 1, line.hinted())


def _candidates(sheet: Any, header: Any, text: Any) -> None:
    sheet.freeze_panes(1, 0)
    for number, column in enumerate(PEOPLE):
        sheet.set_column(number, number, column.shown, None if column.name == "stage_id" else text)
        sheet.write(0, number, column.name, header)
        sheet.data_validation(1, number, LAST_ROW, number, column.hinted())
    for number, person in enumerate(SAMPLES, start=1):
        sheet.write_row(number, 0, person)


def _help(sheet: Any, name: str, bold: Any) -> None:
    sheet.set_column(0, 0, 100)
    typed = {"check": command("check", name), "run": command("run", name)}
    for number, line in enumerate(HELP):
        titled = bold if line in (HELP[0], "Then type") else None
        sheet.write(number, 0, line.format_map(typed), titled)


def _timezones(book: Any) -> None:
    """Put the list to choose from on a sheet that nobody needs to see."""
    sheet = book.add_worksheet(TIMEZONES)
    names = [*sorted(name for name in available_timezones() if "/" in name), "UTC"]
    sheet.write_column(0, 0, names)
    sheet.hide()
    book.define_name(TIMEZONES, f"={TIMEZONES}!$A$1:$A${len(names)}")
