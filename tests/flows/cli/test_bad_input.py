"""What bad input gets: the place, exit 2, no request, an untouched ledger."""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from config.command_line import as_typed, command
from flows.cli.main import main
from sandbox.server import Sandbox
from tests.support.campaigns import Office, people

HEAD = "campaign: bad\nproject: {name: X}\nproblem: 42\n"
ADA = "{first_name: Ada, last_name: Lovelace, email1: ada@example.com}"
ONE = f"candidates:\n  - {ADA}\n"

# What is in bad.yaml, and what the complaint must hold: a place and what was found there.
BAD = {
    "empty": (b"", ["bad.yaml", "empty"]),
    "binary": (b"\x89PNG\r\n\x1a\n\x00\x00\x00", ["bad.yaml"]),
    "not yaml": (b"campaign: [bad\n", ["bad.yaml:"]),
    "a list": (b"- campaign\n", ["bad.yaml:1:1"]),
    "wrong type": (HEAD.replace("42", "forty-two").encode() + ONE.encode(), ["bad.yaml:3:"]),
    "unknown field": ((HEAD + "candidats: []\n").encode(), ["bad.yaml:4:1", "candidates"]),
    "no candidates": ((HEAD + "candidates: []\n").encode(), ["bad.yaml:4:", "candidates"]),
    "bad email": ((HEAD + ONE.replace("ada@", "ada at ")).encode(), ["bad.yaml:5:", "email1"]),
    "no name": ((HEAD + ONE.replace("Ada", '""')).encode(), ["bad.yaml:5:", "first_name"]),
    "twice": ((HEAD + ONE + f"  - {ADA.replace('ada@', 'ADA@')}\n").encode(), [":5:", ":6:"]),
    "clock gap": (
        HEAD.replace(
            "name: X", "name: X, starttime: 2026-03-29 02:30, timezone: Europe/Paris"
        ).encode()
        + ONE.encode(),
        ["bad.yaml:2:", "starttime"],
    ),
    "ends first": (
        HEAD.replace(
            "name: X", "name: X, starttime: 2026-12-02 09:00, endtime: 2026-12-01 09:00"
        ).encode()
        + ONE.encode(),
        ["bad.yaml:2:", "endtime"],
    ),
    "two at once": (
        (HEAD.replace("42", "{}") + ONE.replace("ada@", "ada at ")).encode(),
        ["bad.yaml:3:", "bad.yaml:5:"],
    ),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """An office whose ledger has one finished campaign."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch, Sandbox() as service:
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        office = Office.at(folder, service)
        office.run(office.write("good", people("ada")))
        yield office


@pytest.fixture
def office(finished: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    """The same in the test's own folder, in which it types."""
    shutil.copytree(finished.folder, tmp_path, dirs_exist_ok=True)
    for name, value in finished.service.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"sqlite:///{tmp_path / 'ledger.db'}")
    monkeypatch.chdir(tmp_path)
    return replace(finished, folder=tmp_path)


def refused(office: Office, monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    """Type a command that must end with 2, ask nothing and leave the ledger as it was."""
    ledger = [office.folder / name for name in ("ledger.db", "ledger.db-wal")]
    before = [path.read_bytes() for path in ledger if path.exists()]
    asked = office.service.api_requests()
    monkeypatch.setattr("sys.argv", ["campaign", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert office.service.api_requests() == asked
    assert [path.read_bytes() for path in ledger if path.exists()] == before


# All three read a file in one way.
@pytest.mark.parametrize(
    ("command", "what"),
    [*product(["run"], BAD), ("check", "two at once"), ("plan", "two at once")],
)
def test_bad_input_is_refused_at_its_place(
    office: Office,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    what: str,
) -> None:
    """A clear message with file and place, exit 2, no request sent, the ledger untouched."""
    content, wanted = BAD[what]
    (office.folder / "bad.yaml").write_bytes(content)
    refused(office, monkeypatch, command, "bad.yaml")
    said = capsys.readouterr().err
    assert [words for words in wanted if words not in said] == []
    assert "Traceback" not in said
    assert f"campaign {command} bad.yaml" in said


@pytest.mark.parametrize("name", ["missing.yaml", "folder.yaml", "people.csv", "letter.docx"])
def test_what_is_no_campaign_file(
    office: Office,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    """A missing file, a folder, a bare table and a strange kind of file each say so."""
    (office.folder / "folder.yaml").mkdir()
    (office.folder / "people.csv").write_text("first_name,last_name,email1\n" + people("ada"))
    (office.folder / "letter.docx").write_bytes(b"PK\x03\x04")
    refused(office, monkeypatch, "run", name)
    said = capsys.readouterr().err
    assert name in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("typed", "instead"),
    [
        ("check nothere.yaml", "campaign new nothere.yaml"),
        ("check nothere", "campaign new nothere.yaml"),
        ("check nothere.csv", "campaign new nothere.yaml"),
        ("check nofolder/x.yaml", "campaign new x.yaml"),
        ("check ./goood.yaml", "Did you mean good.yaml? Then type: campaign check good.yaml"),
        ("run good.yml", "Did you mean good.yaml? Then type: campaign run good.yaml"),
        (
            "run ok.yaml godo.yaml",
            "Did you mean good.yaml? Then type: campaign run ok.yaml good.yaml",
        ),
        ("run peple.csv --campaign ok.yaml", "campaign run people.csv --campaign ok.yaml"),
        ("run people.csv --campaign goood.yaml", "campaign run people.csv --campaign good.yaml"),
        ("run peple.csv", "campaign new peple.yaml"),
        ("new x.yaml --from peple.csv", "Then type: campaign new x.yaml --from people.csv"),
        ("links good --into peple.csv -o people.csv", "campaign links --help"),
        ("new ok.yaml --from people.csv", "campaign new ok-2.yaml --from people.csv"),
        ("new x.xlsx --from people.csv", "campaign new x.yaml --from people.csv"),
        ("new x.yaml --from people.csv --sheet A", "campaign new x.yaml --from people.csv"),
        ("new x.yaml --from ok.yaml", "campaign new --help"),
        ("check people.csv --sheet A", "campaign new people.yaml --from people.csv"),
        ("plan ok.yaml --only k", "Then type: campaign plan ok.yaml --only ok"),
        ("plan ok.yaml --only=k --only none", "campaign plan ok.yaml --only=ok --only KEY"),
    ],
)
def test_what_would_fail_again_is_not_what_to_type_next(
    office: Office,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    typed: str,
    instead: str,
) -> None:
    """Where a file is not there, or cannot be the right one: the nearest is named."""
    office.write("ok", people("grace"))
    (office.folder / "people.csv").write_text("first_name,last_name,email1\n" + people("ada"))
    monkeypatch.setattr(sys, "argv", ["campaign", *typed.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith(instead)


def test_a_file_whose_name_begins_with_a_dash_is_not_typed_as_an_option() -> None:
    """Whatever is printed to be typed next must work."""
    assert command("check", Path("-lead.yaml"), "--mark", Path("a b")) == (
        "campaign check ./-lead.yaml --mark 'a b'"
    )
    assert as_typed(Path("-l.csv"), Path("-l.yaml")) == ["./-l.csv", "--campaign", "./-l.yaml"]


def test_one_bad_file_of_several_sends_none(
    office: Office, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Several files are all read before anything is sent; one campaign in two files is an error."""
    office.write("new", people("grace"))
    (office.folder / "bad.yaml").write_text(HEAD)
    refused(office, monkeypatch, "run", "new.yaml", "bad.yaml")
    refused(office, monkeypatch, "run", "new.yaml", "new.yaml")
    assert "already" in capsys.readouterr().err


def test_missing_settings_are_named_before_anything_is_asked(
    office: Office, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every variable that is missing is named at once; a plain http address is refused."""
    office.write("new", people("grace"))
    monkeypatch.delenv("ASSESSMENT_CLIENT_ID")
    monkeypatch.setenv("ASSESSMENT_APP_URL", "http://app.example.com")
    refused(office, monkeypatch, "run", "new.yaml")
    said = capsys.readouterr().err
    assert "ASSESSMENT_CLIENT_ID" in said
    assert "ASSESSMENT_APP_URL" in said
