"""A local copy of people behind an address or a query, for the ledger's owner alone."""

from pathlib import Path

from sqlalchemy import make_url

from config.definition import PeopleTable
from config.errors import BadInput, Place
from config.settings import Settings, home, settings
from data.store.files import replace
from tasks.sources.address import Unread, fetched
from tasks.sources.query import query_as_csv


def local_copy(key: str, spec: PeopleTable, file: Path, *, kept: bool) -> Path:
    """Fetch a campaign's people into a file, or (`kept`) use the file as it is. Raises BadInput."""
    here = settings()
    place = folder_of(here) / key
    try:
        if not kept:
            place.unlink(missing_ok=True)  # if fetching fails, no older copy is left to be used
            replace(place, _table(spec, file, here))
    except OSError as error:
        raise BadInput.at(Place(place), f"this file cannot be written: {error.strerror}") from None
    return place


def folder_of(here: Settings) -> Path:
    """The folder of the copies: beside the ledger, or in `home` if the ledger is on a server."""
    ledger = make_url(here.database_url)
    path = Path(ledger.database or "") if ledger.drivername == "sqlite" else home() / "data/server"
    return path.with_name(f"{path.name}.fetched")


def _table(spec: PeopleTable, file: Path, here: Settings) -> bytes:
    """Fetch the table of an address, or a query's answer. Raises BadInput."""
    try:
        if spec.url is not None:
            return fetched(spec.url.get_secret_value(), here)
        return query_as_csv(file.parent / (spec.query or ""), spec.database or "")
    except Unread as why:
        field = "candidates.url" if spec.url else "candidates.query"
        raise BadInput.at(Place(file), str(why), field=field) from None
