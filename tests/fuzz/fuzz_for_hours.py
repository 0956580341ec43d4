"""`make fuzz`: the targets of tests/fuzz/fuzzed.py, fed by a fuzzer that follows the lines it
reaches.

python -m tests.fuzz.fuzz_for_hours SECONDS [TARGET…]: each target in turn, in a process of its own.
What breaks one is printed with its bytes, and kept in a file whose name is printed, too. The fuzzer
has an environment of its own, .fuzz.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["config", "data", "tasks"]):
    from tests.fuzz.fuzzed import SEEDS, TARGETS

    # What is imported only where it is needed is followed, too.
    for name, seeds in SEEDS.items():
        for one in seeds:
            TARGETS[name](one)


OPTIONS = ("-max_len=20000", "-timeout=60", "-rss_limit_mb=4096", "-print_final_stats=1")


def feed(target: str, seconds: str) -> None:
    """Feed one target, beginning with its seeds and the words in them; ends the process."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder, "corpus")
        corpus.mkdir()
        for number, seed in enumerate(SEEDS[target]):
            (corpus / str(number)).write_bytes(seed)
        words = {word for seed in SEEDS[target] for word in re.findall(rb"[\w:@%-]{2,40}", seed)}
        known = Path(folder, "words")
        known.write_text("".join(f'"{word.decode()}"\n' for word in sorted(words)))
        options = [*OPTIONS, f"-max_total_time={seconds}", f"-dict={known}"]
        atheris.Setup([sys.argv[0], *options, str(corpus)], TARGETS[target])
        atheris.Fuzz()


def main(seconds: str, *targets: str) -> int:
    """Feed each target for so many seconds, and say which of them broke; 1 where one did."""
    broken = []
    for target in targets or TARGETS:
        print(f"{target}: {TARGETS[target].__doc__}", flush=True)
        command = [sys.executable, "-m", "tests.fuzz.fuzz_for_hours", "--one", target, seconds]
        if subprocess.run(command, check=False).returncode:
            broken.append(target)
    print(f"broken: {', '.join(broken)}" if broken else "Nothing was found.")
    return bool(broken)


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        feed(*sys.argv[2:])
    sys.exit(main(*sys.argv[1:]))
