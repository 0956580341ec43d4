"""Tables as systems hand them out: each is read, or says what it is and which cell is wrong."""

from pathlib import Path

import pytest

from config.errors import BadInput
from config.reading.bare_table import understood
from config.reading.own_tables import Named, own_tables, people_at
from config.reading.reading import read_campaigns
from tests.sheets.formats import EXPORTS, HEADER, PEOPLE
from tests.support.documents import fits

DEFINITION = "campaign: a\nproject: {{name: A}}\nproblem: 42\ncandidates: {{file: {}{}}}\n"


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_is_read_or_says_what_it_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The three people with their places, or one sentence that says what to do."""
    monkeypatch.chdir(tmp_path)
    export = EXPORTS[name]
    Path(name).write_bytes(export.content)
    Path("a.yaml").write_text(DEFINITION.format(name, export.options))
    try:
        reading = read_campaigns(Path("a.yaml"))
    except BadInput as error:
        told = "\n".join(map(str, error.problems))
        assert export.complaint, told
        assert export.complaint in told
        assert told.startswith(name) or name in told
        return
    assert not export.complaint
    (definition,) = reading.definitions
    people = [(p.first_name, p.last_name, p.email1) for p in definition.candidates]
    assert people == PEOPLE
    places = [str(p.place).removeprefix(name) for p in definition.candidates]
    assert [place.rpartition("!")[2] for place in places] == list(export.places)
    assert not export.remark or any(fits(f"…{export.remark}", note) for note in reading.notes)


@pytest.mark.parametrize("name", [name for name, export in EXPORTS.items() if export.places])
def test_results_find_the_same_people(name: str, tmp_path: Path) -> None:
    """Where results are written back, each person stands in the row that was read."""
    export = EXPORTS[name]
    path = tmp_path / name
    path.write_bytes(export.content)
    named = Named(path)
    people = dict(people_at(named, own_tables(named)[1]).people())
    assert [fields["email1"] for fields in people.values()] == [email for *_, email in PEOPLE]
    assert [str(row) for row in people] == [place.lstrip(":BCD") for place in export.places]


def test_a_bare_export_under_another_name_names_the_next_step(tmp_path: Path) -> None:
    """A text and a web page called .xls lead to a definition, as any table does."""
    for name in ("tabs.xls", "page.xls"):
        path = tmp_path / name
        path.write_bytes(EXPORTS[name].content)
        with pytest.raises(BadInput) as refused:
            read_campaigns(path)
        assert f"campaign new {path.with_suffix('.yaml')} --from {path}" in str(refused.value.then)
        assert [column for _, column, _ in understood(path).fields] == list(HEADER)
