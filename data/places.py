"""Where a ledger lies, for people: a file, or a database's address without its secrets."""

from sqlalchemy.engine import URL


def place_of(address: URL) -> str:
    if address.get_backend_name() == "sqlite":
        return str(address.database)
    return address.set(query={}).render_as_string(hide_password=True)
