"""Pages that embed the assessment: one for each candidate of a campaign, and an index of them."""

from hashlib import blake2b
from pathlib import Path

from data.own_files import refuse_link, write_whole
from data.store.ledger import Ledger
from data.store.tables import Campaign
from tasks.outputs.embed_page import embed_page
from tasks.outputs.exports import Link
from tasks.outputs.links import index_page, title_of
from tasks.service.embed import iframe

FOLDER = "pages"  # beside the index: what may be put on a web server
PUBLIC = 0o644  # a web server is another user, and must be able to read them


def write_pages(ledger: Ledger, campaign: Campaign, links: list[Link], folder: Path) -> Path:
    """Write `pages/NAME.html` for each candidate who has a link, and `index.html`; returns where
    the pages are.

    A candidate's page has the same name each time. Raises CannotWrite.
    """
    refuse_link(folder / FOLDER)
    title, secret = title_of(campaign), ledger.uuid()
    pages: dict[int, str] = {}
    for link in links:
        if link.candidate_id is None or link.embed_url is None:
            continue
        name = page_name(secret, campaign.key, link.candidate_id)
        page = embed_page(title, link.embed_url, iframe(link.embed_url, title))
        write_whole(folder / FOLDER / name, page, PUBLIC)
        pages[link.candidate_id] = f"{FOLDER}/{name}"
    write_whole(folder / "index.html", index_page(campaign, links, pages))
    return folder / FOLDER


def page_name(secret: str, campaign: str, candidate_id: int) -> str:
    """Name a candidate's page so that nobody without the ledger's own identity can guess it."""
    text = f"{campaign}/{candidate_id}".encode()
    return blake2b(text, key=secret.encode(), digest_size=16).hexdigest() + ".html"
