"""Where everybody stands, and who needs a person."""

import csv
from dataclasses import replace
from io import StringIO

import pytest
from openpyxl import Workbook

from config.errors import BadInput
from data.campaigns.intake import Allowed
from data.decisions import decisions as d
from data.decisions.doubts import Settlement, doubts, settle_all
from data.store.states import Op, State
from tasks.doubt_list import described, how_far, read_filled_in, to_fill_in
from tasks.status import COUNTED, left_over, needs, progress, so_far, status_of
from tests.data.desk import SERVICE, address

ME = d.By("me", "no")


def stands(desk):
    with desk.ledger.reading() as session:
        return status_of(session, "backend")


def test_each_person_is_counted_once(desk):
    who = ("Ada", "Ben", "Cyd", "Dov", "Eve", "Fay", "Gus", "Hal")
    desk.take_in(*who)
    desk.does(Op.CREATE), desk.does(Op.ATTACH)
    desk.does(Op.ADD, "Fay", state=State.REFUSED, why="no such stage")
    desk.does(Op.ADD, "Hal", state=State.UNSURE)
    desk.call(settle_all, [Settlement("again", address("Hal"))], ME)
    desk.does(Op.ADD, *who[:5])
    desk.does(Op.INVITE, "Ada")
    desk.does(Op.INVITE, "Ben", state=State.UNSURE)
    desk.does(Op.INVITE, "Cyd", state=State.REFUSED, why="no")
    desk.call(d.withdraw, [address("Dov")], ME)
    desk.call(lambda s, _: d.block(s, [address("Eve")], ME))
    found = stands(desk)
    assert found["counts"] == {
        "candidates": 8,
        "added": 5,
        "invited": 1,
        "waiting": 2,
        "sending": 0,
        "unsure": 1,
        "refused": 2,
        "withdrawn": 1,
        "held": 1,
    }
    assert (found["project_id"], found["problem_id"]) == (101, 42)
    assert found["project"] == found["problem"] == "done"
    by_name = {each["email1"]: each for each in found["candidates"]}
    ada = by_name["ada@x.org"]
    assert ada["add"] == ada["invite"] == "done"
    assert (ada["candidate_id"], ada["why"]) == (5001, None)
    assert ada["embed_url"] == f"{SERVICE}/embedded/welcome?projectId=101&candidateId=5001"
    assert by_name["eve@x.org"]["why"] == "on the do-not-contact list"
    assert by_name["fay@x.org"]["why"] == "no such stage"
    with desk.ledger.reading() as session:
        typed = [(need.kind, need.type_this) for need in needs(session, "backend")]
        assert [need.kind for need in left_over(session, "backend")] == ["left over"]
    assert typed == [
        ("unsure", "campaign settle backend"),
        ("held", "campaign invite backend eve@x.org --why TEXT"),
        ("refused", "campaign invite backend cyd@x.org --why TEXT"),
        ("refused", "campaign invite backend fay@x.org --why TEXT"),
    ]


@pytest.mark.parametrize("send", [True, False])
def test_adding_and_inviting_progress_apart(desk, send):
    assert progress(desk.ledger, "backend") == {}
    desk.take_in("Ada", "Ben", "Cyd", invites={"send": send}), desk.adds()
    if send:
        desk.does(Op.INVITE, "Ada")
    desk.call(d.withdraw, [address("Cyd")], ME)
    invited = {Op.INVITE: (1, 2)} if send else {}
    assert progress(desk.ledger, "backend") == {Op.ADD: (3, 3)} | invited
    desk.take_in("Cyd", invites={"send": send}, allowed=Allowed(removed=True))
    far = "1 invited, 1 withdrawn, 1 gone from your file" if send else "2 added, 1 withdrawn"
    assert so_far(stands(desk), "invited" if send else "added") == far


@pytest.mark.parametrize("once_more", [False, True])
@pytest.mark.parametrize("was", [State.WAITING, State.DONE, State.REFUSED, State.UNSURE])
def test_who_is_gone_from_the_file_needs_a_person_only_if_they_may_be_invited(desk, was, once_more):
    """Whoever was invited stays invited while one more email waits, and after that."""
    desk.take_in("Ada", "Ben"), desk.adds()
    if was is not State.WAITING:
        desk.does(Op.INVITE, "Ben", state=was, why="it said no")
    if once_more and was in (State.DONE, State.REFUSED):
        desk.call(d.invite, [address("Ben")], ME)
        far = "1 of 2 invited, 1 to get one more email" if was is State.DONE else "0 of 2 invited"
        assert so_far(stands(desk), "invited") == far
    desk.take_in("Ada", ("Ben", "New", "ben@y.org"), allowed=Allowed(removed=True))
    found = stands(desk)
    [ben] = [each for each in found["candidates"] if each["email1"] == address("Ben")]
    word = {State.DONE: "invited", State.UNSURE: "unsure"}.get(was, "gone")
    assert ben["stands"] == word
    assert (ben["invite"] == "done", found["one_more_email"]) == (word == "invited", 0)
    counts = found["counts"]
    assert counts.get("gone", 0) == (word == "gone")
    assert sum(counts.get(each, 0) for each in COUNTED) == counts["candidates"] == 3


def test_what_a_run_says_last_is_everybody(desk):
    desk.take_in("Ada", "Ben", "Cyd", "Dov"), desk.adds()
    desk.does(Op.INVITE, "Ada", "Dov")
    desk.call(d.withdraw, [address("Cyd")], ME)
    desk.take_in("Ada", "Cyd", "Dov", allowed=Allowed(removed=True))
    assert so_far(stands(desk), "invited") == "2 invited, 1 withdrawn, 1 gone from your file"
    desk.take_in("Ada", "Cyd", "Dov", "Eve")
    found = stands(desk)
    assert so_far(found, "invited") == "2 of 5 invited, 1 withdrawn, 1 gone from your file"
    with desk.ledger.reading() as session:
        assert not list(needs(session, "backend"))


def test_whoever_is_kept_back_by_a_refused_project_goes_on_by_a_run(desk):
    desk.take_in("Ada"), desk.does(Op.CREATE, state=State.REFUSED, why="no right")
    with desk.ledger.reading() as session:
        assert [need.type_this[:13] for need in needs(session, "backend")] == ["campaign run "]


def filled_in(table, text, how, *verdicts):
    """Save a table of doubts with these verdicts, as a spreadsheet program does it."""
    rows = list(csv.reader(text.splitlines()))
    for row, verdict in zip(rows[1:], verdicts, strict=True):
        row[-2:] = verdict
    if how == "xlsx":
        book = Workbook()
        for row in rows:
            book.active.append([int(cell) if cell.isdecimal() else cell for cell in row])
        book.save(table)
        return
    delimiter, encoding = how.split()
    content = StringIO()
    csv.writer(content, delimiter=delimiter).writerows(rows)
    table.write_bytes(content.getvalue().encode(encoding))


@pytest.mark.parametrize("how", ["xlsx", ", utf-8-sig", "; utf-8", "; utf-16"])
def test_doubts_go_out_and_come_back_as_a_table(desk, tmp_path, how):
    desk.take_in(("=Ada", "Müller", "ada@x.org"), "Ben", "Cyd")
    desk.adds()
    desk.does(Op.INVITE, state=State.UNSURE)
    found = desk.call(doubts)
    text = to_fill_in(found).decode("utf-8-sig")
    assert "'=Ada" in text
    table = tmp_path / "doubts"
    filled_in(table, text, how, ("Sent", ""), ("", ""), ("again", " 7 "))
    verdicts = read_filled_in(table)
    assert [(v.word, v.email, v.op, v.value, v.part_id) for v in verdicts] == [
        ("sent", "ada@x.org", Op.INVITE, None, found[0].part_id),
        ("again", "cyd@x.org", Op.INVITE, 7, found[2].part_id),
    ]
    filled_in(table, text, how, ("snet", ""), ("", ""), ("again", "#N/A"))
    with pytest.raises(BadInput) as error:
        read_filled_in(table)
    places = [str(each.place).removeprefix(str(table)) for each in error.value.mistakes]
    assert places == ([", Sheet!J2", ", Sheet!K4"] if how == "xlsx" else [":2", ":4"])
    assert error.value.mistakes[0].message == 'found "snet", wanted sent, again or withdraw'


def test_a_doubt_about_the_project_comes_back_as_a_table(desk, tmp_path):
    desk.take_in("Ada"), desk.does(Op.CREATE, state=State.UNSURE)
    text = to_fill_in(desk.call(doubts)).decode("utf-8-sig")
    filled_in(tmp_path / "doubts", text, ", utf-8", ("sent", "101"))
    (verdict,) = read_filled_in(tmp_path / "doubts")
    assert (verdict.op, verdict.value) == (Op.CREATE, 101)


def test_another_table_is_no_table_of_doubts(tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("first_name,last_name,email1\nAda,L,ada@x.org\n")
    with pytest.raises(BadInput, match=r"people\.csv"):
        read_filled_in(table)


@pytest.mark.parametrize(
    ("status_", "phase", "words"),
    [
        (503, 3, "the service answered 503"),
        (None, 2, "it was sent, and no answer came"),
        (None, 1, "sending it began, and no answer came"),
        (None, None, "the run ended before an answer came"),
    ],
)
def test_how_far_it_got(desk, status_, phase, words):
    desk.take_in("Ada")
    desk.does(Op.CREATE, state=State.UNSURE)
    [doubt] = desk.call(doubts)
    seen = replace(doubt, status=status_, phase=phase, answer=None)
    assert how_far(seen) == words
    assert described(seen).startswith(f"create the project: {words} (sent ")
