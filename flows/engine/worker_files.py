"""What Prefect's process worker writes to a disk: the whole environment of each run.

Prefect 3.8 keeps it in `workspace.json`, for the owner alone, in a folder for temporary files. The
file goes when the run ends, and stays where the worker is killed first. No setting of Prefect
keeps it from that, so secrets belong elsewhere: in a `.env` file, or in a block.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from config.command_line import command
from config.env_files import secrets_among

FOLDERS = "prefect-workspace-attempt-*"
FILE = "workspace.json"
ELSEWHERE = (
    "Keep it out of the worker's environment: in a .env (chmod 600) in the program's own folder, "
    f"or in Prefect with: {command('credentials', 'NAME')}"
)
# Set together only in a run whose environment a process worker has written down.
_WRITTEN_DOWN = ("PREFECT__WORKER_NAME", "PREFECT__FLOW_ENTRYPOINT")


def written_down(environment: Mapping[str, str]) -> str | None:
    """Say that this run's secrets were written to a disk, and what to do; None where none were."""
    secrets = secrets_among(environment)
    if not secrets or not all(name in environment for name in _WRITTEN_DOWN):
        return None
    verb = "was" if len(secrets) == 1 else "were"
    return (
        f"{' and '.join(secrets)} {verb} written to this machine's disk: Prefect's worker keeps a "
        f"run's environment in a file until the run ends. {ELSEWHERE}"
    )


def left_in(folder: Path) -> list[Path]:
    """Find the folders of runs that hold a secret of ours: at work now, or killed."""
    return sorted(file.parent for file in folder.glob(f"{FOLDERS}/{FILE}") if _holds_one(file))


def _holds_one(file: Path) -> bool:
    try:
        kept = json.loads(file.read_bytes())
        return bool(secrets_among(kept["environment"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False  # somebody else's, or no such file
