"""Starters: a definition to fill in, in YAML or as a workbook. Sample data that passes `check`."""

import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from unicodedata import normalize

from config.command_line import command
from config.errors import BadInput
from config.mistakes import Mistake, Place, shown

LONGEST_KEY = 100
STARTER_YAML = """\
# yaml-language-server: $schema=campaign.schema.json
# A campaign: one project, one problem, and the people to invite.
# Replace the sample values, then:
#   {check}     finds every mistake, sends nothing
#   {run}       adds and invites; safe to run again at any time
#   {schema}     lets your editor complete fields and show mistakes

{key:<35} # its key: lower-case letters, digits, - _ and .

project:                            # or  project: {{id: 123}}  for one made in the web application
  name: Backend engineer
  description: ""                   # this and everything below is optional
  state: open
  starttime: 2030-01-07 09:00       # local time in the timezone below
  endtime: 2030-01-21 18:00
  timezone: Europe/Paris

problem: 42                         # its id ("{problems}" lists them), or {{title: "…"}}

# stage_id: 1                       # for everyone without one of their own

candidates:                         # or  candidates: {{file: people.csv}}
  - first_name: Ada
    last_name: Lovelace
    email1: ada@example.com         # they must log in with exactly this address
    source: referral                # this and everything below is optional
    notes: ""
    stage_id: 1
  - {{first_name: Grace, last_name: Hopper, email1: grace@example.com}}

invites: {{send: true}}               # false: add people and create their links, but invite nobody
"""


def write_starter(
    path: Path, candidates: str | None = None, options: Sequence[object] = ()
) -> None:
    """Write a starter definition; the name's ending says which kind: `.yaml`, `.yml` or `.xlsx`.

    Its key comes from the file's name, because two campaigns with one key would be one campaign.
    `candidates` are lines to write instead of the sample people, in YAML only. `options` are what
    was typed after the name, to be typed again after another one.

    Raises BadInput if a file of that name already exists or cannot be written.
    """
    suffix, key, place = path.suffix.lower(), key_of(path.stem), Place(str(path))
    if suffix in {".yaml", ".yml"}:
        text = starter_yaml(path.name, key)
        if candidates is not None:
            before, after = text.index("\ncandidates:") + 1, text.index("\ninvites:")
            text = text[:before] + candidates + text[after:]
        content = text.encode()
    elif suffix == ".xlsx" and candidates is None:
        # Imported here: only a workbook needs it.
        from config.reading.starter_workbook import starter_workbook  # noqa: PLC0415

        content = starter_workbook(path.name, key)
    else:
        wanted = "a name that ends in .yaml" + ("" if candidates else " or .xlsx")
        problem = Mistake(place, found=shown(path.name), wanted=wanted)
        other = path.with_name(f"{path.stem or 'hiring'}.yaml")
        raise BadInput([problem], then=_instead(other, options))
    try:
        _create(path, content)
    except FileExistsError:
        message = "this file already exists and was not changed; choose another name"
        raise BadInput.at(place, message, _instead(path, options)) from None
    except FileNotFoundError:
        message = f"there is no folder {path.parent}; create it first, or choose another place"
        raise BadInput.at(place, message) from None
    except OSError as error:
        raise BadInput.at(place, f"this file cannot be written: {error.strerror}") from None


def _create(path: Path, content: bytes) -> None:
    """Write a file that does not exist yet, whole or not at all. Raises OSError."""
    # Exclusive creation: it never overwrites a file that appeared a moment ago.
    with path.open("xb") as file:
        try:
            file.write(content)
            file.flush()
        except BaseException:
            path.unlink()
            raise


def starter_yaml(name: str, key: str) -> str:
    """Write the sample definition; `name` is what its file will be called."""
    return STARTER_YAML.format(
        check=command("check", name),
        run=command("run", name),
        schema=command("schema", "-o", "campaign.schema.json"),
        problems=command("problems"),
        key=f"campaign: {_in_yaml(key)}",
    )


def key_of(name: str) -> str:
    """Make a campaign's key of the name of its file: `Hiring (Zürich)` is hiring-zurich."""
    plain = normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    key = re.sub(r"[^a-z0-9._]+", "-", plain).strip("-._")[:LONGEST_KEY]
    return key or "my-campaign"


def _in_yaml(key: str) -> str:
    """Write a key so that YAML reads it as text, not as a number or a word such as no."""
    plain = key[0].isalpha() and key not in ("null", "true", "false", "yes", "no", "on", "off")
    return key if plain else f'"{key}"'


def _instead(path: Path, options: Sequence[object]) -> str:
    """Say what to type, with the first name like this one that is free."""
    return f"Then type: {command('new', free(path), *options)}"


def free(path: Path) -> Path:
    """Return a path that does not exist yet: this one, or the first one with a number appended."""
    names = (path.with_stem(f"{path.stem}-{number}") for number in count(2))
    return path if not path.exists() else next(name for name in names if not name.exists())
