"""Pages that embed the assessment: one for each candidate, and an index for the recruiter alone.

A candidate's page has the iframe (interface 4.7) and the address to log in with. The page has no
candidate's name, and loads nothing but the frame. After the login the frame shows the assessment,
which may have another origin than the web application.
"""

from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from urllib.parse import urlsplit

from tasks.outputs.exports import PUBLIC, page, write_file
from tasks.outputs.links import Standing, links_as
from tasks.outputs.overwriting import check_output

FOLDER = "pages"  # beside the index; may be put on a web server


def write_pages(
    folder: Path, people: Sequence[Standing], title: str, key: str, secret: str, force: bool = False
) -> Path:
    """Write `pages/NAME.html` for each candidate with a link, and `index.html`; returns the index.

    `secret`, the ledger's own id, gives a candidate's page the same name each time, and a name that
    other people cannot guess. Raises CannotWrite, NotOurs.
    """
    check_output(index := folder / "index.html", force=force)
    pages: dict[int, str] = {}
    for each in people:
        if (url := each["embed_url"]) is None:
            continue
        name = page_name(secret, key, each["candidate_id"])
        # The page may frame what has the link's scheme; `http:` also allows https.
        frames = f"{urlsplit(url).scheme}:"
        content = page("embed.html", title=title, url=url, email1=each["email1"], frames=frames)
        write_file(folder / FOLDER / name, content, force=force, mode=PUBLIC)
        pages[each["candidate_id"]] = f"{FOLDER}/{name}"
    write_file(index, links_as("html", people, title, pages), force=force)
    with suppress(OSError):  # without links there are no pages
        (folder / FOLDER).chmod(0o755)  # for the web server, which is another user
    return index


def page_name(secret: str, key: str, candidate_id: int) -> str:
    """The file name of a candidate's page."""
    text = f"{key}/{candidate_id}".encode()
    return blake2b(text, key=secret.encode()[:64], digest_size=16).hexdigest() + ".html"
