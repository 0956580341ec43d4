"""What an editor does with a definition, by the YAML language server that most of them use."""

import json
import subprocess
from pathlib import Path

import pytest

from config.definition.invite_fields import WITH_WAVES, InvitesFields
from config.errors import BadInput
from config.people import email_address
from config.reading.reading import read_campaigns
from tests.config.definition.drawn_definitions import BASES, REFUSED
from tests.support.documents import BIN
from tests.support.editor.language_server import LanguageServer, installed, server

__all__ = ["installed", "server"]

pytestmark = pytest.mark.xdist_group("editor")


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    """What a newcomer has: a starter, and the schema that its first line names."""
    for words in (["new", "hiring.yaml"], ["schema", "-o", "campaign.schema.json"]):
        subprocess.run([BIN / "campaign", *words], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path / "hiring.yaml"


def write_over(file: Path, changes: dict[str, str]) -> list[str]:
    """Change words of a file; answer its lines."""
    text = file.read_text("utf-8")
    for right, wrong in changes.items():
        assert right in text
        text = text.replace(right, wrong)
    file.write_text(text, "utf-8")
    return text.splitlines()


def test_a_starter_has_nothing_underlined(server: LanguageServer, definition: Path) -> None:
    assert server.underlined(definition) == {}


def test_a_mistake_is_underlined_where_check_finds_it(
    server: LanguageServer, definition: Path
) -> None:
    """A wrong field, wrong values and a field that lacks another, in the words of `check`."""
    wrong = {
        "  state: open": "  colour: red",
        "send: true": "send: maybe, between: 2 hours",
        "email1: grace@example.com": "email1: grace",
    }
    lines = write_over(definition, wrong)
    with pytest.raises(BadInput) as complained:
        read_campaigns(definition)
    invites = next(n for n, line in enumerate(lines, start=1) if line.startswith("invites"))
    underlined = server.underlined(definition)
    assert underlined.pop((invites, 1)) == (
        "invites",  # what is missing has no place of its own; check points at between
        WITH_WAVES,
    )
    assert dict(underlined.values()) == {
        "colour": "Property colour is not allowed.",
        "maybe": f"wanted {InvitesFields.model_fields['send'].description}",
        "grace": f"wanted {email_address.WANTED}",
    }
    places = [mistake.place for mistake in complained.value.problems]
    assert underlined.keys() < {(place.line, place.column) for place in places}


def test_it_underlines_what_a_schema_can_refuse_and_nothing_that_is_good(
    server: LanguageServer, definition: Path
) -> None:
    """The server reads the whole schema as tests/config/definition/test_editor_schema.py does."""
    line = definition.read_text("utf-8").splitlines()[0]
    for number, other in enumerate([*BASES, *REFUSED]):
        file = definition.with_name(f"{number}.yaml")
        file.write_text(f"{line}\n{json.dumps(other)}\n", "utf-8")
        assert bool(server.underlined(file)) == (number >= len(BASES)), other


def test_fields_and_values_are_completed(server: LanguageServer, definition: Path) -> None:
    """Each with what it is for, where it belongs."""
    lines = write_over(definition, {"invites: {send: true}": "invites:\n  trust: \n  ho"})
    last = next(n for n, line in enumerate(lines, start=1) if line.startswith("  ho"))
    server.underlined(definition)
    fields = server.completed(definition, (last, len("  ho") + 1))
    rule = InvitesFields.model_fields["hours"]
    assert str(rule.title) in fields["hours"] and str(rule.description) in fields["hours"]
    assert fields.keys() < InvitesFields.model_fields.keys()
    assert server.completed(definition, (last - 1, len("  trust: ") + 1)).keys() > {
        "status",
        "wire",
    }
