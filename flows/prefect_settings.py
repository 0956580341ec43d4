"""What we ask of Prefect, set before it is imported; what a person set themselves stays.

Prefect reads its settings from the environment at import, so this module must be called first.
"""

import os

# Its first start in a fresh home took up to 24 s, against a limit of 20 s by default.
STARTUP_SECONDS = "120"


def prepare(*, quiet: bool) -> None:
    """Set our defaults. `quiet` leaves the terminal to our own words; Prefect keeps its logs."""
    wanted = {
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": STARTUP_SECONDS,
        # Nothing about a company's campaigns is told to anybody.
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        # Prefect's own results would be a second, weaker memory of what was sent.
        "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
    }
    if quiet:
        wanted |= {
            "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
            "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
        }
    for name, value in wanted.items():
        os.environ.setdefault(name, value)
