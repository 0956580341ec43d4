"""A machine for a rehearsal, on this one: folders, names, ports and processes of its own.

Linux gives one to root: nothing that happens there is seen outside, and it is gone with its first
process. What lies outside is there as it is, but for the folders that are made anew.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

ANEW = ("campaigns", "etc", "home", "opt", "root", "run", "srv")
USER, NUMBER = "hiring", 1000
HOSTS = "127.0.0.1 localhost postgres redis prefect\n"


def inside(module: str, words: Collection[str]) -> int:
    """Run a module of the tests on a machine of its own; answers its exit code."""
    if os.getuid() != 0:
        sys.exit("Only root may make a machine on this one.")
    apart = ("--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
    # The folder is removed out here, where nothing is mounted in it.
    with tempfile.TemporaryDirectory(prefix="own-machine-") as folder:
        Path(folder).chmod(0o755)
        command = ["unshare", *apart, sys.executable, "-m", module, "--inside", folder, *words]
        return subprocess.run(command, check=False).returncode


def move_in(folder: Path, needed: Collection[Path]) -> None:
    """From here on this process and all that it starts are on the machine; `needed` are folders
    below those made anew that stay reachable."""
    here, root = Path.cwd(), folder / "root"
    root.mkdir()
    mount("-t", "tmpfs", "-o", "mode=755", "none", root)
    for one in Path("/").iterdir():
        place = root / one.name
        if one.is_symlink():
            place.symlink_to(one.readlink())
        elif one.is_dir() and one.name not in ANEW:
            place.mkdir()
            mount("--rbind", one, place)
    subprocess.run(["cp", "-a", "/etc", root], check=True)
    for name in ANEW:
        (root / name).mkdir(exist_ok=True)
    for one in needed:
        if one.parts[1] in ANEW:
            borrow(one, root / one.relative_to("/"))
    os.chroot(root)
    os.chdir(here)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    Path("/etc/hosts").write_text(HOSTS)
    for file, line in (
        ("/etc/passwd", f"{USER}:x:{NUMBER}:{NUMBER}::/home/{USER}:/bin/sh"),
        ("/etc/group", f"{USER}:x:{NUMBER}:"),
    ):
        others = [one for one in Path(file).read_text().splitlines() if f":{NUMBER}:" not in one]
        Path(file).write_text("\n".join([*others, line, ""]))
    os.chown(made(Path("/home") / USER), NUMBER, NUMBER)


def made(folder: Path) -> Path:
    """A folder that is there now."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def borrow(folder: Path, place: Path) -> None:
    """A folder of the machine outside, to be read alone."""
    mount("-o", "bind,ro", folder, made(place))


def mount(*words: object) -> None:
    """As the command does it."""
    subprocess.run(["mount", *map(str, words)], check=True)
