"""What a JSON Schema says of a definition beside its fields: patterns of texts, and rules between
fields.

Each pattern accepts everything that the reader of that text accepts, and refuses what is plainly
something else, so that an editor underlines it. They are written so that Python and JavaScript
read them alike. Each rule is written next to its validator, and carries the sentence that
`campaign check` prints if the rule is broken; editors show it.
"""

from typing import Any

from pydantic import ConfigDict, WithJsonSchema

Schema = dict[str, Any]
LARGEST_RATE = 1_000_000


def _in_any_case(word: str) -> str:
    return "".join(f"[{letter.upper()}{letter}]" for letter in word)


_UNITS = "|".join(map(_in_any_case, ("minute", "hour", "day", "week")))
_SPAN = rf"\d{{1,6}}\s*({_UNITS})[Ss]?"
_CLOCK = r"\d{1,2}(:\d{2})?"
_ISO = r"\d{4}-\d{2}-\d{2}[\sTt]+\d{1,2}:\d{2}(:00(\.0+)?)?"
_SERVICE = r"[A-Za-z]{3}\s+\d{1,2},\s+\d{4}\s+\d{1,2}:\d{2}\s*[AaPp][Mm]"
_REST = _in_any_case("rest")


def text(pattern: str) -> Schema:
    """The schema of a text that has this pattern, with space around it."""
    return {"type": "string", "pattern": rf"^\s*({pattern})\s*$"}


def _any_of(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


def shown_as(schema: Schema) -> WithJsonSchema:
    """Annotate a type with the schema of what is typed for it."""
    return WithJsonSchema(schema, mode="validation")


NAME = {"type": "string", "pattern": r"\S"}
EMAIL = {"type": "string", "pattern": "@"}
TIMEZONE = text(r"[A-Za-z][A-Za-z0-9_+/-]*")
MOMENT = text(rf"{_ISO}|{_SERVICE}|")
CRON = text(r"([0-9A-Za-z*/,-]+\s+){4}[0-9A-Za-z*/,-]+")
SPAN = text(_SPAN)
LEAST_TIME = text(rf"(warn\s+)?{_SPAN}")
APPROVAL = text(rf"required|within\s+{_SPAN}")
HOURS = text(rf"([\s\S]+\s)?{_CLOCK}\s*[-\u2013]\s*{_CLOCK}")
SHARE = text(r"\d{1,3}(\.\d{1,4})?\s*%")
_DATE = r"\d{4}-?(\d|W)[\d-]+"
HOLIDAYS = _any_of(
    {"type": "array", "items": text(_DATE)},
    text(rf"{_DATE}(\s*[,;]\s*{_DATE})*"),
)
RATE = _any_of(
    {"type": "number", "exclusiveMinimum": 0, "maximum": LARGEST_RATE},
    text(r"[-+.\d_]+([Ee][-+\d]+)?"),
)
SIZE = {"type": "integer", "minimum": 1}
WAVES = _any_of(
    {"type": "array", "items": _any_of(SIZE, text(_REST)), "contains": SIZE},
    text(rf"\[*\s*\d+(\s*,\s*\d+)*(\s*,\s*{_REST})?\s*\]*"),
)
_VALUE = {"type": ["string", "number", "boolean"], "pattern": r"^$|\S"}
WHERE = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": _any_of(_VALUE, {"type": "array", "minItems": 1, "items": _VALUE}),
}

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
