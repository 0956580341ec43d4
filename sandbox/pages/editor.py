"""The arena's full editor: Ace, served from the installed package that ships its files."""

from importlib.util import find_spec
from pathlib import Path

from starlette.staticfiles import StaticFiles

_PACKAGE = "django_static_ace_builds"


def editor_files() -> StaticFiles:
    """The editor's scripts, as an application. Raises LookupError when they are not installed."""
    spec = find_spec(_PACKAGE)  # without running it: its code is for another framework
    for place in (spec and spec.submodule_search_locations) or ():
        return StaticFiles(directory=Path(place) / "static" / "ace-builds")
    raise LookupError(f"the package {_PACKAGE}, which ships the editor, is not installed")
