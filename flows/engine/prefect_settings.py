"""What we ask of Prefect, set before it is imported; what a person set themselves stays.

Prefect reads its settings from the environment at import, so this module must be called first.
"""

import logging
import os
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

from data.own_files import make_folder
from flows.engine.login import OF_CLIENTS, of

# For every process that runs a flow, also those that a worker starts
# (flows/serving/deployments.py).
RUNS = {
    # Nothing about a company's campaigns is reported to anybody.
    "DO_NOT_TRACK": "1",
    # Prefect's own results would be a second, weaker memory of what was sent.
    "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
    # Seconds between two signs of life; three missed ones are noticed
    # (flows/serving/lookout.py).
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
    # How many runs `up` and `serve` have at a time, each with some 130 MB. One with a rate takes
    # hours, and five of them, the default, would keep every form, schedule and inbox waiting.
    "PREFECT_RUNNER_PROCESS_LIMIT": "10",
}

SERVER = {
    # Its first start in a fresh home took up to 24 s, and minutes on a busy machine; the default is
    # 20 s. One that dies is noticed at once.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "600",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
}

# Nobody sees a temporary server's pages, so nobody fills in a block there: to register every kind
# of block would delay each run by a third of a second.
UNSEEN = {
    "PREFECT_SERVER_REGISTER_BLOCKS_ON_START": "false",
    "PREFECT_SERVER_MEMOIZE_BLOCK_AUTO_REGISTRATION": "false",
}

# Every process that is started from here, by us or by Prefect, imports what is installed, and
# nothing of the folder in which a person types: there may be a `config.py` or a `tasks.py`.
SAFE = {"PYTHONSAFEPATH": "1"}

QUIET = {
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",  # an event that a busy server did not take
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
}

# What sends events and logs, and says at the end, past Prefect's settings, what it still has.
SENDERS = ("EventsWorker", "APILogWorker")

# Campaigns of many timezones write into one log, so its times are this machine's, with the zone.
LINES = {
    "DATEFMT": "%H:%M:%S %Z",
    "FORMAT": "%(asctime)s | %(levelname)-7s | %(name)s - %(message)s",
    "FLOW_RUN_FMT": "%(asctime)s | %(levelname)-7s | Flow run %(flow_run_name)r - %(message)s",
    "TASK_RUN_FMT": "%(asctime)s | %(levelname)-7s | Task run %(task_run_name)r - %(message)s",
}
LOUD = {f"PREFECT_LOGGING_FORMATTERS_STANDARD_{name}": line for name, line in LINES.items()}

LOGINS = (OF_CLIENTS, "PREFECT_API_KEY")
KEPT_RUNS = timedelta(days=30)  # where nobody says how long
THEIRS = Path("~/.prefect")  # where Prefect is at home when nobody says otherwise
OURS = user_data_path("hiring-campaigns", appauthor=False) / "prefect"


def prepare(*, quiet: bool) -> None:
    """Set our defaults. `quiet` leaves the terminal to our own words; Prefect keeps its logs."""
    profiles = _profiles()
    chosen = _active(profiles)
    named = os.environ.get("PREFECT_HOME") or chosen.get("PREFECT_HOME") or OURS
    home = Path(named).expanduser().absolute()
    wanted = RUNS | SERVER | SAFE | (QUIET if quiet else LOUD)
    for name in SENDERS if quiet else ():
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # Another Prefect, of a newer version, may have changed the database of the usual home.
    wanted["PREFECT_HOME"] = str(home)
    # Else Prefect looks for both in the working folder too, and executes what the second one names.
    wanted["PREFECT_PROFILES_PATH"] = str(profiles)
    wanted["PREFECT_LOGGING_SETTINGS_PATH"] = str(home / "logging.yml")
    for name, value in wanted.items():
        if name not in chosen:
            os.environ.setdefault(name, value)
    api = os.environ.get("PREFECT_API_URL") or chosen.get("PREFECT_API_URL")
    if api and not any(name in os.environ or name in chosen for name in LOGINS):
        os.environ.update({OF_CLIENTS: login} if (login := of(api)) else {})
    with suppress(OSError):  # its server says that it cannot be made
        make_folder(home)


def kept_for(keep: timedelta | None) -> dict[str, str]:
    """How long a server keeps runs, which is as long as people's data (CAMPAIGN_KEEP).

    Events take the most room: a scheduled run that finds nothing to do writes five, so one such run
    a minute would write 50 MB a day. The search for silent runs needs two minutes of them.
    """
    return {
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": str(
            int((keep or KEPT_RUNS).total_seconds())
        ),
        "PREFECT_SERVER_EVENTS_RETENTION_PERIOD": "PT30M",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_LOOP_SECONDS": "600",
    }


def _profiles() -> Path:
    """Where a person keeps what they set with `prefect config set`."""
    named, home = os.environ.get("PREFECT_PROFILES_PATH"), os.environ.get("PREFECT_HOME")
    return Path(named or Path(home or THEIRS) / "profiles.toml").expanduser()


def _active(profiles: Path) -> dict[str, Any]:
    """What the active profile sets; nothing where there is none that can be read."""
    if not profiles.is_file():
        return {}
    import tomllib  # noqa: PLC0415 - hardly anybody has profiles

    try:
        kept = tomllib.loads(profiles.read_text("utf-8"))
        active: dict[str, Any] = kept["profiles"][
            os.environ.get("PREFECT_PROFILE") or kept["active"]
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return active
