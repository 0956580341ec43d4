"""The house is as its map says: rooms without circles, functions where they are named."""

import ast
import csv
import re
from pathlib import Path

from tests.project import rooms

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(\w+)`,\s+\[[^]]+]\(\.\./([\w/]+\.py)\)")
MOST = 16  # modules of a room: more than a person keeps in mind


def test_no_room_needs_itself() -> None:
    """Whoever reads from the bottom up meets nothing that is explained further up."""
    assert rooms.in_circles() == set()


def test_a_circle_is_noticed() -> None:
    """The search for them finds one."""
    arrows = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert rooms.circles(arrows) == {"a", "b", "c"}


def test_the_picture_is_the_one_that_the_imports_draw() -> None:
    """`make rooms` draws it anew."""
    assert rooms.drawn() == rooms.picture()


def test_no_room_is_crowded() -> None:
    """A room that outgrows this is two."""
    assert {room: len(them) for room, them in rooms.modules().items() if len(them) > MOST} == {}


def test_each_room_says_what_it_is_for() -> None:
    """In the first lines of its `__init__.py`."""
    for room in rooms.modules():
        text = (ROOT / room.replace(".", "/") / "__init__.py").read_text("utf-8")
        assert ast.get_docstring(ast.parse(text)), room


def test_the_way_of_a_candidate_is_as_it_is_told() -> None:
    """Each function that the map names is where it says, and there are no more than thirty."""
    named = NAMED.findall(rooms.PAGE.read_text("utf-8"))
    assert 25 <= len(named) <= 30
    for name, file in named:
        tree = ast.parse((ROOT / file).read_text("utf-8"))
        kinds = ast.FunctionDef | ast.AsyncFunctionDef
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, kinds)}, file


def test_every_question_of_a_stranger_has_its_answer() -> None:
    """Sixty of the kind "where is it decided", asked of readers who see the tree alone."""
    with (ROOT / "tests" / "project" / "where_is_it.csv").open(newline="") as asked:
        questions = list(csv.DictReader(asked))
    assert len(questions) == 60
    for row in questions:
        tree = ast.parse((ROOT / row["file"]).read_text("utf-8"))
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        names = {node.name for node in ast.walk(tree) if isinstance(node, kinds)}
        assert row["name"] in names, row["question"]


def test_only_one_room_writes_that_something_is_being_sent() -> None:
    """Claims are made where their rules are: a state SENDING that is handed to a statement."""
    writers = set()
    for package in ("config", "data", "tasks", "flows"):
        for file in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                values: list[ast.expr | None] = []
                if isinstance(node, ast.Call):
                    values = [given.value for given in node.keywords]
                elif isinstance(node, ast.Dict):
                    values = list(node.values)
                if any(isinstance(it, ast.Attribute) and it.attr == "SENDING" for it in values):
                    writers.add(file.parent.relative_to(ROOT).as_posix())
    assert writers == {"data/sending"}
