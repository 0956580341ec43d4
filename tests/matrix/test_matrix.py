"""What the matrix itself must never overlook: a changed record, a control that shows nothing."""

import json
import os
import sys
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tests.matrix import page
from tests.matrix.__main__ import kept, missing, wanted
from tests.matrix.contenders import BY_NAME, CONTENDERS, Contender
from tests.matrix.deaths import Lane, Misplaced, NotReached
from tests.matrix.judging import (
    PEOPLE,
    Cell,
    Death,
    Outcome,
    judge,
    outcome,
    surprises,
    void,
    wilson,
)
from tests.matrix.moments import Moment
from tests.matrix.predictions import PREDICTED, PREDICTED_OTHERS
from tests.matrix.service import Changed, Record, hash_of, verified

CONTROLS = {each.name for each in CONTENDERS if each.control}


@pytest.fixture
def written(tmp_path: Path) -> Record:
    record = Record(tmp_path / "record.jsonl")
    for person in ("ada", "bob", "cy"):
        record.add("bare-done-1", "invited", person)
    return record


def test_a_record_is_read_as_it_was_written(written: Record, tmp_path: Path) -> None:
    lines = verified(tmp_path / "record.jsonl", {written.head})
    assert [line["person"] for line in lines] == ["ada", "bob", "cy"]


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("change", ["another person", "gone", "twice", "not a line"])
def test_any_change_of_the_record_is_seen(
    written: Record, tmp_path: Path, number: int, change: str
) -> None:
    path = tmp_path / "record.jsonl"
    lines = path.read_text().splitlines()
    match change:
        case "another person":
            lines[number] = json.dumps({**json.loads(lines[number]), "person": "eve"})
        case "gone":
            del lines[number]
        case "twice":
            lines.insert(number, lines[number])
        case "not a line":
            lines[number] = lines[number][:-2]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(Changed):
        verified(path, {written.head})


def test_what_was_written_after_the_last_death_is_no_change(
    written: Record, tmp_path: Path
) -> None:
    """Whoever stops the matrix may stop it within a death."""
    head = written.head
    written.add("bare-done-2", "invited", "ada")
    assert len(verified(tmp_path / "record.jsonl", {head})) == 4


def test_a_record_written_anew_is_seen(written: Record, tmp_path: Path) -> None:
    """Its chain holds, but no line of it is the one that the service told of."""
    forged = Record(tmp_path / "forged.jsonl")
    forged.add("bare-done-1", "invited", "ada")
    verified(tmp_path / "forged.jsonl", {forged.head})
    with pytest.raises(Changed):
        verified(tmp_path / "forged.jsonl", {written.head})
    assert hash_of({"n": 1}) != hash_of({"n": 2})


@pytest.mark.parametrize(
    ("invitations", "shown", "became"),
    [
        (0, False, Outcome.LOST),
        (0, True, Outcome.UNSURE),
        (1, False, Outcome.ONCE),
        (1, True, Outcome.UNSURE),
        (2, False, Outcome.TWICE),
        (2, True, Outcome.TWICE),
        (3, True, Outcome.TWICE),
    ],
)
def test_what_became_of_a_person(invitations: int, shown: bool, became: Outcome) -> None:
    """To show a doubt excuses no second invitation."""
    assert outcome(invitations, shown=shown) is became


def died(number: int, *, record: str = "r", failed: str = "") -> Death:
    case = f"csv-done-{number}.0"
    return Death(case, "csv", Moment.DONE, number, record=record, failed=failed)


def test_the_others_are_judged_apart_and_each_case_by_its_own_lines() -> None:
    ada, bob, cy = PEOPLE
    sent = [(1, ada), (1, bob), (1, bob), (1, cy), (2, ada), (2, ada), (2, bob)]
    lines = [{"case": f"csv-done-{n}.0", "person": person} for n, person in sent]
    cell = judge([died(1), died(2)], {"r": lines})["csv", Moment.DONE]
    assert cell.outcomes == {Outcome.TWICE: 1, Outcome.ONCE: 1}
    assert cell.others == {Outcome.ONCE: 2, Outcome.TWICE: 1, Outcome.LOST: 1}
    assert (cell.deaths, cell.worst_of_others) == (2, Outcome.TWICE)


def test_a_death_is_judged_by_the_record_of_its_own_part() -> None:
    """A part that was stopped within a death has sent; the same death is then made anew."""
    line = {"case": "csv-done-1.0", "person": PEOPLE[1]}
    cell = judge([died(1, record="b")], {"a": [line], "b": [line]})["csv", Moment.DONE]
    assert cell.outcomes == {Outcome.ONCE: 1}


def test_a_death_that_cannot_be_judged_is_told_and_counts_for_nothing() -> None:
    cells = judge([died(1), died(2, failed="it ended with [1, 1]")], {"r": []})
    assert (cells["csv", Moment.DONE].deaths, cells["csv", Moment.DONE].failed) == (1, 1)
    assert "csv, done: 1 deaths cannot be judged" in surprises(cells, PREDICTED, PREDICTED_OTHERS)
    assert "1 not judged" in page.page(page.Report(cells))


def test_what_was_done_is_not_done_again(tmp_path: Path) -> None:
    """Whichever part is asked for; the controls are in each."""
    file = tmp_path / "deaths.jsonl"
    file.write_text("".join(json.dumps(asdict(died(n))) + "\n" for n in (1, 3)))
    assert kept(file) == [died(1), died(3)]
    jobs = missing(kept(file), wanted(["csv"], [Moment.SENT, Moment.DONE], 3))
    number = Counter((contender.name, moment) for contender, moment, _ in jobs)
    assert number["csv", Moment.DONE] == 1
    assert number["csv", Moment.SENT] == 3
    assert {number[name, moment] for name in CONTROLS for moment in Moment} == {3}
    assert number.total() == 1 + 3 + 3 * len(CONTROLS) * len(Moment)


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [  # Newcombe 1998, table I, method 3; and the ends
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (100, 100, 0.9630, 1.0),
        (0, 1, 0.0, 0.7935),
    ],
)
def test_wilsons_interval(hits: int, of: int, low: float, high: float) -> None:
    assert wilson(hits, of) == pytest.approx((low, high), abs=0.0001)


def as_predicted(deaths: int = 2) -> dict[tuple[str, Moment], Cell]:
    """Cells in which everything came as predicted."""
    cells = {}
    for key, foreseen in PREDICTED.items():
        cells[key] = Cell()
        cells[key].outcomes[foreseen] = deaths
        cells[key].others[PREDICTED_OTHERS[key]] = deaths
    return cells


def test_what_comes_as_predicted_is_neither_void_nor_surprising() -> None:
    cells = as_predicted()
    assert surprises(cells, PREDICTED, PREDICTED_OTHERS) == []
    assert void(cells, PREDICTED, CONTROLS) == []


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        *(("bare", moment) for moment in (Moment.DONE, Moment.ANSWERED, Moment.RECORDED)),
        *(("csv-first", moment) for moment in (Moment.CLAIMED, Moment.SENT)),
    ],
)
@pytest.mark.parametrize("how", ["once too often right", "not judged", "not tried"])
def test_a_control_that_shows_nothing_voids_the_run(name: str, moment: Moment, how: str) -> None:
    cells = as_predicted()
    if how == "not tried":
        del cells[name, moment]
    elif how == "not judged":
        cells[name, moment].failed += 1
    else:
        cells[name, moment].outcomes[Outcome.ONCE] += 1
    assert len(void(cells, PREDICTED, CONTROLS)) == 1


def test_a_wrong_prediction_is_told_also_of_the_others() -> None:
    cells = as_predicted()
    cells["ours", Moment.DONE].outcomes[Outcome.TWICE] += 1
    cells["csv", Moment.SENT].others[Outcome.LOST] += 1
    lines = surprises(cells, PREDICTED, PREDICTED_OTHERS)
    assert [line.split(":")[0] for line in lines] == ["csv, sent, the others", "ours, done"]
    assert void(cells, PREDICTED, CONTROLS) == []


def test_everything_that_runs_was_predicted() -> None:
    assert {name for name, _ in PREDICTED} == {*BY_NAME}
    assert PREDICTED.keys() == PREDICTED_OTHERS.keys()
    assert len(PREDICTED) == len(BY_NAME) * len(Moment)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the matrix runs on Linux")
def test_programs_die_where_they_are_asked_to(tmp_path: Path) -> None:
    """Real deaths of real loops, with what the service's own record says of them."""
    asked = [("bare", Moment.DONE), ("csv-first", Moment.SENT), ("csv", Moment.CLAIMED)]
    record = tmp_path / "record.jsonl"
    with Lane(tmp_path / "lane", record, {}) as lane:
        deaths = [lane.die(BY_NAME[name], moment, 1) for name, moment in asked]
    lines = verified(record, {death.head for death in deaths})
    cells = judge(deaths, {record.name: lines})
    assert [*cells] == asked
    assert surprises(cells, PREDICTED, PREDICTED_OTHERS) == []


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the matrix runs on Linux")
def test_any_command_can_be_a_contender(tmp_path: Path) -> None:
    """It is begun in its folder; the last words of one that ends too early are told."""
    early = Contender("none", "", ("sh", "-c", "basename $PWD; cat people.txt >&2; exit 3"))
    with (
        Lane(tmp_path / "lane", tmp_path / "record.jsonl", {}) as lane,
        pytest.raises(NotReached) as told,
    ):
        lane.die(early, Moment.DONE, 1)
    assert "\nnone-done-1.0\n" in str(told.value)
    assert f"{PEOPLE[0]} http://127.0.0.1:" in str(told.value)


PROGRAM = """
import json, os, sys
from tests.matrix.moments import Moment, reached
os.environ.pop("LC_CTYPE", None)  # Python's own, where nobody chose a language
stands = [os.getcwd(), sys.argv, sys.path[0], __name__, dict(os.environ), "colorsys" in sys.modules]
with open(sys.argv[1], "a") as file:
    print(json.dumps([*stands, os.getsid(0) == os.getpid()]), file=file)
if not os.path.exists("died"):
    open("died", "w")
    reached(Moment.CLAIMED, "person2@example.com")
raise SystemExit(3)
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the matrix runs on Linux")
def test_a_forked_program_is_as_one_that_was_typed(tmp_path: Path) -> None:
    """It has its words, folder and environment, leads a group, dies by a signal, ends by a code."""
    program, stood = tmp_path / "program.py", tmp_path / "stood"
    program.write_text(PROGRAM)
    words = (sys.executable, str(program), str(stood))
    with Lane(tmp_path / "lane", tmp_path / "record.jsonl", {}) as lane:
        for name, libraries in (("typed", ()), ("forked", ("colorsys",))):
            once_more = Contender(name, "", words, frozenset({3}), libraries=libraries)
            lane.die(once_more, Moment.CLAIMED, 1)
            with pytest.raises(Misplaced, match=r"ended with \[3, 3, 3, 3, 3\]"):
                lane.die(replace(once_more, exits=frozenset({0})), Moment.CLAIMED, 2)
    typed, forked = [], []
    for *stands, warm, leads in map(json.loads, stood.read_text().splitlines()):
        assert leads
        line = json.dumps(stands).replace("forked", "typed")
        (forked if warm else typed).append(line)
    assert typed == forked
    assert len(typed) == 2 + 6


def test_the_page_has_every_cell_and_the_picture_a_bar_for_each() -> None:
    report = page.Report(as_predicted(100), days=["2026-01-01", "2026-01-02", "2026-01-09"])
    text, drawn = page.page(report), page.picture(report)
    assert text.count("100 of 100 twice (96.3–100 %)") == sum(
        o is Outcome.TWICE for o in PREDICTED.values()
    )
    assert drawn.count("<title>100 of 100") == len(PREDICTED)
    assert "2026-01-01 to 2026-01-09" in text
    assert "as [predicted]" in text
    assert page.NOT_YET not in text + drawn
    assert "this is a part" not in text


def test_the_page_says_plainly_what_is_not_known() -> None:
    cells = as_predicted()
    del cells["ours", Moment.DONE], cells["dbos", Moment.SENT]
    report = page.Report(cells, void=["bare, done: twice in 0 of 0 deaths"])
    assert "6,000 in all: this is a part" in page.page(report)
    assert "2 cells were *not run yet*" in page.page(report)
    assert page.picture(report).count(page.NOT_YET) == 2
    assert "**All of it is void:**" in page.page(report)
    assert "as [predicted]" not in page.page(report)
