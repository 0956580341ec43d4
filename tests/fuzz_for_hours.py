"""`make fuzz`: the targets of tests/fuzzed.py, fed by a fuzzer that follows the lines it reaches.

python -m tests.fuzz_for_hours TARGET SECONDS. What breaks a target is printed with its bytes, and
kept in a file whose name is printed, too. The fuzzer has an environment of its own, .fuzz.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["config", "data", "tasks"]):
    from tests.fuzzed import SEEDS, TARGETS


def main() -> None:
    """Feed one target for so many seconds; ends the process."""
    name, seconds = sys.argv[1:]
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(SEEDS[name]):
            Path(corpus, str(number)).write_bytes(seed)
        options = [
            f"-max_total_time={seconds}",
            "-max_len=2000",
            "-timeout=60",
            "-rss_limit_mb=4096",
        ]
        atheris.Setup([sys.argv[0], *options, corpus], TARGETS[name])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
