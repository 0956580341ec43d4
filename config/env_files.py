"""Where settings come from: the environment, or one `.env`, which nobody else may read; and which
of them are secrets.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from dotenv import dotenv_values
from dotenv.parser import parse_stream

from config.errors import BadSettings

# A file with any of these names is ours; another program's .env in the folder is ignored.
_OURS = ("ASSESSMENT_", "CAMPAIGN_")
_ANYONE_ELSE = 0o077  # a group's or everybody's right to read or write
_SECRET = frozenset({"ASSESSMENT_CLIENT_SECRET", "CAMPAIGN_NOTIFY_URL"})
_WITH_A_PASSWORD = "CAMPAIGN_DATABASE_URL"  # noqa: S105 - a variable's name


# They belong together: half from one source and half from another could send one service's secret
# to another service's address, or people's data to the wrong service.
SIX = frozenset(
    f"ASSESSMENT_{name}"
    for name in ("AUTH_URL", "BASE_URL", "APP_URL", "CLIENT_ID", "CLIENT_SECRET", "AUDIENCE")
)


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A `.env` and what it sets, by upper-case names; `near`: it is in the current folder."""

    path: Path
    values: dict[str, str] = field(default_factory=dict, repr=False)
    near: bool = False


def settings_file(own: Path, near: Path) -> SettingsFile:
    """Read the one `.env` that counts: `near`, in the current folder, if it sets anything of ours,
    else `own`. Raises BadSettings.
    """
    try:
        _refuse_unsafe((own, near))
        if near.is_file() and not (own.is_file() and own.samefile(near)):
            # Its author must not be able to read the environment, as ${SECRET} would.
            values = _values(near, interpolate=False)
            if any(name.startswith(_OURS) for name in values):
                _refuse_half(near, values, own)
                return SettingsFile(near, values, near=True)
        return SettingsFile(own, _values(own, interpolate=True) if own.is_file() else {})
    except OSError as error:
        raise BadSettings(f"{error.filename} cannot be read ({error.strerror}).") from None


def _refuse_half(near: Path, values: dict[str, str], own: Path) -> None:
    """Refuse a `.env` in the current folder that does not have all six settings of the service.

    Whoever sent the folder may have put it there. Their ledger, do-not-contact list or
    certificates, combined with your service, could invite everybody again, or let them read a
    secret on its way. Raises BadSettings.
    """
    here, missing = set_here(), SIX - values.keys()
    others = {name for name in SIX & here.keys() if here[name] != values.get(name)}
    if not missing and not others:
        return
    lacks = f" It is missing {_listed(missing)}." if missing else ""
    sets = f" The environment also sets {_listed(others)}." if others else ""
    raise BadSettings(
        f"{near}, in the current folder, is used only if it has all six ASSESSMENT_ settings and "
        f"none of them are set elsewhere.{lacks}{sets} Nothing was sent. "
        f"If the file is yours, put all six in it, or move its lines to {own}. If it is not, "
        "remove it, or work in another folder.",
        sorted(missing | others),
    )


def the_six(file: SettingsFile) -> tuple[dict[str, str], str]:
    """The service's settings from one source, and the name of that source.

    The environment, as a whole, wins over a file. Raises BadSettings if they would be mixed.
    """
    there = {name: file.values[name] for name in SIX & file.values.keys()}
    here = {name: value for name, value in set_here().items() if name in SIX}
    if here.items() <= there.items():
        return there, str(file.path) if there else f"the environment or in {file.path}"
    if not there or here.keys() == SIX:
        return here, "the environment"
    missing = SIX - here.keys()
    raise BadSettings(
        "The six ASSESSMENT_ settings must come from one place. The environment has "
        f"{_listed(here)}, but not {_listed(missing)}; {file.path} has {_listed(there)}. Nothing "
        "was sent. Set all six in the environment, or none of them.",
        sorted(missing),
    )


def set_here() -> dict[str, str]:
    """What the environment sets, by upper-case names; an empty text sets nothing."""
    return {name.upper(): value for name, value in os.environ.items() if value}


def _values(file: Path, *, interpolate: bool) -> dict[str, str]:
    values = dotenv_values(file, interpolate=interpolate, encoding="utf-8-sig")
    return {name.upper(): value for name, value in values.items() if value}


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names))


def _refuse_unsafe(files: tuple[Path, ...]) -> None:
    """Refuse files with settings of ours that others on this machine may read or write: they could
    send the secret to an address of their own. Refuse one with a line that cannot be read: a
    setting could be lost unnoticed. Raises BadSettings, OSError.
    """
    ours = [file for file in dict.fromkeys(files) if file.is_file() and _is_ours(file)]
    opened = [file for file in ours if file.stat().st_mode & _ANYONE_ELSE and os.name == "posix"]
    if opened:
        named = " ".join(str(file) for file in opened)
        hold, it = ("holds", "it") if len(opened) == 1 else ("hold", "them")
        raise BadSettings(
            f"{' and '.join(map(str, opened))} {hold} secrets, and others on this machine can read "
            f"{it}. Nothing was sent. Make {it} readable by you alone: chmod 600 {named}"
        )
    for file in ours:
        with file.open(encoding="utf-8-sig") as text:
            wrong = [line.original.line for line in parse_stream(text) if line.error]
        if wrong:
            raise BadSettings(
                f"{file}, line {wrong[0]}: this is not NAME=value, or a quote is not closed. "
                "Nothing was sent. Fix the line, then run again."
            )


def _is_ours(file: Path) -> bool:
    try:
        text = file.read_text("utf-8-sig").upper()
    except UnicodeError:
        raise BadSettings(f"{file} is not text in UTF-8. Save it as that.") from None
    return any(name in text for name in _OURS)


def secrets_among(variables: Mapping[str, str]) -> list[str]:
    """Name the variables that hold a secret of ours; a database address counts if it has a
    password.
    """
    ours = {name.upper(): value for name, value in variables.items() if value}
    return sorted(name for name, value in ours.items() if name in _SECRET or _locked(name, value))


def _locked(name: str, value: str) -> bool:
    if name != _WITH_A_PASSWORD:
        return False
    try:
        return bool(urlsplit(value).password)
    except ValueError:  # what cannot be read may hold anything
        return True
