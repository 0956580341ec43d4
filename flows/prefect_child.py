"""Prefect's server in a process of its own: `python -m flows.prefect_child SOCKET KIND`.

It serves at the socket that its parent handed over, until the parent ends it or is gone.
"""

import fcntl
import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress

from flows.prefect_home import prefect_home, private
from flows.server import HOST

ENDS_WITHIN = 5.0


def main() -> None:
    # Whoever stops everything at once (systemd) must not end it before the runs that tell it how
    # they ended: its parent ends it, by closing its standard input.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    listener = socket.socket(fileno=int(sys.argv[1]))

    from prefect.server.api.server import create_app  # noqa: PLC0415
    from starlette.middleware.trustedhost import TrustedHostMiddleware  # noqa: PLC0415
    from uvicorn import Config, Server  # noqa: PLC0415

    app = create_app(ephemeral=sys.argv[2] == "ephemeral")
    # A page elsewhere may lead its own name to this machine: only these names are answered.
    server = Server(Config(TrustedHostMiddleware(app, [HOST, "localhost"]), log_level="error"))
    # In a thread it heeds no signal; as a daemon it ends with this process, whatever happens here.
    serving = threading.Thread(target=server.run, args=([listener],), daemon=True)
    with open(prefect_home() / "tables.lock", "a", opener=private) as alone:
        fcntl.flock(alone, fcntl.LOCK_EX)  # two that make the tables of a fresh home break off
        serving.start()
        while not server.started and serving.is_alive():
            time.sleep(0.02)
    if server.started:
        with suppress(BrokenPipeError):  # nobody waited for it
            os.write(sys.stdout.fileno(), b"!")
        os.read(sys.stdin.fileno(), 1)  # answers when nobody is left who could write
    server.should_exit = True
    serving.join(ENDS_WITHIN)
    os._exit(0)  # some of Prefect's services go on for ever


if __name__ == "__main__":
    main()
