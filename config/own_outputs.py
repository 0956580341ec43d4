"""What this program wrote itself: such files are no campaigns, and may be replaced unasked."""

import re
import zipfile
from contextlib import suppress
from pathlib import Path

from config.errors import CampaignError

WORKBOOKS = (".xlsx", ".xlsm")
OURS = "campaign output"  # the category of each workbook that we write, in docProps/core.xml
# In the header of every table with links or doubts that it writes, also below a title.
OUR_COLUMNS = re.compile(r"\bcandidate_id\W+(?:\w+\W+)?embed_url\b|\ballowed verdicts\b")
OUR_PAGE = '<meta name="generator" content="campaign">'


def written_by_us(file: Path) -> bool:
    """Whether this program wrote a file: a table or page of links or doubts, or a marked copy."""
    with suppress(OSError, zipfile.BadZipFile, KeyError):
        if file.suffix.lower() in WORKBOOKS:
            with zipfile.ZipFile(file) as archive:
                return OURS.encode() in archive.open("docProps/core.xml").read(2**16)
        with file.open("rb") as content:
            head = content.read(4096).decode("utf-8-sig", "replace")
        links = OUR_PAGE in head or '"embed_url":' in head
        return links or bool(OUR_COLUMNS.search(head))
    return False


class NotOurs(CampaignError):
    """{file} exists already, and is no output of campaign. It was not changed.

    Choose another name, or add --force to replace it.
    """

    exit_code = 2


def check_output(file: Path, *, force: bool = False) -> None:
    """Raise NotOurs if an output would replace a file that this program did not write."""
    if file.exists() and not force and not written_by_us(file):
        raise NotOurs(file=file)
