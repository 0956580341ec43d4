"""What we ask of Prefect, set before it is imported; what a person set themselves stays.

Prefect reads its settings from the environment at import, so this module must be called first.
"""

import os

# For every process that runs a flow, also those that a worker starts (flows/deployments.py).
RUNS = {
    # Nothing about a company's campaigns is told to anybody.
    "DO_NOT_TRACK": "1",
    # Prefect's own results would be a second, weaker memory of what was sent.
    "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
    # Seconds between two signs of life; three missed ones are noticed (flows/automations.py).
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
}

SERVER = {
    # Its first start in a fresh home took up to 24 s, against a limit of 20 s by default.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # In memory, a server that dies would leave a deployment occupied for ever.
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": (
        "prefect.server.concurrency.lease_storage.filesystem"
    ),
}

QUIET = {
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
}


def prepare(*, quiet: bool) -> None:
    """Set our defaults. `quiet` leaves the terminal to our own words; Prefect keeps its logs."""
    wanted = RUNS | SERVER | (QUIET if quiet else {})
    for name, value in wanted.items():
        os.environ.setdefault(name, value)
