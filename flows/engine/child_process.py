"""A process that ends when the one that started it does, however that one ends.

After a kill -9 nobody is left to end a server, and its port and its database stay taken. So it
holds the reading end of a pipe whose other end only its parent has: when that closes, the parent
is gone, on every system. `python -m flows.engine.child_process MODULE …` runs a module in that
way.
"""

import gc
import os
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

GRACE = 10.0  # seconds to end tidily
WHILE_STARTING = 500_000  # new objects between two looks for garbage: most are modules, and stay


def start_child(args: Sequence[str], **how: Any) -> "subprocess.Popen[bytes]":
    """Start `python -m MODULE …`, to end when this process does; `how` as for Popen."""
    python, dash_m, *module = args
    end, _ours = os.pipe()  # ours is closed by nobody but the end of this process
    try:
        return subprocess.Popen([python, dash_m, __name__, *module], stdin=end, **how)  # noqa: S603
    finally:
        os.close(end)


def _hold() -> None:
    os.read(0, 1)  # answers when there is nobody left who could write
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(GRACE)
    os._exit(1)


def main() -> None:
    """Run the module that the command line names, as `python -m` would."""
    threading.Thread(target=_hold, daemon=True).start()
    gc.set_threshold(WHILE_STARTING)
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
