"""What the units of systemd start, each with its own line, user and environment file."""

import re
import shlex
import shutil
from pathlib import Path

from sandbox.server import Sandbox
from tests.support.own_machine import NUMBER, USER, borrow, made
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

ETC = Path("/etc/hiring")
OPT = Path("/opt/hiring")
CAMPAIGNS = Path("/srv/campaigns")
HEALTH = "http://127.0.0.1:{port}/{path}"
PORTS = {"hiring-prefect": (4200, "api/health"), "hiring-worker": (8080, "health")}


def services(service: Sandbox, server: Path) -> tuple[list[Service], Path]:
    """The system's own PostgreSQL and Redis, the three units, and where campaigns lie."""
    borrow(server, OPT / "prefect")
    for one in (OPT / "campaigns", CAMPAIGNS):
        shutil.chown(made(one), NUMBER, NUMBER)
    program(OPT / "campaigns")
    settings = env_file(
        "campaigns.env.example",
        CAMPAIGN_DATABASE_URL=f"postgresql://hiring:{PASSWORD}@127.0.0.1/hiring",
        **service.environment(),
    )
    for_owner_alone(OPT / "campaigns" / ".env", settings)
    made(ETC)
    for file in FILES.glob("*.env.example"):
        if file.stem.partition(".")[0] != "campaigns":
            told = env_file(file.name)
            filled = {name: said.replace("PASSWORD", PASSWORD) for name, said in told.items()}
            for_owner_alone(ETC / file.stem, filled)
    redis = Service("redis", ["redis-server", "--dir", str(LOGS)], {"PATH": SYSTEM})
    redis.check = ["redis-cli", "ping"]
    units = [_unit(f"hiring-{name}") for name in ("prefect", "services", "worker")]
    return [_database(), redis, *units], CAMPAIGNS


def _database() -> Service:
    service = database(Path("/srv/postgres/data"), USER)
    with standing_alone(service):
        for name in ("hiring", "prefect"):
            ask(service, "postgres", "-c", f"CREATE DATABASE {name}")
    service.check = ["pg_isready", "-q", "-h", "127.0.0.1"]
    return service


def _unit(name: str) -> Service:
    text = (FILES / f"{name}.service").read_text()
    said = dict(re.findall(r"^(\w+)=(.*)$", text, re.M))
    lines = Path(said["EnvironmentFile"]).read_text().splitlines()
    # Whoever types a command there is in the program's own environment.
    environment = {"PATH": f"{OPT}/campaigns/.venv/bin:{SYSTEM}"} if "worker" in name else {}
    environment |= dict(one.split("=", 1) for one in lines)
    environment.setdefault("PATH", SYSTEM)
    unit = Service(name, shlex.split(said["ExecStart"]), environment, user=said["User"])
    unit.grace = float(said.get("TimeoutStopSec", 90))
    if name in PORTS:
        port, path = PORTS[name]
        unit.check = ["curl", "-sf", HEALTH.format(port=port, path=path)]
    return unit
