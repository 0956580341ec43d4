"""Every file of the corpora ends in the people, or the mistakes, that stand beside it."""

import json
from pathlib import Path
from typing import Any

import pytest

from config.definition import PeopleTable
from config.errors import in_order
from config.sheets.people import read_people

DATA = Path(__file__).parents[2] / "data"
CASES = [
    (DATA / folder, json.loads(line))
    for folder in ("exports", "sheets", "left_out")
    for line in (DATA / folder / "expected.jsonl").read_text("utf-8").splitlines()
]


def named(case: Any) -> str:
    return f"{case.name}-" if isinstance(case, Path) else f"{case['file']}-{case.get('options')}"


@pytest.mark.parametrize(("folder", "case"), CASES, ids=named)
def test_a_file_of_the_corpora(folder: Path, case: dict[str, Any]) -> None:
    """Its people in order, or each mistake at its place, or one question about who is out."""
    options = case.get("options", {})
    # YAML's false is text where a column is compared.
    where = {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in options.get("where", {}).items()
    }
    spec = {"file": case["file"], **options, **({"where": where} if where else {})}
    people = read_people(PeopleTable.model_validate(spec), folder)
    mistakes = in_order(people.mistakes)
    if "people" in case:
        assert mistakes == []
        assert [person(each) for each in people.listed] == case["people"]
    if "mistakes" in case:
        places = [str(each.place.line or each.place.cell or "") for each in mistakes]
        assert places == [place for place, _ in case["mistakes"]]
        for mistake, (_, field) in zip(mistakes, case["mistakes"], strict=True):
            assert not field or mistake.field == field
    if "out" in case:
        (question,) = mistakes
        for what, those in case["out"].items():
            assert (f"{what} has {those}" if isinstance(those, str) else what) in question.message
            assert isinstance(those, str) or all(str(row) in question.message for row in those)
    everything = "\n".join([*people.notes, *map(str, mistakes)])
    assert all(words in everything for words in case.get("says", []))


def person(listed: Any) -> list[Any]:
    digits = "".join(filter(str.isdecimal, listed.place.cell or ""))
    (_, first), (_, last), (_, email), *more = listed.candidate
    rest = {name: value for name, value in more if value not in ("", None, 1)}
    return [listed.place.line or int(digits), first, last, email, *filter(None, [rest])]
