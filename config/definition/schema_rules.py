"""Rules between fields, as conditions of a JSON Schema: each is written next to its validator.

Each carries the sentence that `campaign check` prints if the rule is broken; editors show it.
"""

from typing import Any

from pydantic import ConfigDict

Schema = dict[str, Any]

EMPTY: Schema = {"type": "null"}
SOMETHING: Schema = {"type": ["string", "number", "boolean", "object", "array"]}
NO_TIME: Schema = {"type": ["string", "null"], "pattern": r"^\s*$"}
OF_A_RULE: Schema = {"doNotSuggest": True}  # an editor completes the field itself, not a rule
TIMES = {"starttime", "endtime", "not_before", "not_after"}


def given(name: str, sentence: str | None = None) -> Schema:
    """This field is there and not empty; for a time, not only blanks."""
    there = SOMETHING | OF_A_RULE | ({"not": NO_TIME} if name in TIMES else {})
    return _saying({"required": [name], "properties": {name: _saying(there, sentence)}}, sentence)


def left_out(names: list[str], sentence: str | None = None) -> Schema:
    """None of these fields is there, or they are empty."""
    empty = {name: NO_TIME if name in TIMES else EMPTY for name in names}
    properties = {name: _saying(what | OF_A_RULE, sentence) for name, what in empty.items()}
    return {"properties": properties}


def within(name: str, inner: Schema) -> Schema:
    """The condition holds inside the mapping `name`."""
    return {"required": [name], "properties": {name: {"type": "object"} | OF_A_RULE | inner}}


def together(*rules: Schema) -> ConfigDict:
    """Attach to a model the rules that hold between its fields."""
    return ConfigDict(json_schema_extra={"allOf": list(rules)})


def _saying(schema: Schema, sentence: str | None) -> Schema:
    return schema | ({"errorMessage": sentence} if sentence else {})
