"""Prefect's temporary server, out of reach of the terminal's Ctrl-C, and gone with its run.

Without a standing server Prefect starts one as a child. A Ctrl-C on a terminal goes to every
process of the group: the server would end at once, and the run, which is only finishing what is
in flight, would wait minutes for it. In a session of its own it ends when the run is over; on a
leash, also when the run is killed.
"""

import subprocess
from functools import partial
from types import SimpleNamespace

from flows.leash import leashed


def shelter() -> None:
    """Have the temporary server started in a session of its own, if there will be one."""
    from prefect.settings import get_current_settings  # noqa: PLC0415 - after our settings are set

    if get_current_settings().api.url is not None:
        return
    # Imported only where Prefect itself is about to: it is slow.
    from prefect.server.api import server  # noqa: PLC0415

    server.subprocess = SimpleNamespace(  # type: ignore[assignment, attr-defined]
        Popen=partial(leashed, start_new_session=True),
        TimeoutExpired=subprocess.TimeoutExpired,
    )
