"""Starters: a definition to fill in, in YAML or as a workbook. Sample data that passes `check`."""

import io
from pathlib import Path
from typing import Any

from config.errors import BadInput
from config.places import Place, Problem, shown

STARTER_YAML = """\
# A campaign: one project, one problem, and the people to invite.
# Replace the sample values, then:
#   campaign check {name}     finds every mistake, sends nothing
#   campaign run {name}       adds and invites; safe to run again at any time

campaign: my-campaign               # its key: lower-case letters, digits, - _ and .

project:                            # or  project: {{id: 123}}  for one made in the web application
  name: Backend engineer
  description: ""                   # this and all below may be left out
  state: open
  starttime: 2030-01-07 09:00       # wall time in the timezone below
  endtime: 2030-01-21 18:00
  timezone: Europe/Paris

problem: 42                         # its id ("campaign problems" lists them), or {{title: "…"}}

# stage_id: 1                       # for everyone who has none of their own

candidates:                         # or  candidates: {{file: people.csv}}
  - first_name: Ada
    last_name: Lovelace
    email1: ada@example.com         # they must log in with exactly this address
    source: referral                # this and all below may be left out
    notes: ""
    stage_id: 1
  - {{first_name: Grace, last_name: Hopper, email1: grace@example.com}}

invites: {{send: true}}               # false: add people and make their links, invite nobody
"""

# Field, sample value, what it is for.
CAMPAIGN_ROWS: tuple[tuple[str, Any, str], ...] = (
    ("campaign", "my-campaign", "its key: lower-case letters, digits, - _ and . Keep it for good."),
    ("project.id", None, "only for a project made in the web application; leave out the rest then"),
    ("project.name", "Backend engineer", "needed, unless there is a project.id"),
    ("project.description", None, "may be left out"),
    ("project.state", "open", "may be left out"),
    ("project.starttime", "2030-01-07 09:00", "may be left out; wall time in the timezone below"),
    ("project.endtime", "2030-01-21 18:00", "may be left out"),
    ("project.timezone", "Europe/Paris", "may be left out"),
    ("problem", 42, 'the problem\'s id; "campaign problems" lists them'),
    ("problem.title", None, "instead of the id: a title that matches exactly one problem"),
    ("stage_id", 1, "for everyone who has none of their own"),
    ("invites.send", True, "FALSE: add people and make their links, invite nobody"),
)
PEOPLE_HEADER = ("first_name", "last_name", "email1", "source", "notes", "stage_id")
PEOPLE_ROWS: tuple[tuple[Any, ...], ...] = (
    ("Ada", "Lovelace", "ada@example.com", "referral", "", 1),
    ("Grace", "Hopper", "grace@example.com", "", "", 1),
)


def write_starter(path: Path) -> None:
    """Write a starter definition, by the end of the name: `.yaml`, `.yml` or `.xlsx`.

    Raises BadInput where a file of that name exists already, or cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix in {".yaml", ".yml"}:
        content = STARTER_YAML.format(name=path.name).encode()
    elif suffix == ".xlsx":
        content = _workbook()
    else:
        wanted = "a name that ends in .yaml or .xlsx"
        raise BadInput([Problem(Place(str(path)), found=shown(path.name), wanted=wanted)])
    try:
        # Exclusive creation: never over a file that appeared a moment ago.
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        message = "this file exists already and was left as it is; choose another name"
        raise BadInput([Problem(Place(str(path)), message=message)]) from None
    except OSError as error:
        message = f"this file cannot be written: {error.strerror}"
        raise BadInput([Problem(Place(str(path)), message=message)]) from None


def _workbook() -> bytes:
    # Imported here: only a workbook needs it.
    import xlsxwriter  # noqa: PLC0415

    content = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with xlsxwriter.Workbook(content, options) as workbook:
        bold = workbook.add_format({"bold": True, "bottom": 1})
        grey = workbook.add_format({"font_color": "#666666", "italic": True})
        # Text, so that Excel neither turns a time into a serial number nor drops a zero.
        text = workbook.add_format({"num_format": "@"})

        campaign = workbook.add_worksheet("campaign")
        campaign.write_row(0, 0, ("field", "value"), bold)
        campaign.set_column(0, 1, 24)
        for number, (name, value, remark) in enumerate(CAMPAIGN_ROWS, start=1):
            campaign.write(number, 0, name)
            campaign.write(number, 1, value, text if isinstance(value, str) else None)
            campaign.write(number, 2, remark, grey)

        people = workbook.add_worksheet("candidates")
        people.write_row(0, 0, PEOPLE_HEADER, bold)
        people.set_column(0, 4, 20)
        people.freeze_panes(1, 0)
        for number, person in enumerate(PEOPLE_ROWS, start=1):
            people.write_row(number, 0, person)
    return content.getvalue()
