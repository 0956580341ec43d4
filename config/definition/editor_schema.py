"""The definition as a JSON Schema, for editors: made from the models that judge it.

It accepts everything that `check` accepts, except an unknown field with nothing in it. It refuses
everything that `check` refuses, except what depends on the text or the table: whether a date, zone
or address exists, which of two times comes first, and who is in a list twice.
"""

from typing import Any

from config.definition.fields import CandidateFields, DefinitionFields
from config.definition.schema_parts import EMPTY

DIALECT = "https://json-schema.org/draft/2020-12/schema"
RULES = "allOf"  # rules between fields, unchanged
ENDS = r"\z"  # of pydantic's regular expressions; editors write it $


def schema() -> dict[str, Any]:
    made = DefinitionFields.model_json_schema(ref_template="#/$defs/{model}")
    parts = made["$defs"]
    person = CandidateFields.model_json_schema()
    parts["CandidateFields"] = person
    people = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/CandidateFields"}}
    fields = made["properties"]
    fields["problem"]["anyOf"].append(parts["ProblemFields"]["properties"]["id"]["anyOf"][0])
    fields["candidates"]["anyOf"].append(people)
    listed = parts["PeopleFileFields"]["properties"]["people"]
    parts["PeopleFileFields"]["properties"]["people"] = listed | people
    made["required"].append("candidates")
    written: dict[str, Any] = _plain(made)
    for name, part in written["$defs"].items():
        part["title"] = name.removesuffix("Fields").lower()
    return {"$schema": DIALECT, **written, "title": "campaign"}


def _plain(part: Any) -> Any:
    """Say in a field's description what it is for and what to write, end patterns as editors do,
    and let whatever may be left out be left empty."""
    if isinstance(part, list):
        return [_plain(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    plain = {
        name: inner if name == RULES else _plain(inner)
        for name, inner in part.items()
        if not isinstance(inner, str)
    }
    texts = {name: text for name, text in part.items() if isinstance(text, str)}
    plain |= {name: _text(name, text) for name, text in texts.items() if name != "title"}
    needed = plain.get("required", ())
    for name, field in plain.get("properties", {}).items():
        title, wanted = part["properties"][name].get("title"), field.pop("description")
        complaint = {"errorMessage": f"wanted {wanted}"}
        kinds = [kind if "$ref" in kind else kind | complaint for kind in _kinds(field)]
        if name not in needed and not any("minProperties" in kind for kind in kinds):
            kinds.append(EMPTY)
        words = f"{title}. Give {wanted}." if title else wanted
        plain["properties"][name] = {"description": words} | _any_of(kinds)
    return plain


def _text(name: str, text: str) -> str:
    if name == "pattern":
        return text.replace(ENDS, "$")
    # The rest of the docstring is for whoever changes the program.
    return text.partition("\n\n")[0] if name == "description" else text


def _kinds(field: dict[str, Any]) -> list[dict[str, Any]]:
    """What a field may hold, without null."""
    if "anyOf" in field:
        return [kind for inner in field["anyOf"] for kind in _kinds(inner)]
    # A field that is left out is explained in words; with a default, an editor would write it.
    kind = {name: what for name, what in field.items() if name != "default"}
    return [] if kind == EMPTY else [kind]


def _any_of(kinds: list[dict[str, Any]]) -> dict[str, Any]:
    """The same as one mapping, if that is as clear: an editor explains it better."""
    if len(kinds) == 1:
        return kinds[0]
    if len(kinds) == 2 and kinds[1] == EMPTY and not kinds[0].keys() & {"$ref", "enum", "const"}:
        return kinds[0] | {"type": [kinds[0]["type"], "null"]}
    return {"anyOf": kinds}
