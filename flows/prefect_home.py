"""Where Prefect keeps its things, with which settings. Prefect reads them when it is imported.

It looks for more of them in the working folder: .env, prefect.toml, pyproject.toml. So it is
imported, and each of its processes begins, in its home and not where somebody types a command.
"""

import fcntl
import os
import secrets
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from platformdirs import user_data_path
from sqlalchemy import make_url

from config.settings import settings

SETTINGS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",  # after 7 and after 90 days
    "PREFECT_SERVER_SERVICES_SCHEDULER_MIN_SCHEDULED_TIME": "PT10M",  # few, and named
    # A run that another one of its campaign keeps waiting begins soon after it.
    "PREFECT_SERVER_DEPLOYMENTS_CONCURRENCY_SLOT_WAIT_SECONDS": "10",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
    # A run keeps its campaign's place when the server begins anew.
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": (
        "prefect.server.concurrency.lease_storage.filesystem"
    ),
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",  # the terminal is for our own words
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    "PYTHONSAFEPATH": "1",  # nothing of the folder where somebody types is imported
}


def prefect_home() -> Path:
    """Where Prefect keeps its database: not ~/.prefect, which a newer Prefect may have changed.

    Each ledger has its own: a schedule that was practised with never sends to the real service.
    """
    home = Path(os.environ.get("PREFECT_HOME") or _of_this_ledger()).expanduser().absolute()
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    return home


def _of_this_ledger() -> Path:
    ledger = str(make_url(settings().database_url))  # shown with stars in the password's place
    which = sha256(ledger.encode()).hexdigest()[:8]
    return user_data_path("hiring-campaigns", appauthor=False) / f"prefect-{which}"


def login() -> str:
    """The login of this person's servers: made once, in a file that only they can read."""
    with open(prefect_home() / "login", "a+", opener=private) as own:
        fcntl.flock(own, fcntl.LOCK_EX)  # another process may be making it
        own.seek(0)
        if not (known := own.read()):
            own.write(known := f"campaign:{secrets.token_urlsafe(24)}")
        return known


def prepare() -> None:
    """Set what Prefect is to find when it is imported, unless a person has set it otherwise."""
    home = prefect_home()
    files = {
        "PREFECT_PROFILES_PATH": home / "profiles.toml",
        "PREFECT_LOGGING_SETTINGS_PATH": home / "logging.yml",
    }
    for name, value in (SETTINGS | files).items():
        os.environ.setdefault(name, str(value))
    os.environ["PREFECT_HOME"] = str(home)  # the same for processes that begin elsewhere


def import_prefect() -> None:
    """Import Prefect in its home; it reads its settings once. Paths that were typed hold again."""
    prepare()
    typed_in = home = prefect_home()
    with suppress(FileNotFoundError):  # that folder is gone
        typed_in = Path.cwd()
    os.chdir(home)
    try:
        import prefect.main  # noqa: F401, PLC0415
    finally:
        with suppress(PermissionError):  # typed by a user who may not enter it: sudo -u
            os.chdir(typed_in)


def private(path: str, flags: int) -> int:
    """An opener of files that nobody else may read. It follows no link."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)
