"""`--sheet`: one sheet of several is sent, and whatever goes on from there keeps to it."""

import asyncio
import tempfile
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from config.reading.sources import NO_SHEET, NO_SHEETS, sources_of
from config.settings import load_local, load_service
from data.campaigns import approvals
from data.campaigns.approvals import Answer, NotAnswered
from data.store.states import Ending
from flows.engine.sharing import ask_for_wave_runs
from flows.run.order import RunContext, conduct
from flows.wave_run import share_campaign
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tasks.plan.asking_approval import decide
from tasks.plan.target import CampaignSource
from tests.support.campaigns import Office, settings_of
from tests.support.doubtful_campaign import KEY, DoubtfulCampaign, doubtful_campaign

SHEETS = {
    "candidates": ["ann@mail.example"],
    "Second Round": ["ben@mail.example", "cy@mail.example"],
    "third": ["di@mail.example"],
}
DEFINITION = f"campaign: {KEY}\nproject: {{name: Engineers}}\nproblem: 42\n"
TABLE = ("people.xlsx", "--campaign", "hiring.yaml")
SECOND = ("--sheet", "second round")


def write_book(path: Path, sheets: dict[str, list[str]] = SHEETS) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, emails in sheets.items():
        sheet = book.create_sheet(name)
        sheet.append(["First name", "Last name", "Email"])
        for email in emails:
            sheet.append([email[:2], "Example", email])
    book.save(path)
    return path


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[DoubtfulCampaign]:
    with doubtful_campaign(tmp_path, monkeypatch, capsys) as set_up:
        set_up.file.write_text(DEFINITION)
        write_book(tmp_path / "people.xlsx")
        yield set_up


def send(desk: DoubtfulCampaign, sheet: str | None, file: str = "people.xlsx") -> Ending:
    """Do what `campaign run people.xlsx --campaign hiring.yaml` does, without Prefect."""
    beside = None if file == desk.file.name else desk.file
    asked = CampaignSource(desk.folder / file, KEY, beside, sheet=sheet)
    with desk.ledger() as ledger:
        return asyncio.run(conduct(asked, RunContext(ledger, load_service(), load_local()))).ending


@pytest.mark.parametrize("file", ["people.xlsx", "hiring.yaml"])
def test_only_the_named_sheet_is_checked_planned_and_sent(
    desk: DoubtfulCampaign, file: str
) -> None:
    """With a definition that names no sheet or another one; each next line to type keeps it."""
    typed: tuple[str, ...] = TABLE
    if file == "hiring.yaml":
        desk.file.write_text(f"{DEFINITION}candidates: {{file: people.xlsx, sheet: third}}\n")
        typed = (file,)
    for command, then in (("check", "plan"), ("plan", "run"), ("rehearse", "run")):
        answer = desk.type(command, *typed, *SECOND)
        assert answer.code == 0, answer.err
        assert f"campaign {then} {' '.join(typed)} --sheet 'second round'" in answer.out
        assert ("ben@mail" in answer.out) == (command != "rehearse")
    send(desk, SECOND[1], file)
    assert desk.emails() == dict.fromkeys(SHEETS["Second Round"], 1)
    assert desk.type("plan", *typed, *SECOND).out.count("ben@mail") == 0


def test_what_goes_on_keeps_to_the_sheet(desk: DoubtfulCampaign) -> None:
    """What to type next, and results beside the people, without a word about the sheet; the
    history says which one was read."""
    desk.service.faults.add(Fault("lost", "invite", email="cy@mail.example"))
    send(desk, SECOND[1])
    answer = desk.settle("--invites", "again", "--why", "none came", "--no-wait")
    assert "--campaign" in answer.out and "--sheet 'second round'" in answer.out
    assert "read from " in (told := desk.type("history", KEY).out)
    assert f"{desk.folder / 'people.xlsx'}, second round" in told.replace("\n", "")
    report = desk.type("report", KEY, "-o", "report.html")
    assert report.code == 0 and "--sheet" in (desk.folder / "report.html").read_text()
    assert desk.type("links", KEY, "--into", "people.xlsx", "-o", "done.xlsx").code == 0
    book = openpyxl.load_workbook(desk.folder / "done.xlsx")
    assert [sheet.title for sheet in book if "status" in [c.value for c in sheet[1]]] == [
        "Second Round"
    ]
    failed = ("--failed-only", "-o", "failed.xlsx")
    assert "--sheet 'second round'" in desk.type("links", KEY, "--into", TABLE[0], *failed).err


def test_results_go_into_a_table_without_the_sheet_of_the_definition(
    desk: DoubtfulCampaign,
) -> None:
    """What is missing is named as it was written, and the next line to type writes the copy."""
    desk.file.write_text(f"{DEFINITION}candidates: {{file: people.xlsx, sheet: Third}}\n")
    send(desk, None, desk.file.name)
    write_book(desk.folder / "other.xlsx", {"notes": [], "T": ["di@mail.example"]})
    book = openpyxl.load_workbook(desk.folder / "other.xlsx")
    book["notes"].delete_rows(1)
    book.save(desk.folder / "other.xlsx")
    words = ("links", KEY, "--into", "other.xlsx", "-o", "done.xlsx")
    for typed in (words, (*words, "--sheet", "Third"), (*words, "--sheet", "notes")):
        answer = desk.type(*typed)
        missing = 'no column for email1 in the sheet "notes"'
        said = missing if "notes" in typed else 'there is no sheet "Third"; found the sheets notes'
        assert (answer.code, said in answer.err) == (2, True)
        again = f"campaign {' '.join(words)} --sheet T"
        assert answer.err.endswith(f"Then type: {again}\n")
    assert desk.type(*words, "--sheet", "T").code == 0


def test_wave_runs_are_asked_for_the_same_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    """They read the file again, on another machine perhaps, and take what they are asked for."""
    parameters: list[dict[str, object]] = []

    async def pool() -> str:
        return "pool"

    async def begin(_: str, **run: Any) -> None:
        parameters.append(run["parameters"])

    monkeypatch.setattr("flows.engine.sharing._pool", pool)
    monkeypatch.setattr("prefect.deployments.arun_deployment", begin)
    asked = CampaignSource(Path("people.xlsx"), KEY, Path("hiring.yaml"), sheet="third")
    asyncio.run(ask_for_wave_runs(asked, 3, KEY, 5_000))
    assert [one["sheet"] for one in parameters] == ["third"] * 2
    signature(share_campaign.fn).bind(**parameters[0])


def test_where_there_is_no_sheet_to_choose_the_option_is_refused(desk: DoubtfulCampaign) -> None:
    """A text, a list in the definition, a workbook with its own campaign; and a slip."""
    (desk.folder / "people.csv").write_text("First name,Last name,Email\nAnn,E,ann@mail.example\n")
    answer = desk.type("check", "people.csv", *TABLE[1:], *SECOND)
    assert (answer.code, NO_SHEETS in answer.err) == (2, True)
    assert "campaign check people.csv --campaign hiring.yaml\n" in answer.err  # without it
    answer = desk.type("plan", "people.xlsx", *TABLE[1:], "--sheet", "second")
    assert (answer.code, "Second Round" in answer.err) == (2, True)
    one = "{first_name: A, last_name: B, email1: ann@mail.example}"
    desk.file.write_text(f"{DEFINITION}candidates: [{one}]\n")
    answer = desk.type("plan", desk.file.name, *SECOND)
    assert (answer.code, f"{desk.file.name}: {NO_SHEET}" in answer.err) == (2, True)
    assert desk.type("new", "own.xlsx").code == 0
    answer = desk.type("check", "own.xlsx", *SECOND)
    assert (answer.code, f"own.xlsx: {NO_SHEET}" in answer.err) == (2, True)
    assert desk.type("check", ".", *SECOND).code == 2


def test_marks_are_put_on_the_sheet_that_was_named(desk: DoubtfulCampaign) -> None:
    """And the next line checks that sheet of the copy."""
    write_book(desk.folder / "people.xlsx", SHEETS | {"Second Round": ["ben@"]})
    answer = desk.type("check", *TABLE, *SECOND, "--mark", "marked.xlsx")
    assert answer.code == 2
    assert "campaign check marked.xlsx --campaign hiring.yaml --sheet" in answer.err
    book = openpyxl.load_workbook(desk.folder / "marked.xlsx")
    noted = [c.coordinate for row in book["Second Round"].iter_rows() for c in row if c.comment]
    assert noted == ["C2"]


def test_a_definition_of_a_workbook_writes_into_a_text(desk: DoubtfulCampaign) -> None:
    """Its `sheet` says nothing of a text, which has none."""
    desk.file.write_text(f"{DEFINITION}candidates: {{file: people.xlsx, sheet: third}}\n")
    send(desk, None, desk.file.name)
    (desk.folder / "people.csv").write_text("First name,Last name,Email\nDi,E,di@mail.example\n")
    answer = desk.type("links", KEY, "--into", "people.csv", "-o", "done.csv")
    assert (answer.code, "1 invited" in answer.err) == (0, True)


# Sheets are run and plans approved in any order.
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("run"), st.sampled_from([None, *SHEETS])),
        st.tuples(st.just("approve"), st.none()),
    ),
    min_size=2,
    max_size=6,
)


@given(STEPS)
@example([("run", None), ("approve", None), ("run", "third"), ("approve", None), ("run", None)])
@settings(max_examples=8)
def test_approving_the_plan_of_one_sheet_never_sends_another(
    steps: list[tuple[str, str | None]],
) -> None:
    """Who gets an email stands in a sheet that was run after its own plan was approved."""
    with tempfile.TemporaryDirectory() as folder, Sandbox() as service:
        office = Office.at(Path(folder), service)
        definition = office.folder / "hiring.yaml"
        definition.write_text(f"{DEFINITION}invites: {{approval: required}}\n")
        table = write_book(office.folder / "people.xlsx")
        shown: str | None = None
        approved: str | None = None
        agreed: set[str] = set()
        for step, name in steps:
            sheet = name or "candidates"
            with office.ledger() as ledger:
                if step == "run":
                    asked = CampaignSource(table, KEY, definition, sheet=name)
                    end = asyncio.run(
                        conduct(asked, RunContext(ledger, settings_of(service), office.local))
                    )
                    if (name or "") == approved:
                        agreed |= set(SHEETS[sheet])
                    if end.plan is not None:
                        shown, approved = name or "", None
                elif shown is not None:
                    plan, _ = ledger.read(approvals.look, KEY)
                    assert plan is not None and (plan.sheet or "") == shown
                    try:
                        decide(ledger, KEY, Answer.APPROVED, None, "rita", "")
                    except NotAnswered:
                        continue
                    approved = shown
            assert set(office.emails()) <= agreed
            assert max(office.emails().values(), default=1) == 1


def test_a_sheet_makes_another_digest(desk: DoubtfulCampaign) -> None:
    """What was shown, agreed to or taken over of one sheet is of no other; none is as before."""
    table = desk.folder / "people.xlsx"
    names = (None, "Second Round", "third", "candidates")
    digests = {name: sources_of(table, desk.file, name).digest for name in names}
    assert len(set(digests.values())) == len(digests)
    assert sources_of(table, desk.file, " second round ").digest == digests["Second Round"]
