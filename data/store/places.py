"""Where a ledger is, for people: a file, or a database's address without its secrets."""

from pathlib import Path

from sqlalchemy.engine import URL


def place_of(address: URL) -> str:
    if address.get_backend_name() == "sqlite":
        return str(address.database)
    return address.set(query={}).render_as_string(hide_password=True)


def address_of(address: URL) -> str:
    """The same as an address that can be set in CAMPAIGN_DATABASE_URL, from wherever it is typed.

    A server's password is left out; whoever uses that server knows it.
    """
    if address.get_backend_name() == "sqlite":
        return f"sqlite:///{Path(address.database or '').absolute()}"
    return place_of(address)
