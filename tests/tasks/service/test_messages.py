"""Requests as the interface spells them; answers read without guessing."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.store.states import Operation
from tasks.service.added_ids import NO_ID, Matched, match_answer, read_added
from tasks.service.messages import (
    add_candidates,
    attach_problem,
    create_project,
    id_elsewhere,
    invite,
    read_project_id,
    service_date,
)
from tasks.service.problem import read_problems

ADA = {
    "first_name": "Ada",
    "last_name": "Šimková",
    "email1": "Ada@Example.com",
    "source": "",
    "notes": "met in Łódź",
    "stage_id": 1,
}


def test_create_project_sends_the_five_strings() -> None:
    """Interface 4.3."""
    request = create_project("Backend", "Take-home", "open", "Dec 1, 2026 9:00 am", "")
    assert (request.operation, request.path) == (Operation.CREATE, "/api/projects")
    assert json.loads(request.body or b"") == {
        "name": "Backend",
        "description": "Take-home",
        "state": "open",
        "starttime": "Dec 1, 2026 9:00 am",
        "endtime": "",
    }


def test_attach_problem_sends_problemid() -> None:
    """Interface 4.4: the field is spelled problemid."""
    request = attach_problem(101, 42)
    assert (request.operation, request.path) == (Operation.ATTACH, "/api/projects/101/problems")
    assert json.loads(request.body or b"") == {"problemid": 42}


def test_add_candidates_sends_an_array_of_exactly_six_fields() -> None:
    """Interface 4.5: nothing else that a row may carry leaves, and text is UTF-8."""
    more: Any = {**ADA, "row": 7, "candidate_id": 3}
    request = add_candidates(101, [more, ADA])
    assert request.operation is Operation.ADD
    assert request.path == "/api/projects/101/candidates"
    assert json.loads(request.body or b"") == [ADA, ADA]
    assert "Šimková".encode() in (request.body or b"")


def test_invite_has_no_body_at_all() -> None:
    """Interface 4.6."""
    request = invite(101, 5001)
    assert (request.operation, request.body) == (Operation.INVITE, None)
    assert request.path == "/api/projects/101/candidates/5001/invite"


DATES = [
    (datetime(2026, 12, 1, 9, 0, tzinfo=UTC), "Dec 1, 2026 9:00 am"),
    (datetime(2026, 12, 14, 18, 0, tzinfo=UTC), "Dec 14, 2026 6:00 pm"),
    (datetime(2027, 1, 31, 0, 5, tzinfo=UTC), "Jan 31, 2027 12:05 am"),
    (datetime(2027, 5, 9, 12, 30, tzinfo=UTC), "May 9, 2027 12:30 pm"),
    (datetime(2027, 9, 9, 11, 59, 59, tzinfo=UTC), "Sep 9, 2027 11:59 am"),
    (None, ""),
]


@pytest.mark.parametrize(("when", "written"), DATES)
def test_dates_are_written_as_the_service_does(when: datetime | None, written: str) -> None:
    """Interface 2: <Mon> <D>, <YYYY> <h:mm> <am|pm>."""
    assert service_date(when) == written


class FrenchTime(datetime):
    """A time on a machine whose locale is French."""

    def strftime(self, form: str) -> str:
        return "déc."


def test_dates_are_the_same_in_any_locale() -> None:
    """The names of months and halves of the day come from the interface, not from the machine."""
    assert service_date(FrenchTime(2026, 12, 1, 9, 0, tzinfo=UTC)) == "Dec 1, 2026 9:00 am"


MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def test_every_month_has_its_english_name() -> None:
    """Twelve months, in order."""
    written = [
        service_date(datetime(2026, month, 2, tzinfo=UTC)).split(" ")[0] for month in range(1, 13)
    ]
    assert written == list(MONTHS)


PROJECT_IDS = [
    (b'{"id": 101}', 101),
    (b'\xef\xbb\xbf{"id": 101, "unknown": [1]}', 101),
    (b'{"id": 9007199254740993}', 9007199254740993),
    (b'{"id": 9223372036854775808}', None),
    (b'{"id": 0}', None),
    (b'{"id": -1}', None),
    (b'{"id": true}', None),
    (b'{"id": "101"}', 101),
    (b'{"id": "0101"}', None),
    (b'{"id": "+101"}', None),
    (b'{"id": " 101"}', None),
    (b'{"id": "0"}', None),
    (b'{"id": "9223372036854775807"}', 9223372036854775807),
    (b'{"id": "9223372036854775808"}', None),
    ('{"id": "\u0661\u0660\u0661"}'.encode(), None),
    (b'{"id": ""}', None),
    (b'{"id": "abc"}', None),
    (b'{"id": 101.0}', None),
    (b'{"id": null}', None),
    (b'{"id": ' + b"9" * 5000 + b"}", None),
    (b'[{"id": 101}]', None),
    (b"101", None),
    (b"None", None),
    (b"", None),
    (b"\xff\xfe\x00", None),
    (b"[" * 200_000, None),
    (None, None),
]


@pytest.mark.parametrize(("body", "found"), PROJECT_IDS, ids=range(len(PROJECT_IDS)))
def test_a_project_id_is_an_integer_or_nothing(body: bytes | None, found: int | None) -> None:
    """Integers, or their decimal text; not booleans, not strings of another shape."""
    assert read_project_id(body) == found


def entry(email: Any, candidate_id: Any, **more: Any) -> dict[str, Any]:
    return {"email1": email, "candidate_id": candidate_id, **more}


A, B, C = "a@x.org", "b@x.org", "c@x.org"
SENT = dict.fromkeys((A, B, C), ("Ada", "Lovelace"))
MATCHES: list[tuple[str, list[Any], dict[str, int], int]] = [
    ("as sent", [entry(A, 1), entry(B, 2), entry(C, 3)], {A: 1, B: 2, C: 3}, 0),
    ("reordered", [entry(C, 3), entry(A, 1), entry(B, 2)], {A: 1, B: 2, C: 3}, 0),
    ("other case", [entry(" A@X.ORG", 1), entry(B, 2), entry(C, 3)], {A: 1, B: 2, C: 3}, 0),
    ("large id", [entry(A, 2**53 + 1)], {A: 2**53 + 1}, 0),
    ("extra keys", [entry(A, 1, candidate={"id": 9}, id=8)], {A: 1}, 0),
    ("short", [entry(B, 2)], {B: 2}, 0),
    ("doubled alike", [entry(A, 1), entry(A, 1)], {A: 1}, 0),
    ("two ids for one", [entry(A, 1), entry(B, 2), entry(A, 3)], {B: 2}, 0),
    ("one id for two", [entry(A, 1), entry(B, 1), entry(C, 3)], {C: 3}, 0),
    ("one id for one and a stranger", [entry(A, 1), entry("z@x.org", 1), entry(B, 2)], {B: 2}, 1),
    (
        "two ids, one of them shared",
        [entry(A, 1), entry(A, 2), entry(B, 2), entry(C, 3)],
        {C: 3},
        0,
    ),
    ("a stranger", [entry(A, 1), entry("z@x.org", 9)], {A: 1}, 1),
    ("a stranger without id", [entry(A, 1), entry("z@x.org", None)], {A: 1}, 1),
    ("no email", [entry(A, 1), {"candidate_id": 2}, entry(None, 3)], {A: 1}, 0),
    ("not objects", [entry(A, 1), None, 7, "x", [B, 2]], {A: 1}, 0),
    ("id as text", [entry(A, "1"), entry(B, 2)], {A: 1, B: 2}, 0),
    ("one id for two, once as text", [entry(A, "1"), entry(B, 1), entry(C, 3)], {C: 3}, 0),
    ("id as truth", [entry(A, True), entry(B, 2)], {B: 2}, 0),
    ("id as float", [entry(A, 1.0), entry(B, 2)], {B: 2}, 0),
    ("only a stranger", [entry("z@x.org", 9)], {}, 1),
]


@pytest.mark.parametrize(
    ("answer", "ids", "strangers"), [m[1:] for m in MATCHES], ids=[m[0] for m in MATCHES]
)
def test_answers_are_matched_by_email(
    answer: list[Any], ids: dict[str, int], strangers: int
) -> None:
    """Interface 4.5: never by position; whoever got no id, or not one of their own, is without."""
    matched = match_answer(json.dumps(answer).encode(), SENT)
    assert (matched.ids, len(matched.strangers)) == (ids, strangers)
    assert list(matched.without) == [key for key in SENT if key not in ids]


UNUSABLE = [None, b"", b"None", b"{}", b"[]", b"[{}]", b'[{"email1": "a@x.org"}]', b'[{"candidate']


@pytest.mark.parametrize("body", UNUSABLE)
def test_an_answer_without_one_usable_id_gives_nobody_one(body: bytes | None) -> None:
    """Added, ids unknown."""
    assert read_added(body) is None
    assert match_answer(body, SENT) == Matched({}, dict.fromkeys(SENT, NO_ID), {})


PERHAPS = [
    [{"email1": A, "candidateId": 7}],
    [{"email1": A, "id": "7"}],
    [{"email1": A, "candidate_id": None, "candidateId": True, "id": 7}],
    {"candidates": [{"email1": A, "candidate_id": 7}]},
    {"total": 1, "data": [{"email1": A, "id": 7}]},
]


@pytest.mark.parametrize("answer", PERHAPS, ids=range(len(PERHAPS)))
def test_an_id_elsewhere_is_shown_and_never_believed(answer: Any) -> None:
    """It helps who settles the doubt; the interface has ids in one place."""
    matched = match_answer(json.dumps(answer).encode(), SENT)
    assert not matched.ids
    assert "perhaps as candidate 7," in matched.without[A]
    assert matched.without[B] == NO_ID


def test_two_ids_of_one_person_are_shown_and_neither_is_believed() -> None:
    answer = [{"email1": A, "candidate_id": number} for number in (8, 7)]
    matched = match_answer(json.dumps(answer).encode(), SENT)
    assert not matched.ids
    assert "candidates 7 and 8 for" in matched.without[A]


def test_two_ids_elsewhere_are_none() -> None:
    """What would lead to the wrong person is not offered."""
    answer = [{"email1": A, "id": 7}, {"email1": A, "id": 8}]
    assert match_answer(json.dumps(answer).encode(), SENT).without[A] == NO_ID


PROJECT_ELSEWHERE = [
    (b'{"projectId": 7}', 7),
    (b'{"project_id": "7"}', 7),
    (b'{"project": {"id": 7}}', 7),
    (b'{"data": {"projectId": 7, "id": 7}}', 7),
    (b'[{"id": 7}]', 7),
    (b'{"id": true, "projectId": 7}', 7),
    (b'{"project": {"id": 7}, "owner": {"id": 8}}', None),
    (b'{"name": "7"}', None),
    (b'{"id": 0}', None),
    (b"7", None),
    (b"created", None),
    (None, None),
]


@pytest.mark.parametrize(("body", "number"), PROJECT_ELSEWHERE)
def test_a_projects_id_elsewhere_is_for_a_person(body: bytes | None, number: int | None) -> None:
    """Shown where it is certain what it could be, believed nowhere."""
    assert id_elsewhere(body) == number


NAMES = [
    ("as sent", {"first_name": "Zoë", "last_name": "van Dam"}, True),
    ("left out", {}, True),
    ("empty", {"first_name": "", "last_name": " "}, True),
    ("of another shape", {"first_name": None, "last_name": ["van Dam"]}, True),
    ("in capitals", {"first_name": "ZOË", "last_name": "VAN DAM"}, True),
    ("other blanks", {"first_name": " Zoë ", "last_name": "van\u00a0 Dam"}, True),
    ("decomposed", {"first_name": "Zoe\u0308", "last_name": "van Dam"}, True),
    ("another first name", {"first_name": "Eve", "last_name": "van Dam"}, False),
    ("another last name", {"last_name": "Dam"}, False),
    ("the other way round", {"first_name": "van Dam", "last_name": "Zoë"}, False),
]


@pytest.mark.parametrize(
    ("answered", "alike"), [each[1:] for each in NAMES], ids=[each[0] for each in NAMES]
)
def test_an_id_under_another_name_is_in_doubt(answered: dict[str, Any], alike: bool) -> None:
    """Ids shuffled among right addresses would lead people to each other's assessment."""
    answer = [entry(A, 1, **answered), entry(B, 2, first_name="Bo", last_name="X")]
    sent = {A: ("Zoë", "van Dam"), B: ("Bo", "X")}
    matched = match_answer(json.dumps(answer).encode(), sent)
    assert matched.ids == ({A: 1, B: 2} if alike else {B: 2})
    if not alike:
        assert "added as candidate 1, " in matched.without[A]


@given(
    sent=st.lists(st.sampled_from([f"p{n}@x.org" for n in range(8)]), unique=True),
    answer=st.lists(
        st.tuples(st.sampled_from([f"p{n}@x.org" for n in range(9)]), st.integers(-1, 9))
    ),
)
def test_no_two_people_ever_share_an_id(sent: list[str], answer: list[tuple[str, int]]) -> None:
    """Whatever is answered: each row sent is accounted for, each id was answered for it."""
    body = json.dumps([entry(email, found) for email, found in answer]).encode()
    matched = match_answer(body, dict.fromkeys(sent, ("Ada", "Lovelace")))
    assert sorted([*matched.ids, *matched.without]) == sorted(sent)
    for key, found in matched.ids.items():
        assert {email for email, other in answer if other == found} == {key}
        assert {other for email, other in answer if email == key and other > 0} == {found}


FULL = {
    "id": 42,
    "title": "Two sum",
    "description": "Add them",
    "time_limit": 60,
    "skills": "python",
    "public": 1,
    "owner_id": "auth|1",
    "difficulty": "easy",
    "date_created": "2026-01-02 03:04:05",
    "open": 0,
    "like_count": 1,
    "open_count": 2,
    "view_count": 3,
    "opened": False,
    "solved": True,
    "open_events": [],
    "submissions": [],
    "_public": True,
    "is_current_user_admin": False,
    "liked_by_current_user": False,
    "viewed_by_current_user": True,
}


def test_a_problem_has_its_21_fields() -> None:
    """Interface 2: every field of the problem record is read."""
    problems = read_problems(json.dumps([FULL]).encode())
    assert problems is not None
    assert len(FULL) == 21
    assert problems[0].model_dump(by_alias=True) == FULL


def test_a_problem_needs_only_its_id_and_title() -> None:
    """What the interface leaves open is never an error: missing, odd and unknown fields pass."""
    odd = {**{field: {"odd": 1} for field in FULL}, "id": 7, "title": "x", "new_field": 1}
    problems = read_problems(json.dumps([{"id": 1, "title": "y"}, odd]).encode())
    assert problems is not None
    assert [(one.id, one.title, one.skills) for one in problems] == [(1, "y", None), (7, "x", None)]


def test_entries_that_are_no_problems_are_left_out() -> None:
    """The array itself shows that the token and the API work (interface 4.2)."""
    entries = [None, 3, {}, {"id": "x", "title": "x"}, {"id": True, "title": "x"}, {"id": 2}, FULL]
    problems = read_problems(json.dumps(entries).encode())
    assert problems is not None
    assert ([each.id for each in problems], problems.unusable) == ([42], 6)
    assert read_problems(b"[]") == []


@pytest.mark.parametrize(
    "body", [None, b"", b"{}", b"None", b'{"problems": []}', b"<html>", b"[" * 99999]
)
def test_anything_but_an_array_is_not_the_list(body: bytes | None) -> None:
    """A web page, an error object or a cut answer is not the list of problems."""
    assert read_problems(body) is None


def test_a_problem_whose_id_is_text_has_it_as_a_number() -> None:
    """A definition names it by that number, and it is attached by it."""
    [problem] = read_problems(json.dumps([FULL | {"id": "42"}]).encode()) or []
    assert problem.id == 42
