"""The definition as a JSON Schema, for editors: made from the model that judges it.

It says what can be said of a field by itself. What one field says of another, `campaign check`
alone knows; so the schema refuses nothing that `check` accepts, but an unknown field
with nothing in it.
"""

from typing import Any

from config.definition.fields import CandidateFields, DefinitionFields

DIALECT = "https://json-schema.org/draft/2020-12/schema"
WORDS = ("description", "default")
EMPTY = {"type": "null"}
ENDS = r"\z"  # of pydantic's regular expressions; editors write it $


def schema() -> dict[str, Any]:
    """Make the schema of a definition in YAML."""
    made = DefinitionFields.model_json_schema(ref_template="#/$defs/{model}")
    parts = made["$defs"]
    person = CandidateFields.model_json_schema()
    parts["CandidateFields"] = person
    people = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/CandidateFields"}}
    fields = made["properties"]
    fields["problem"]["anyOf"].append(parts["ProblemFields"]["properties"]["id"]["anyOf"][0])
    fields["candidates"]["anyOf"].append(people)
    parts["PeopleFileFields"]["properties"]["people"] = people
    named = [{"required": [name]} for name in ("name", "id")]
    parts["ProjectFields"]["anyOf"] = named
    made["required"].append("candidates")
    written: dict[str, Any] = _plain(made)
    return {"$schema": DIALECT, **written, "title": "A hiring campaign"}


def _plain(part: Any) -> Any:
    """Say in a field's description what it is for and what to write, end patterns as editors do,
    and let whatever may be left out be left empty."""
    if isinstance(part, list):
        return [_plain(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    plain = {
        name: inner.replace(ENDS, "$") if name == "pattern" else _plain(inner)
        for name, inner in part.items()
        if not (name == "title" and isinstance(inner, str))
    }
    needed = plain.get("required", ())
    for name, field in plain.get("properties", {}).items():
        if title := part["properties"][name].get("title"):
            field["description"] = f"{title}. Give {field['description']}."
        if name not in needed:
            plain["properties"][name] = _or_empty(field)
    return plain


def _or_empty(field: dict[str, Any]) -> dict[str, Any]:
    if EMPTY in field.get("anyOf", ()):
        return field
    words = {name: what for name, what in field.items() if name in WORDS}
    kind = {name: what for name, what in field.items() if name not in WORDS}
    return words | {"anyOf": [kind, EMPTY]}
