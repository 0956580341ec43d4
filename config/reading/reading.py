"""Read the campaigns that a file describes, whatever kind of file it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from config.definition.building import build
from config.definition.fields import PEOPLE_TWICE, PEOPLE_WANTED, WHERE_OF_A_FILE
from config.definition.model import Definition
from config.errors import BadInput
from config.mistakes import Mistake, Place
from config.reading.sources import (
    YAML,
    Sources,
    check_sheet,
    sources_of,
    suffix_of,
)
from config.reading.yaml_file import YamlDocument, read_yaml
from config.tables.written import Location, People, Row, Written


@dataclass(frozen=True, slots=True)
class Reading:
    """The campaigns of a file, remarks about it, and the digest of the bytes it came from.

    `warnings` are what a person should look at before anybody is invited.
    """

    definitions: tuple[Definition, ...]
    notes: tuple[str, ...]
    warnings: tuple[Mistake, ...]
    digest: str

    @property
    def doubtful(self) -> frozenset[Place]:
        """The places of addresses that a person should look at."""
        return frozenset(each.place for each in self.warnings if each.field == "email1")


def read_campaigns(path: Path, campaign: Path | None = None, sheet: str | None = None) -> Reading:
    """Read and check what `path` describes; `campaign` is the definition for a bare table, `sheet`
    the sheet with the people, whatever the definition says.

    Raises BadInput with every mistake at once.
    """
    return judged(sources_of(path, campaign, sheet))


@lru_cache(maxsize=1)
def judged(sources: Sources) -> Reading:
    """Check the bytes that were read; the last result is remembered. Raises BadInput."""
    if sources.error is not None:
        raise sources.error
    if suffix_of(sources.definition) in YAML:
        campaigns, notes = _from_yaml(sources)
    else:
        campaigns, notes = _from_workbook(sources)
    definitions: list[Definition] = []
    problems: list[Mistake] = []
    warnings: list[Mistake] = []
    for written in campaigns:
        if (definition := build(written, problems, warnings)) is not None:
            definitions.append(definition)
        notes += written.people.notes if written.people else ()
    if problems:
        raise BadInput(_in_reading_order(problems), _in_reading_order(warnings))
    return Reading(
        tuple(definitions),
        tuple(dict.fromkeys(notes)),
        tuple(_in_reading_order(warnings)),
        sources.digest,
    )


def _in_reading_order(problems: list[Mistake]) -> list[Mistake]:
    """Sort the mistakes in the order in which a file or sheet is read, each only once."""
    wholes = dict.fromkeys((problem.place.file, problem.place.sheet) for problem in problems)
    at = {whole: number for number, whole in enumerate(wholes)}

    def order(problem: Mistake) -> tuple[int, tuple[int, int, str]]:
        place = problem.place
        return at[place.file, place.sheet], place.order

    return sorted(dict.fromkeys(problems), key=order)


def _from_workbook(sources: Sources) -> tuple[list[Written], tuple[str, ...]]:
    # Imported here: a definition in YAML needs no workbooks.
    from config.reading.campaign_sheets import SHEETS, campaign_alone, campaigns_in  # noqa: PLC0415
    from config.reading.people_file import people_in  # noqa: PLC0415
    from config.tables.workbook import read_book  # noqa: PLC0415

    file = str(sources.definition)
    book = read_book(sources.data, file, SHEETS)
    if sources.people is None:
        campaigns = campaigns_in(book, file)
        check_sheet(sources)
        return campaigns, ()
    check_sheet(sources)
    campaign = campaign_alone(book, file)
    notes = _instead(file, sources.people.path) if "candidates" in book.sheets else ()
    try:
        return [campaign.written(people_in(sources.people, campaign.fields, sources.sheet))], notes
    except BadInput as error:
        return [campaign.written(None, error.problems)], notes


def _from_yaml(sources: Sources) -> tuple[list[Written], tuple[str, ...]]:
    check_sheet(sources)
    document = read_yaml(sources.data, str(sources.definition))
    fields, people = _with_own_people(document)
    problems = list(document.problems)
    notes: tuple[str, ...] = ()
    if sources.people is not None:
        # Imported here: a definition that lists its people needs no tables.
        from config.reading.people_file import people_in  # noqa: PLC0415

        if sources.given:
            # The command named a table instead of the people in the definition.
            named = people is not None or _names(fields, "file", "people")
            notes = _instead(sources.definition, sources.people.path) if named else ()
        elif people is not None:
            place = document.name(("candidates", "people"))
            problems.append(Mistake(place, "candidates.people", message=PEOPLE_TWICE))
        people = None
        try:
            people = people_in(sources.people, fields, sources.sheet)
        except BadInput as error:
            problems.extend(error.problems)
    elif people is None:
        problems.extend(_nobody_named(document))
    elif _names(fields, "where"):
        place = document.name(("candidates", "where"))
        problems.append(Mistake(place, "candidates.where", message=WHERE_OF_A_FILE))
    return [Written(fields, document, people, tuple(problems))], notes


def _names(fields: Mapping[str, Any], *names: str) -> bool:
    """Whether `candidates` is a mapping with one of these fields."""
    candidates = fields.get("candidates")
    return isinstance(candidates, Mapping) and not candidates.keys().isdisjoint(names)


def _with_own_people(document: YamlDocument) -> tuple[dict[str, Any], People | None]:
    """Take the list of people out of the fields: `candidates` itself, or `people` in it."""
    fields = dict(document.fields)
    candidates = fields.get("candidates")
    if isinstance(candidates, list):
        return fields, _listed(document, fields.pop("candidates"), ("candidates",))
    if isinstance(candidates, Mapping) and isinstance(candidates.get("people"), list):
        others = {name: value for name, value in candidates.items() if name != "people"}
        fields["candidates"] = others
        return fields, _listed(document, candidates["people"], ("candidates", "people"))
    return fields, None


def _listed(document: YamlDocument, people: list[Any], location: Location) -> People:
    """The people whom a definition lists itself, at `location`."""

    def place(number: int, field: str | None) -> Place:
        return document.value((*location, number, *([field] if field else ())))

    return People([Row(number, fields) for number, fields in enumerate(people)], place)


def _nobody_named(document: YamlDocument) -> list[Mistake]:
    """Report that a definition names nobody, unless its field has another mistake."""
    place = document.value(("candidates",))
    candidates = document.fields.get("candidates")
    if candidates is None:
        return [Mistake(place, "candidates", "nothing", PEOPLE_WANTED)]
    if isinstance(candidates, Mapping) and not _names(document.fields, "file", "people"):
        return [Mistake(place, "candidates.file", "nothing", PEOPLE_WANTED)]
    return []


def _instead(definition: Path | str, people: Path) -> tuple[str, ...]:
    return (f"the candidates in {definition} are ignored; {people} is used",)
