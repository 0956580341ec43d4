"""A folder as somebody else's Prefect project may leave it: whatever is executed there says so."""

from pathlib import Path

MODULES = (
    "config.py",
    "data/__init__.py",
    "flows/__init__.py",
    "flows/campaign.py",
    "tasks.py",
    "sandbox.py",
    "prefect.py",
    "uvicorn.py",
    "sqlalchemy.py",
    "sitecustomize.py",
)
# Python's own logging calls whatever such a file names.
LOGGING = """\
version: 1
formatters:
  theirs: {"()": builtins.open, file: %s, mode: a}
"""


def trapped(folder: Path) -> Path:
    """Make such a folder; answers the file in which whatever is executed writes its name."""
    executed = folder.parent / "executed"
    for name in MODULES:
        module = folder / name
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(f"with open({str(executed)!r}, 'a') as file: file.write('{name}\\n')\n")
    (folder / "logging.conf").write_text(LOGGING % executed)
    (folder / "prefect.toml").write_text('[logging]\nconfig_path = "logging.conf"\n')
    return executed
