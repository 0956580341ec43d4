"""What compose.yaml starts, as on this machine: in place of an image, what is installed."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from sandbox.server import Sandbox
from tests.support.own_machine import NUMBER, made, mount
from tests.support.ready.ready_services import (
    FILES,
    LOGS,
    PASSWORD,
    SYSTEM,
    Service,
    ask,
    database,
    env_file,
    for_owner_alone,
    program,
    standing_alone,
)

HERE = Path("/srv/compose")  # the folder in which compose.yaml, .env and campaigns.env lie
HEALTH = "8080"  # all workers have it; on one machine each needs its own


def filled_in(text: str, values: Mapping[str, str]) -> str:
    """Put variables into what compose.yaml says, as its engine does."""

    def value(found: re.Match[str]) -> str:
        name, otherwise, rest = found.groups()
        if name not in values and otherwise != ":-":
            sys.exit(f"compose.yaml wants {name}: {rest}")
        return values.get(name, rest or "")

    return re.sub(r"\$\{(\w+)(?:(:-|:\?)([^}]*))?\}", value, text)


def services(service: Sandbox, server: Path) -> tuple[list[Service], Path]:
    """Every service in the order of its needs, and where campaigns lie for the workers."""
    shutil.copytree(FILES, HERE)
    values = {"POSTGRES_PASSWORD": PASSWORD, "PREFECT_PASSWORD": PASSWORD}
    read = YAML(typ="safe", pure=True).load(filled_in((HERE / "compose.yaml").read_text(), values))
    settings = env_file(
        "campaigns.env.example",
        CAMPAIGN_DATABASE_URL=f"postgresql://hiring:{PASSWORD}@postgres/hiring",
        CAMPAIGN_OUTPUT_DIR="/campaigns/out",
        **service.environment(),
    )
    for_owner_alone(HERE / "campaigns.env", settings)
    shutil.chown(made(HERE / "campaigns"), NUMBER, NUMBER)
    worker = _of_the_dockerfile()
    found: dict[str, Service] = {}
    for name, said in read["services"].items():
        found[name] = _service(name, said, server, worker)
        _health(found[name], said.get("healthcheck"), len(found))
        for other in said.get("depends_on", {}):
            assert other in found, f"{name} stands before {other} in compose.yaml"
    return list(found.values()), Path("/campaigns")


def _of_the_dockerfile() -> Service:
    """A worker as its image has it."""
    text = (FILES / "Dockerfile").read_text()
    said = dict(line.split(" ", 1) for line in text.splitlines() if line[:1].isupper())
    folder = Path(said["WORKDIR"])
    for command in re.findall(r"&& (install [^&\n]+)", text):
        subprocess.run(shlex.split(command), check=True)
    path = program(made(folder))
    assert said["ENV"] == f"PATH={folder}/.venv/bin:$PATH"
    command = re.findall(r'"([^"]+)"', said["CMD"])
    return Service("", command, {"PATH": path}, folder, said["USER"])


def _service(name: str, said: Mapping[str, Any], server: Path, worker: Service) -> Service:
    environment = {key: str(value) for key, value in said.get("environment", {}).items()}
    match re.split("[:@]", said["image"])[0]:
        case "postgres":
            made_here = _database(said, environment)
        case "redis":
            made_here = Service(name, ["redis-server", "--dir", str(LOGS)], {"PATH": SYSTEM})
        case "hiring-prefect":
            environment |= {"PATH": f"{server / 'bin'}:{SYSTEM}"}
            command = shlex.split(said["command"])
            made_here = Service(name, command, environment, worker.folder, worker.user)
        case "hiring-campaigns":
            for volume in said["volumes"]:
                _bound(volume)
            environment = worker.environment | environment
            made_here = Service(name, worker.command, environment, worker.folder, worker.user)
            made_here.grace = float(said["stop_grace_period"].removesuffix("s"))
        case other:
            sys.exit(f"nothing here is like the image {other}")
    return made_here


def _database(said: Mapping[str, Any], environment: Mapping[str, str]) -> Service:
    """Its first start: the owner's own database, and the scripts that are laid beside it."""
    service = database(Path("/srv/postgres/data"), environment["POSTGRES_USER"])
    with standing_alone(service):
        ask(service, "postgres", "-c", f"CREATE DATABASE {environment['POSTGRES_DB']}")
        for volume in said["volumes"]:
            source, target, *_ = volume.split(":")
            if target.startswith("/docker-entrypoint-initdb.d/"):
                ask(service, environment["POSTGRES_DB"], "-f", str(HERE / source))
    return service


def _bound(volume: str) -> None:
    """Lay a folder or a file of the host where a container has it."""
    source, target, *_ = volume.split(":")
    place = Path(target)
    if place.is_mount():
        return
    if (HERE / source).is_file():
        place.touch()
    mount("--bind", HERE / source, place)


def _health(service: Service, said: Mapping[str, Any] | None, number: int) -> None:
    """Its own check, which it must pass within the time that it has for that."""
    if said is None:
        return
    kind, *words = said["test"]
    assert kind == "CMD"
    retries = int(said.get("retries", 3))
    seconds = [float(str(said.get(name, 0)).rstrip("s")) for name in ("interval", "start_period")]
    service.patience = seconds[0] * retries + seconds[1]
    if "worker" in service.name:
        port = str(int(HEALTH) + number)
        service.environment["PREFECT_WORKER_WEBSERVER_PORT"] = port
        words = [one.replace(HEALTH, port) for one in words]
    service.check = words
