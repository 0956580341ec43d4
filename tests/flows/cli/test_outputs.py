"""`links`, `report`, `problems` and `doctor` as they are typed."""

import json
import re
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import stamina
from prefect.settings import PREFECT_API_URL, temporary_settings
from sqlmodel import select

from config.settings import settings
from data.decisions.decisions import By, correct, withdraw
from data.decisions.doubts import Settlement, settle_all
from data.decisions.privacy import forget
from data.store.ledger import Ledger
from data.store.states import Op, State
from data.store.tables import Campaign, Decision, Run
from flows.cli import app
from sandbox.faults import ALWAYS, status
from sandbox.server import Sandbox
from tests.data.desk import Desk, address


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """A service, and its settings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("CAMPAIGN_OUTPUT_DIR", str(tmp_path / "out"))
    with Sandbox() as service, stamina.set_testing(True, attempts=2):
        for name, value in service.settings.items():
            monkeypatch.setenv(name, value)
        yield service


@pytest.fixture
def hiring(sandbox: Sandbox, desk: Desk) -> None:
    """A campaign in which Ada was added."""
    desk.settings = settings()
    desk.take_in("Ada", "Bob", key="hiring")
    desk.does(Op.CREATE, key="hiring")
    desk.does(Op.ATTACH, key="hiring")
    desk.does(Op.ADD, "Ada", key="hiring")


@pytest.mark.parametrize("form", ["csv", "json", "html"])
def test_a_printed_link_has_nothing_that_a_terminal_obeys(
    form: str, desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.take_in(("عل\u200cی", "A\u200fB", "ada@x.org"))
    assert app.run(["links", "backend", "--format", form]) == 0
    printed = capsys.readouterr().out
    assert "\u200f" not in printed
    assert ("A\\u200fB" in printed) == (form != "html")
    if form == "json":
        assert json.loads(printed)[0]["last_name"] == "A\u200fB"


MISTYPED = [
    ["links", "hiring", "--format", "csv", "-o", "links.xlsx"],
    ["links", "hiring", "--into", "hiring.yaml"],
    ["links", "hiring", "--into", "loop", "-o", "copy.csv"],
    ["links", "another"],
]


@pytest.mark.usefixtures("hiring")
@pytest.mark.parametrize("words", MISTYPED)
def test_what_cannot_be_meant_is_refused(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    before = {path.name for path in tmp_path.iterdir()}
    assert app.run(words) == 2
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.usefixtures("hiring")
def test_results_go_into_a_copy_and_what_it_lacks_is_said(
    tmp_path: Path, desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.call(correct, address("Ada"), "ada@new.org", By("me", "a typo"), key="hiring")
    (tmp_path / "own.csv").write_text("Mail\nada@x.org\nzoe@x.org\n")
    assert app.run(["links", "hiring", "--into", "own.csv", "-o", "copy.csv"]) == 0
    said = capsys.readouterr().err
    assert "1 waiting, 1 not in the campaign" in said
    assert "1 candidate of hiring in no row of own.csv" in said
    assert "logs in as ada@new.org" in (tmp_path / "copy.csv").read_text()


@pytest.mark.usefixtures("hiring")
def test_results_go_into_ones_own_sheet_in_its_own_encoding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the definition says that reads it; of another sheet it says nothing."""
    for name in ("own.csv", "other.csv"):
        (tmp_path / name).write_bytes("Name,Mail\nŁucja,ada@x.org\n".encode("cp1250"))
    (tmp_path / "h.yaml").write_text("candidates: {file: own.csv, encoding: windows-1250}\n")
    assert app.run(["links", "hiring", "--into", "own.csv", "-o", "copy.csv"]) == 0
    assert "Łucja" in (tmp_path / "copy.csv").read_text("utf-8")
    assert app.run(["links", "hiring", "--into", "other.csv", "-o", "another.csv"]) == 2
    assert "Save it as UTF-8" in capsys.readouterr().err


def test_a_report_tells_whatever_was_settled_but_of_who_is_forgotten(
    desk: Desk, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    who, by = ("Ada", "Ben", "Cyd", "Dov"), By("me", "because")
    desk.take_in(*who, "Eve")
    desk.sends("Eve")
    desk.call(withdraw, [address("Eve")], by)  # nothing of her was unknown
    for each in who:
        desk.does(Op.INVITE, each, state=State.UNSURE)
    verdicts = zip(("sent", "again", "withdraw", "sent"), map(address, who), strict=True)
    desk.call(settle_all, [Settlement(word, email) for word, email in verdicts], by)
    with desk.ledger.writing() as session:
        forget(session, [address("Dov")], by)
    assert app.run(["report", "backend", "-o", str(page), "--names"]) == 0
    _, doubts = page.read_text().split("Results that were unknown")
    assert [name for name in who if f"<h3>{name} Of X ({address(name)})" in doubts] == [
        "Ada",
        "Ben",
        "Cyd",
    ]
    assert f"<h3>Eve Of X ({address('Eve')})" not in doubts


def test_problems_are_found_by_words(sandbox: Sandbox, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["problems"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
    assert app.run(["problems", "TWO", "sum", "--json"]) == 0
    assert [each["id"] for each in json.loads(capsys.readouterr().out)["problems"]] == [42]
    sandbox.faults["problems"] = status(503, times=ALWAYS)
    assert app.run(["problems"]) == 1
    assert "ASSESSMENT_BASE_URL" in capsys.readouterr().err


BAD = Path(__file__).parents[2] / "data/sheets/bad-people.xlsx"
FAULTS = [
    # what is wrong -> the name of the finding
    ({}, None),
    ({"ASSESSMENT_CLIENT_SECRET": "wrong"}, "service"),
    ({"ASSESSMENT_BASE_URL": ""}, "settings"),
    ({"ASSESSMENT_BASE_URL": "http://127.0.0.1:1"}, "service"),
    ({"CAMPAIGN_CA_FILE": "/nowhere/ca.pem"}, "service"),
    ({"CAMPAIGN_DO_NOT_CONTACT": str(BAD)}, "CAMPAIGN_DO_NOT_CONTACT"),
    ({"CAMPAIGN_DATABASE_URL": f"sqlite:///{Path(sys.executable)}"}, "ledger"),
]


@pytest.mark.parametrize(("wrong", "name"), FAULTS)
@pytest.mark.usefixtures("sandbox")
def test_doctor_names_what_is_wrong(
    wrong: dict[str, str], name: str | None, monkeypatch, capsys
) -> None:
    for variable, value in wrong.items():
        monkeypatch.setenv(variable, value)
    assert app.run(["doctor"]) == (1 if name else 0)
    told = capsys.readouterr().out
    assert re.findall(r"(?m)^WRONG  ([\w ]+):", told)[:1] == ([name] if name else [])
    assert "sandbox-secret" not in told
    assert (f"{BAD}, " in told) == (name == "CAMPAIGN_DO_NOT_CONTACT")


@pytest.mark.usefixtures("hiring")
def test_doctor_names_campaigns_whose_people_are_kept_for_too_long(monkeypatch, capsys) -> None:
    def named() -> bool:
        capsys.readouterr()
        assert app.run(["doctor", "--offline"]) == 0  # nothing is broken
        (said,) = re.findall("CAMPAIGN_KEEP: (.*)", capsys.readouterr().out)
        return "hiring" in said

    monkeypatch.setenv("CAMPAIGN_KEEP", "180 days")
    assert not named()
    with Ledger.open() as ledger, ledger.writing() as session:  # half a year passes
        for table, moment in ((Campaign, "created_at"), (Decision, "at"), (Run, "began")):
            for each in session.exec(select(table)):
                setattr(each, moment, getattr(each, moment) - timedelta(days=181))
    assert named()
    app.run(["forget", "bob@x.org", "--yes"])
    assert named()  # Ada is still there
    app.run(["forget", "ada@x.org", "--yes"])
    assert not named()


@pytest.mark.usefixtures("sandbox")
def test_doctor_asks_the_prefect_server_that_is_named(monkeypatch, capsys) -> None:
    monkeypatch.setenv("PREFECT_API_URL", url := "http://127.0.0.1:1/api")
    with temporary_settings({PREFECT_API_URL: url}):
        assert app.run(["doctor", "--offline"]) == 1
    assert f"WRONG  Prefect: Prefect's server at {url} does not answer" in capsys.readouterr().out
