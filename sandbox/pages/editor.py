"""The arena's full editor: Ace, served from the installed package that ships its files.

The extra `arena` installs it; without it the arena has its lightweight editor.
"""

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

_PACKAGE = "django_static_ace_builds"


def editor_routes() -> list[BaseRoute]:
    """Where the editor's scripts are served; nowhere if they are not installed."""
    spec = find_spec(_PACKAGE)  # without importing the package: its code is for another framework
    return [
        Mount("/editor", StaticFiles(directory=Path(place) / "static" / "ace-builds"))
        for place in (spec and spec.submodule_search_locations) or ()
    ]


def how_to_install() -> str:
    """The command that installs the full editor into the environment of this process."""
    python = shlex.quote(sys.executable)
    return f"python3 -m pip --python {python} install 'hiring-campaigns[arena]'"
