"""The web application's own list, taken as a verdict on all unsure adds at once."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from data.campaigns import queries
from flows.cli.decide import settle as command_line
from sandbox.faults.faults import Fault
from tests.support.doubtful_campaign import DEFINITION, EMAILS, KEY, DoubtfulCampaign
from tests.support.doubtful_campaign import doubtful as desk

__all__ = ["desk"]

ADA, ZOE, GRACE = EMAILS
LOST = Fault("lost", "add_candidates", after_work=True)
NEVER_CAME = Fault("lost", "add_candidates")


def there(desk: DoubtfulCampaign) -> dict[str, int]:
    """Whom the service has, with the last of their ids."""
    return {one.email1: one.candidate_id for one in desk.service.record.candidates}


def write(rows: Sequence[Sequence[Any]], name: str = "list.csv", delimiter: str = ",") -> str:
    if name.endswith(".csv"):
        Path(name).write_text("\n".join(delimiter.join(map(str, row)) for row in rows) + "\n")
    else:
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(list(row))
        book.save(name)
    return name


def in_use(desk: DoubtfulCampaign) -> dict[str, int | None]:
    with desk.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        return {one.email1: one.candidate_id for one in queries.candidates(ledger, campaign.id)}


@pytest.mark.parametrize("name", ["list.csv", "list.xlsx"])
@pytest.mark.parametrize(
    "columns",
    [
        (("Email", "email"), ("candidate_id", "id")),
        (("ID", "id"), ("Name", "name"), ("E-mail address", "email")),
        (("Joined", "year"), ("Who", "email"), ("Ref", "id")),
        (("score", "id"), ("mail", "email"), ("Candidate ID", "id"), ("place", "place")),
        (("", "id"), ("", "email")),
    ],
)
def test_addresses_and_ids_in_any_two_columns_settle_all_adds(
    desk: DoubtfulCampaign, name: str, columns: Sequence[tuple[str, str]]
) -> None:
    """By their headers, else by what is in them; everybody is then invited once."""
    desk.run(LOST)
    ids = there(desk)
    people = [
        {"email": email.upper(), "id": ids[email], "name": "A, B"[::3], "year": 2026, "place": n}
        for n, email in enumerate(EMAILS)
    ]
    rows = [[header for header, _ in columns]] if any(header for header, _ in columns) else []
    rows += [[person[what] for _, what in columns] for person in people]
    answer = desk.settle("--from", write(rows, name))
    assert answer.code == 0, answer.err
    assert "has ids for 3 of 3 unsure adds" in answer.err
    assert in_use(desk) == ids
    desk.run()
    assert desk.emails() == dict.fromkeys(EMAILS, 1)


def test_who_is_not_in_the_list_stays_unsure_unless_it_is_said_to_be_complete(
    desk: DoubtfulCampaign,
) -> None:
    """A list may be one page of several: only a word of its own takes it for everybody."""
    desk.run(NEVER_CAME)
    path = write([["email", "id"], ["somebody@else.com", 9], [ADA, 701]])
    early = desk.settle("--from", path, "--candidates", "again", "--why", "the list is complete")
    assert (early.code, early.err.count("--no-wait (2 people)")) == (2, 1)
    assert desk.steps(ADA)[0] == "unsure"
    desk.later(16)
    answer = desk.settle("--from", path)
    assert answer.code == 3
    assert "ids for 1 of 3 unsure adds" in answer.err and "2 people not in it: stay" in answer.err
    assert all_others(path) in re.sub(r"--listed \w+", "--listed CODE", answer.err)
    assert desk.steps(ZOE)[0] == "unsure"
    assert desk.settle("--from", path, "--candidates", "again").code == 2  # without a reason
    answer = desk.settle("--from", path, "--candidates", "again", "--why", "the list is complete")
    assert answer.code == 0, answer.err
    assert [desk.steps(email)[0] for email in EMAILS] == ["done", "waiting", "waiting"]


def all_others(path: str) -> str:
    """What is printed for everybody who is not in a list."""
    return f"settle {KEY} --from {path} --candidates again --listed CODE --why TEXT\n"


def test_a_complete_list_is_not_about_adds_that_are_unsure_since(desk: DoubtfulCampaign) -> None:
    """It was made before them: who is in the project by now would be added a second time."""
    desk.run(NEVER_CAME)
    path = write([["email", "id"], [ADA, 701]])
    [code] = re.findall(r"--listed (\w+)", desk.settle("--from", path).err)
    tim = "tim@example.com"
    more = f"  - {{first_name: Tim, last_name: Lee, email1: {tim}}}\n"
    desk.file.write_text(DEFINITION + more, encoding="utf-8")
    desk.run(LOST)
    desk.later(16)
    typed = ("--from", path, "--candidates", "again", "--why", "it is complete", "--listed")
    answer = desk.settle(*typed, code)
    assert answer.code == 2
    assert [desk.steps(email)[0] for email in (ADA, ZOE, tim)] == ["done", "unsure", "unsure"]
    [look] = re.findall(r"Look again: campaign (.*)", answer.err)
    before = desk.decisions()
    [code] = set(re.findall(r"--listed (\w+)", desk.type(*look.split()).out))
    assert desk.decisions() == before
    write([["email", "id"], [ADA, 701], [ZOE, 702]])
    assert desk.settle(*typed, code).code == 0
    assert [desk.steps(email)[0] for email in (ZOE, GRACE, tim)] == ["done", "waiting", "waiting"]


def test_who_is_there_twice_is_used_once_and_the_other_is_to_be_removed(
    desk: DoubtfulCampaign,
) -> None:
    """The smallest id is the one in use, which a later list says as well."""
    desk.run(LOST)
    ids = there(desk)
    rows = [["id", "email"], [7002, ADA], *([ids[email], email] for email in EMAILS), [7001, ADA]]
    answer = desk.settle("--from", write(rows))
    assert answer.code == 0, answer.err
    assert "  2 more records " in answer.err
    assert in_use(desk) == ids
    answer = desk.type("clean-up", KEY)
    assert [f"candidate {number} in project" in answer.out for number in (7001, 7002)] == [True] * 2
    assert answer.out.count(ADA) == 2


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([["email", "id"], [ADA, "none"], [ZOE, 5]], 'list.csv:2, id: found "none", wanted an id'),
        ([["email", "id"], [ADA, 5], [ZOE, 5]], " the id 5\n"),
    ],
)
def test_a_list_that_cannot_be_taken_says_why_and_settles_nothing(
    desk: DoubtfulCampaign, rows: Sequence[Sequence[Any]], complaint: str
) -> None:
    """Each with its line, and nothing decided."""
    desk.run(LOST)
    answer = desk.settle("--from", write(rows))
    assert (answer.code, desk.decisions()) == (2, [])
    assert complaint in answer.err


def test_on_a_terminal_it_is_shown_before_it_is_taken(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the list says comes first, then the question."""
    desk.run(LOST)
    path = write([["email", "id"], *(there(desk).items())])
    asked: list[str] = []

    def no(question: str) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr(command_line, "agrees", no)
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    assert desk.settle("--from", path).code == 1
    assert asked == ["Record these verdicts? [y/N] "]
    assert desk.decisions() == []


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        pytest.param(
            'email,id,note\n{ada},701,"by phone\n{zoe},702,\n{grace},703,\n',
            "list.csv:2: ",
            id="a quote that never ends",
        ),
        pytest.param(
            'email,id,note\n{ada},701,"by phone\n{zoe},702,"\n{grace},703,\n',
            "list.csv:2, email1: ",
            id="two quotes around a line",
        ),
        pytest.param(
            "email,id,note\n{ada},701,\n,702,{zoe}\n{grace},703,\n",
            "list.csv:3, email1: ",
            id="another column",
        ),
        pytest.param(
            "email,id,note\n{ada},701,\nZoe <{zoe}>,702,\n{grace},703,\n",
            "",
            id="a name around it",
        ),
        pytest.param(
            "email,id,note\n{ada},701,\nzoe@home.org {zoe},702,\n{grace},703,\n",
            "list.csv:3, email1: ",
            id="two addresses",
        ),
        pytest.param(
            "Added by {zoe}\nemail,id,note\n{ada},701,\n{zoe},702,\n{grace},703,\n",
            "",
            id="also elsewhere",
        ),
    ],
)
def test_nobody_whose_address_is_in_the_list_counts_as_missing(
    desk: DoubtfulCampaign, content: str, complaint: str
) -> None:
    """Whoever is in the project would be added a second time."""
    desk.run(LOST)
    desk.later(16)
    Path("list.csv").write_text(content.format(ada=ADA, zoe=ZOE, grace=GRACE))
    answer = desk.settle("--from", "list.csv", "--candidates", "again", "--why", "it is complete")
    assert (answer.code, bool(desk.decisions())) == ((2, False) if complaint else (0, True)), (
        answer.err
    )
    assert complaint in answer.err
