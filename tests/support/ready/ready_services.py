"""A program of the ready files that stands: its command, environment, user and health check."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.own_machine import NUMBER, USER, made
from tests.support.prefects.workers import wait_until
from tests.support.session import PATIENCE

ROOT = Path(__file__).parents[3]
FILES = ROOT / "config" / "machines"
LOGS = Path("/srv/logs")
PASSWORD = "f4bU7x"
SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass
class Service:
    """One program that stands: how it is started and asked whether it is well."""

    name: str
    command: list[str]
    environment: dict[str, str]
    folder: Path = Path("/")
    user: str = "root"
    check: list[str] | None = None
    patience: float = 90.0  # seconds until it is to be well
    grace: float = 10.0  # seconds that it gets to stop
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def log(self) -> Path:
        return LOGS / f"{self.name}.log"

    @property
    def temporary(self) -> Path:
        """For temporary files: a container has its own, and a unit (PrivateTmp)."""
        return Path("/run") / self.name

    def run(self, command: list[str], **more: Any) -> "subprocess.Popen[bytes]":
        """Start a command as this service would."""
        home = {"root": "/root", "postgres": "/run/postgresql"}.get(self.user, f"/home/{self.user}")
        shutil.chown(made(self.temporary), self.user)
        return subprocess.Popen(
            command,
            env={"HOME": home, "TMPDIR": str(self.temporary), **self.environment},
            cwd=self.folder,
            user=self.user,
            group=self.user,
            extra_groups=[],
            stdin=subprocess.DEVNULL,
            **more,
        )

    def start(self) -> None:
        """Start it, and wait until its own check says that it is well."""
        begun = time.monotonic()
        with self.log.open("ab") as words:
            self.process = self.run(self.command, stdout=words, stderr=words)
        if self.check:
            wait_until(self.well, self.log)
        took = time.monotonic() - begun
        print(f"{self.name}: up after {took:.1f} s of {self.patience:.0f}", flush=True)

    def well(self) -> bool:
        """Ask its health check."""
        assert self.process is not None and self.check is not None
        assert self.process.poll() is None, self.log.read_text()[-3000:]
        quiet = subprocess.DEVNULL
        return self.run(self.check, stdout=quiet, stderr=quiet).wait(timeout=PATIENCE) == 0

    def stop(self) -> None:
        """Tell it to stop; it must within its time."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=self.grace)

    def typed(self, *words: str) -> str:
        """Type a command as this service; answers what it said."""
        with (LOGS / "typed.log").open("wb") as said:
            code = self.run(list(words), stdout=said, stderr=subprocess.STDOUT).wait(
                timeout=PATIENCE
            )
        text = (LOGS / "typed.log").read_text()
        assert code == 0, text
        return text


def env_file(example: str, **values: str) -> dict[str, str]:
    """The lines of a ready environment file, filled in as docs/many-machines.md says."""
    lines = [one for one in (FILES / example).read_text().splitlines() if one[:1] not in ("", "#")]
    return dict(one.split("=", 1) for one in lines) | values


def for_owner_alone(place: Path, content: Mapping[str, str]) -> None:
    """Write an environment file as the owner of the workers does."""
    place.write_text("".join(f"{name}={said}\n" for name, said in content.items()))
    place.chmod(0o600)
    os.chown(place, NUMBER, NUMBER)


def program(folder: Path) -> str:
    """Build the program in a folder of its user's, without what .dockerignore leaves out, but with
    packages that are installed already; answers the PATH to it."""
    listed = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True)
    for name in listed.splitlines():
        if not name.startswith(".") and not name.endswith((".env", ".receipt")):
            made((folder / name).parent)
            shutil.copy2(ROOT / name, folder / name)
    for one in folder.rglob("*"):
        os.chown(one, NUMBER, NUMBER, follow_symlinks=False)
    build = Service("build", [], {"PATH": SYSTEM}, folder, USER)
    build.typed(sys.executable, "-m", "venv", ".venv")
    python = folder / ".venv" / "bin" / "python"
    [packages] = (folder / ".venv").glob("lib/*/site-packages")
    [theirs] = Path(sys.prefix).glob("lib/*/site-packages")
    (packages / "installed.pth").write_text(f"{theirs}\n")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--ignore-installed")
    build.typed(str(python), "-m", "pip", "install", "-qq", *options, "--editable", ".")
    prefect = (Path(sys.prefix) / "bin" / "prefect").read_text().split("\n", 1)[1]
    (python.parent / "prefect").write_text(f"#!{python}\n{prefect}")
    (python.parent / "prefect").chmod(0o755)
    return f"{python.parent}:{SYSTEM}"


def database(data: Path, owner: str) -> Service:
    """PostgreSQL with an owner who has a password, as its image makes it at the first start."""
    [*_, place] = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    for folder in (made(data.parent), made(Path("/run/postgresql"))):
        shutil.chown(folder, "postgres", "postgres")
    secret = LOGS / "password"
    secret.write_text(PASSWORD)
    secret.chmod(0o644)
    socket = "-cunix_socket_directories=/run/postgresql"
    command = ["postgres", "-D", str(data), "-clisten_addresses=*", socket]
    service = Service("postgres", command, {"PATH": f"{place}:{SYSTEM}"}, user="postgres")
    asked = ("-A", "scram-sha-256", "-E", "UTF8", f"--pwfile={secret}")
    service.typed("initdb", "-D", str(data), "-U", owner, *asked)
    return service


@contextmanager
def standing_alone(service: Service) -> Iterator[None]:
    """A database while it is made ready for others."""
    check, service.check = service.check, ["pg_isready", "-q", "-h", "127.0.0.1"]
    service.start()
    try:
        yield
    finally:
        service.stop()
        service.check = check


def ask(service: Service, name: str, *words: str) -> None:
    """Have psql say something to a database, as its owner."""
    service.environment |= {"PGPASSWORD": PASSWORD, "PGHOST": "127.0.0.1"}
    service.typed("psql", "-qX", "-v", "ON_ERROR_STOP=1", "-U", USER, "-d", name, *words)
