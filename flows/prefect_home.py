"""Prefect's home (the folder of its database) and its settings, which Prefect reads when imported.

Prefect looks for settings in the working folder as well: .env, prefect.toml, pyproject.toml. So we
import Prefect and start its processes in its home, not where somebody types a command.
"""

import fcntl
import os
import secrets
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from platformdirs import user_data_path
from sqlalchemy import make_url

from config.errors import BadSettings
from config.settings import settings

SETTINGS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",  # kept for 7 and 90 days
    "PREFECT_SERVER_SERVICES_SCHEDULER_MIN_SCHEDULED_TIME": "PT10M",  # few runs are planned ahead
    # A run that waits for another run of its campaign begins soon after that run has ended.
    "PREFECT_SERVER_DEPLOYMENTS_CONCURRENCY_SLOT_WAIT_SECONDS": "10",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
    # A run keeps its concurrency slot when the server is restarted.
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": (
        "prefect.server.concurrency.lease_storage.filesystem"
    ),
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",  # only this program prints at a terminal
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    "PYTHONSAFEPATH": "1",  # no module of the working folder is imported
}


def prefect_home() -> Path:
    """Where Prefect keeps its database: not ~/.prefect, which a newer Prefect may have changed.

    Without PREFECT_HOME each ledger has its own home: no schedule for practice sends for real.
    """
    home = Path(os.environ.get("PREFECT_HOME") or _of_this_ledger()).expanduser().absolute()
    with suppress(OSError):
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not os.access(home, os.W_OK | os.X_OK):
        raise BadSettings(problem=f"{home} cannot be written; name a folder in PREFECT_HOME.")
    return home


def _of_this_ledger() -> Path:
    ledger = str(make_url(settings().database_url))  # the password becomes ***
    which = sha256(ledger.encode()).hexdigest()[:8]
    return user_data_path("hiring-campaigns", appauthor=False) / f"prefect-{which}"


def login() -> str:
    """The login (user:password) of this user's servers. Only this user can read its file."""
    with open(prefect_home() / "login", "a+", opener=open_private) as own:
        fcntl.flock(own, fcntl.LOCK_EX)  # another process may be making it
        own.seek(0)
        if not (known := own.read()):
            own.write(known := f"campaign:{secrets.token_urlsafe(24)}")
        return known


def prepare() -> None:
    """Set Prefect's settings in the environment, except those that a person has set."""
    home = prefect_home()
    files = {
        "PREFECT_PROFILES_PATH": home / "profiles.toml",
        "PREFECT_LOGGING_SETTINGS_PATH": home / "logging.yml",
    }
    for name, value in (SETTINGS | files).items():
        os.environ.setdefault(name, str(value))
    os.environ["PREFECT_HOME"] = str(home)  # absolute, for processes in other folders


def import_prefect() -> None:
    """Import Prefect while its home is the working folder."""
    prepare()
    typed_in = home = prefect_home()
    with suppress(FileNotFoundError):  # the working folder was deleted
        typed_in = Path.cwd()
    os.chdir(home)
    try:
        import prefect.main  # noqa: F401, PLC0415
    finally:
        with suppress(PermissionError):  # after sudo -u, the user may not enter that folder
            os.chdir(typed_in)


def open_private(path: str, flags: int) -> int:
    """An `opener` for `open`: only the owner may read the file, and no link is followed."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)
