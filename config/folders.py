"""Where relative names begin: in the program's own folder, or where its command was typed."""

import os
from pathlib import Path

from platformdirs import user_data_path

# Tells a process with another working directory in which folder its command was typed.
TYPED_IN = "CAMPAIGN_TYPED_IN"


def checkout() -> Path | None:
    """The checkout that this program runs from; None if it was installed without one."""
    root = Path(__file__).resolve().parent.parent
    return root if (root / "pyproject.toml").is_file() else None


def home() -> Path:
    """The folder of the ledger and the results: the checkout, or else the user's data directory."""
    return checkout() or user_data_path("hiring-campaigns", appauthor=False)


def typed_in() -> Path:
    """The folder in which the command was typed."""
    return Path(os.environ.get(TYPED_IN) or Path.cwd())
