"""The house is as its map says: rooms without circles, functions where they are named."""

import ast
import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.project import rooms
from tests.support.sources import parsed

pytestmark = pytest.mark.xdist_group("sources")  # parsed by one worker
ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(\w+)`,\s+\[[^]]+]\(\.\./([\w/]+\.py)\)")
MOST = 16  # modules of a room: more than a person keeps in mind
SCREEN = 50  # lines
VAGUE = {"one", "found", "told", "said", "known", "some"}


def test_no_room_needs_itself() -> None:
    """Whoever reads from the bottom up meets nothing that is explained further up."""
    assert rooms.in_circles() == set()


def test_a_circle_is_noticed() -> None:
    """The search for them finds one."""
    arrows = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert rooms.circles(arrows) == {"a", "b", "c"}


def test_the_picture_is_the_one_that_the_imports_draw() -> None:
    """A new module, or a new import between rooms, is in it."""
    assert rooms.drawn() == rooms.picture(), "make rooms  draws it anew"


def test_no_room_is_crowded() -> None:
    """A room that outgrows this is two."""
    assert {room: len(them) for room, them in rooms.modules().items() if len(them) > MOST} == {}


def test_no_room_of_the_tests_is_crowded() -> None:
    """They mirror the rooms of the program, and are read as often."""
    modules = Counter(file.parent for file in (ROOT / "tests").rglob("*.py"))
    modules.subtract(file.parent for file in (ROOT / "tests").rglob("__init__.py"))
    assert modules[ROOT / "tests" / "project"]
    assert {str(room): count for room, count in modules.items() if count > MOST} == {}


def test_each_room_says_what_it_is_for() -> None:
    """In the first lines of its `__init__.py`, and then what it provides."""
    helpers = {file.parent for file in (ROOT / "tests").rglob("__init__.py")}
    assert ROOT / "tests" / "support" in helpers
    for room in {ROOT / room.replace(".", "/") for room in rooms.modules()} | helpers:
        text = ast.get_docstring(parsed(room / "__init__.py"))
        assert text and len(text.splitlines()) > 1, room


def test_variables_have_names_of_the_field() -> None:
    """These say nothing of what they hold, and nobody can search for them."""
    assert named(VAGUE, "def f(one, *, known=1):\n  for told in one: pass") == [
        *("known", "one", "told")
    ]
    assert named(VAGUE, "class Row:\n  told: str") == []  # may be a column, or a key of JSON
    for room in rooms.PACKAGES:
        for file in (ROOT / room).rglob("*.py"):
            vague = named(VAGUE, file.read_text("utf-8"))
            assert vague == [], f"{file}: call each after what it holds"


def test_functions_fit_a_screen() -> None:
    """What a command takes is its signature, and may be long; ruff counts parameters."""
    for room in rooms.PACKAGES:
        for file in (ROOT / room).rglob("*.py"):
            if file.is_relative_to(ROOT / "data" / "migrations"):
                continue
            of_commands = file.is_relative_to(ROOT / "flows" / "cli")
            for node in ast.walk(parsed(file)):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    first = node.body[0].lineno if of_commands else node.lineno
                    assert (node.end_lineno or 0) - first < SCREEN, f"{file}: {node.name}"


def named(names: set[str], text: str) -> list[str]:
    """Which of the names are variables or parameters in a text; fields of classes are not."""
    tree = ast.parse(text)
    fields = {
        statement.target
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    stored = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in fields
    }
    return sorted(
        (stored | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}) & names
    )


def test_the_way_of_a_candidate_is_as_it_is_told() -> None:
    """Each function that the map names is where it says, and there are no more than thirty."""
    named = NAMED.findall(rooms.PAGE.read_text("utf-8"))
    assert 25 <= len(named) <= 30
    for name, file in named:
        tree = parsed(ROOT / file)
        kinds = ast.FunctionDef | ast.AsyncFunctionDef
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, kinds)}, file


def test_every_question_of_a_stranger_has_its_answer() -> None:
    """Sixty of the kind "where is it decided", asked of readers who see the tree alone."""
    with (ROOT / "tests" / "project" / "where_is_it.csv").open(newline="") as asked:
        questions = list(csv.DictReader(asked))
    assert len(questions) == 60
    for row in questions:
        tree = parsed(ROOT / row["file"])
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        names = {node.name for node in ast.walk(tree) if isinstance(node, kinds)}
        assert row["name"] in names, row["question"]


def test_only_one_room_writes_that_something_is_being_sent() -> None:
    """Claims are made where their rules are: a state SENDING that is handed to a statement."""
    writers = set()
    for package in ("config", "data", "tasks", "flows"):
        for file in (ROOT / package).rglob("*.py"):
            for node in ast.walk(parsed(file)):
                values: list[ast.expr | None] = []
                if isinstance(node, ast.Call):
                    values = [given.value for given in node.keywords]
                elif isinstance(node, ast.Dict):
                    values = list(node.values)
                if any(isinstance(it, ast.Attribute) and it.attr == "SENDING" for it in values):
                    writers.add(file.parent.relative_to(ROOT).as_posix())
    assert writers == {"data/sending"}
