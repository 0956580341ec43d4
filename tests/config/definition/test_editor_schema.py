"""The schema that editors read and `campaign check` say the same, wherever a schema can say it."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator

from config.definition.editor_schema import schema
from config.errors import BadInput
from config.mistakes import Mistake
from config.reading.reading import read_campaigns
from config.reading.starter import write_starter
from tests.config.definition.drawn_definitions import BASES, DEFINITIONS, REFUSED, TABLE

SCHEMA = Draft202012Validator(schema())
MANY = 5_000

# What only `check` can say. A text looks right to the schema, and only its reader knows more.
BEYOND: dict[str, Callable[[Mistake], object]] = {
    "what a text says": lambda mistake: (
        str(mistake.found).startswith('"') and (mistake.cause or not mistake.message)
    ),
    "an error of a spreadsheet": lambda mistake: str(mistake.found).startswith("the error "),
    "what a list says": lambda mistake: (
        (mistake.found, mistake.message) == ("a list", None)
        and mistake.field in {"invites.holidays", "invites.waves"}
    ),
    "that 7.0 is no whole number": lambda mistake: mistake.found == "7.0" and not mistake.message,
    "what a table holds": lambda mistake: (
        mistake.message
        and (
            mistake.place.file.endswith(".csv")
            or str(mistake.field).startswith(("candidates.file", "candidates.where."))
        )
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a definition lies beside its table."""
    made = tmp_path_factory.mktemp("definitions")
    (made / "people.csv").write_text(TABLE, encoding="utf-8")
    return made


def judged(definition: dict[str, Any], folder: Path) -> list[Mistake]:
    """What `check` complains of."""
    file = folder / "drawn.yaml"
    file.write_text(json.dumps(definition, ensure_ascii=False), encoding="utf-8")  # JSON is YAML
    try:
        read_campaigns(file)
    except BadInput as error:
        return error.problems
    return []


def compare(definition: dict[str, Any], folder: Path) -> list[str]:
    """Insist that both agree; answer for which reasons only `check` complains, if it does."""
    mistakes = judged(definition, folder)
    underlined = [error.message for error in SCHEMA.iter_errors(definition)]
    if not mistakes:
        assert not underlined, definition
    if underlined:
        return []
    reasons = [
        next((why for why, is_why in BEYOND.items() if is_why(mistake)), None)
        for mistake in mistakes
    ]
    assert None not in reasons, (list(map(str, mistakes)), definition)
    return [reason for reason in reasons if reason]


@pytest.mark.parametrize("base", BASES, ids=("new", "from a file", "listed"))
def test_what_is_good_is_good_to_both(folder: Path, base: dict[str, Any]) -> None:
    assert judged(base, folder) == []
    assert SCHEMA.is_valid(base)


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(definition=DEFINITIONS)
def test_the_schema_and_check_agree(folder: Path, definition: dict[str, Any]) -> None:
    compare(definition, folder)


@pytest.mark.journey
def test_they_agree_on_thousands_of_definitions(folder: Path) -> None:
    """Each reason why only `check` complains comes up; one that never does has no place there."""
    reasons: Counter[str] = Counter()

    @settings(max_examples=MANY, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(definition=DEFINITIONS)
    def agree(definition: dict[str, Any]) -> None:
        reasons.update(compare(definition, folder))

    agree()
    assert set(BEYOND) - set(reasons) == set()


@pytest.mark.parametrize("definition", REFUSED, ids=lambda _: "")
def test_what_a_schema_can_say_both_refuse(folder: Path, definition: dict[str, Any]) -> None:
    assert judged(definition, folder), definition
    assert not SCHEMA.is_valid(definition), definition


def test_the_schema_is_one_and_each_field_has_words() -> None:
    """An editor shows them where a field is completed, and others where its value is wrong."""
    Draft202012Validator.check_schema(SCHEMA.schema)
    parts = {"definition": SCHEMA.schema, **SCHEMA.schema["$defs"]}
    fields = {
        f"{part}.{name}": field
        for part, inside in parts.items()
        for name, field in inside.get("properties", {}).items()
    }
    assert [name for name, field in fields.items() if not field.get("description")] == []
    assert [
        name
        for name, field in fields.items()
        for kind in field.get("anyOf", [field])
        if not kind.keys() & {"$ref", "errorMessage"} and kind != {"type": "null"}
    ] == []


def test_a_starter_names_the_schema(tmp_path: Path) -> None:
    """In the line that the YAML language server reads, beside the file: it works offline."""
    write_starter(tmp_path / "hiring.yaml")
    first = (tmp_path / "hiring.yaml").read_text("utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=campaign.schema.json"
