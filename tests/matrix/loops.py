"""The loops that people write first. KIND FILE

`bare` remembers nothing. `csv` writes who was sent, after each answer. `csv-first` writes it before
it sends. `at-most-once` writes a claim, durably, and never repeats what it has claimed;
`at-most-once-status` prints whom it has claimed and not heard of, one address a line.
FILE has a line for each person: address, a space, and the URL that invites them.
"""

import http.client
import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

from tests.matrix.moments import Moment, reached

JOURNAL = Path("journal.csv")


def people(file: str) -> list[tuple[str, str]]:
    """Everybody in the file: address and URL."""
    lines = Path(file).read_text("utf-8").splitlines()
    return [(email, url) for email, _, url in (line.partition(" ") for line in lines)]


def invite(url: str) -> None:
    """Send one invitation, and read the answer. Raises OSError, HTTPException."""
    where = urlsplit(url)
    connection = http.client.HTTPConnection(str(where.hostname), where.port, timeout=60)
    connection.request("POST", where.path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != 200:
        raise OSError(f"{url} answered {answer.status}")


def write(word: str, email: str) -> None:
    """Add a line to the journal; it is on the disk when this returns."""
    with JOURNAL.open("a", encoding="utf-8") as journal:
        journal.write(f"{word},{email}\n")
        journal.flush()
        os.fsync(journal.fileno())


def written(word: str) -> set[str]:
    """Whom the journal names after this word."""
    lines = JOURNAL.read_text("utf-8").splitlines() if JOURNAL.exists() else []
    return {email for what, _, email in (line.partition(",") for line in lines) if what == word}


def send(kind: str, file: str) -> None:
    """Send to everybody who is not in the journal already."""
    first = {"csv-first": "sent", "at-most-once": "claimed"}.get(kind)
    last = {"csv": "sent", "at-most-once": "done"}.get(kind)
    never_again = written(first or last or "")
    for email, url in people(file):
        if email in never_again:
            continue
        reached(Moment.BEFORE, email)
        if first:
            write(first, email)
        reached(Moment.CLAIMED, email)
        invite(url)
        reached(Moment.ANSWERED, email)
        if last:
            write(last, email)
        reached(Moment.RECORDED, email)


if __name__ == "__main__":
    kind, file = sys.argv[1:]
    if kind == "at-most-once-status":
        print(*sorted(written("claimed") - written("done")), sep="\n")
    else:
        send(kind, file)
