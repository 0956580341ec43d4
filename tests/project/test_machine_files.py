"""The ready files for many machines name settings, commands and files that there are."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from prefect.settings import Settings
from pydantic import BaseModel
from ruamel.yaml import YAML

from config.settings import LocalSettings, ServiceSettings

ROOT = Path(__file__).parents[2]
FILES = ROOT / "config" / "machines"
OTHERS = {"POSTGRES_USER", "POSTGRES_PASSWORD", "POSTGRES_DB"}  # of the database's own image
REDIS = re.compile("PREFECT_REDIS_MESSAGING_(HOST|PORT|DB)")  # of prefect-redis


def known() -> set[str]:
    """Every variable that this project and its Prefect read."""
    ours = {
        str(field.alias)
        for settings in (LocalSettings, ServiceSettings)
        for field in settings.model_fields.values()
    }
    return ours | OTHERS | {"DO_NOT_TRACK"} | set(of_prefect(Settings))


def of_prefect(settings: type[BaseModel], prefix: str = "PREFECT_") -> list[str]:
    found: list[str] = []
    for name, field in settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            own = field.annotation.model_config.get("env_prefix", f"{prefix}{name}_")
            found += of_prefect(field.annotation, str(own))
            continue
        choices = getattr(field.validation_alias, "choices", ())
        found += [f"{prefix}{name}".upper(), *(str(one).upper() for one in choices)]
    return found


def compose() -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe", pure=True).load(FILES / "compose.yaml")
    return found


def named() -> dict[str, str]:
    """Every variable that is set somewhere, and where."""
    found = {
        name: f"compose.yaml, {service}"
        for service, one in compose()["services"].items()
        for name in one.get("environment", {})
    }
    for file in FILES.glob("*.env.example"):
        for line in file.read_text().splitlines():
            if line and not line.startswith("#"):
                found[line.partition("=")[0]] = file.name
    return found


@pytest.mark.parametrize(("name", "where"), sorted(named().items()))
def test_every_variable_is_read_by_somebody(name: str, where: str) -> None:
    """A name that nobody reads would be a setting that does nothing."""
    assert name in known() or REDIS.fullmatch(name), where


def test_every_service_waits_for_what_it_needs_and_says_whether_it_is_well() -> None:
    """Of what others wait for, each has a health check."""
    services = compose()["services"]
    for name, one in services.items():
        for other in one.get("depends_on", {}):
            assert "healthcheck" in services[other], (name, other)
    assert sum("worker" in name for name in services) == 2
    assert (FILES / services["worker-1"]["build"]["context"]).resolve() == ROOT


def typed() -> list[str]:
    """The command lines in the files."""
    units = [file.read_text() for file in FILES.glob("*.service")]
    lines = [line for unit in units for line in re.findall(r"^ExecStart=\S*/(.*)$", unit, re.M)]
    lines += [one["command"] for one in compose()["services"].values() if "command" in one]
    [worker] = re.findall(r"^CMD \[(.*)\]$", (FILES / "Dockerfile").read_text(), re.M)
    return [*lines, worker.replace('"', "").replace(",", "")]


@pytest.mark.parametrize("line", sorted(set(typed())))
def test_every_command_is_one_that_there_is(
    line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its words and options are in what Prefect, or this program, says of them."""
    from prefect.cli import app

    from flows.cli.main import main

    words = shlex.split(line)
    command = [word for word in words[1:4] if word.isalpha() and word != "campaigns"]
    monkeypatch.setattr("sys.argv", [words[0], *command, "--help"])
    with pytest.raises(SystemExit) as ended:
        {"prefect": app, "campaign": main}[words[0]]()
    assert ended.value.code == 0
    told = capsys.readouterr().out
    for option in (word for word in words if word.startswith("--")):
        assert option in told, told


def images() -> list[str]:
    """What is downloaded to stand under the services: not what the Dockerfile makes."""
    dockerfile = (FILES / "Dockerfile").read_text()
    bases = re.findall(r"^FROM (\S+) AS (\S+)$", dockerfile, re.M)
    made_here = {name for _, name in bases}
    found = [image for image, _ in bases if image not in made_here]
    return found + [one["image"] for one in compose()["services"].values() if "build" not in one]


@pytest.mark.parametrize("image", images())
def test_every_image_is_pinned_by_its_digest(image: str) -> None:
    """A tag names another image tomorrow; the digest is this one, or it does not start."""
    assert re.fullmatch(r"[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}", image)


def test_prefects_server_has_what_its_settings_name() -> None:
    """Its one package more is locked with a hash; what that needs is in the project's own lock."""
    server = compose()["services"]["prefect"]
    assert any(str(value).startswith("prefect_redis.") for value in server["environment"].values())
    lock = (FILES / "server.lock").read_text()
    assert re.findall(r"^([a-z-]+)==\S+ \\\n    --hash=sha256:[0-9a-f]{64}$", lock, re.M) == [
        "prefect-redis"
    ]
    first = (ROOT / "requirements.lock").read_text().partition("# tests and checks")[0]
    assert {"prefect", "redis", "asyncpg"} <= set(re.findall(r"^([\w.-]+)==", first, re.M))
