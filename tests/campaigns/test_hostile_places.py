"""Places that somebody else has prepared: what is written goes nowhere else, and nobody waits."""

import os
from pathlib import Path

import pytest

from config.errors import BadInput
from config.reading.do_not_contact import read_do_not_contact
from config.reading.reading import read_campaigns
from config.tables.file_bytes import HOLDS_SECRETS
from data.store.backup import NoBackup, back_up
from data.store.ledger import Ledger
from flows.reports import report_of, tell, withdraw

BAD = "campaign: a\nproject: {name: A}\nproblem: 1\ncandidates: [{first_name: Ada}]\n"


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    """A file in a watched folder with something to tell about, beside a file of somebody's own."""
    (tmp_path / "own").write_text("mine")
    (tmp_path / "inbox").mkdir()
    file = tmp_path / "inbox" / "bad.yaml"
    file.write_text(BAD)
    return file


def told(file: Path) -> None:
    with pytest.raises(BadInput) as wrong:
        read_campaigns(file)
    tell(file, "0" * 64, wrong.value.problems)


@pytest.mark.parametrize("name", ["bad.yaml.problems.txt", ".bad.yaml.problems.txt.tmp"])
def test_a_report_is_written_through_no_link(bad: Path, name: str) -> None:
    """Whoever may lay files into an inbox cannot have its owner's other files written over."""
    (bad.parent / name).symlink_to(bad.parent.parent / "own")
    told(bad)
    assert (bad.parent.parent / "own").read_text() == "mine"
    assert "last_name" in report_of(bad).read_text()
    assert not report_of(bad).is_symlink()


def test_a_pipe_in_the_way_keeps_nobody_waiting(bad: Path) -> None:
    """What is read before a report is written or taken away is a file."""
    os.mkfifo(report_of(bad))
    withdraw(bad)
    told(bad)
    assert "last_name" in report_of(bad).read_text()


def test_a_copy_of_the_ledger_goes_where_it_was_told(tmp_path: Path) -> None:
    """A link that leads nowhere is no way to have everybody's address written there."""
    Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}").close()
    elsewhere = tmp_path / "shared"
    (tmp_path / "kept.db").symlink_to(elsewhere)
    back_up(tmp_path / "ledger.db", tmp_path / "kept.db")
    assert not elsewhere.exists()
    elsewhere.write_text("mine")
    (tmp_path / "again.db").symlink_to(elsewhere)
    with pytest.raises(NoBackup):
        back_up(tmp_path / "ledger.db", tmp_path / "again.db")
    assert elsewhere.read_text() == "mine"


@pytest.mark.parametrize(
    "text",
    [
        "ASSESSMENT_CLIENT_SECRET=hush-1\nCAMPAIGN_KEEP=1 day\n",
        "# made by hand\n\nexport AWS_KEY='hush,2;3'\n",
        "[service]\nassessment_client_secret = hush: 4\n",
        "-----BEGIN PRIVATE KEY-----\nhush5\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("kind", ["csv", "yaml", "list"])
def test_what_holds_secrets_is_quoted_nowhere(
    tmp_path: Path, text: str, encoding: str, kind: str
) -> None:
    """A `.env` under the name of a table, or linked there, is refused by what it is."""
    (tmp_path / ".env").write_text(text, encoding)
    file = tmp_path / ("a.yaml" if kind == "yaml" else "people.csv")
    file.symlink_to(tmp_path / ".env")
    with pytest.raises(BadInput) as wrong:
        if kind == "list":
            read_do_not_contact(file)
        elif kind == "yaml":
            read_campaigns(file)
        else:
            good = tmp_path / "good.yaml"
            good.write_text("campaign: a\nproject: {name: A}\nproblem: 1\n")
            read_campaigns(file, good)
    [problem] = wrong.value.problems
    assert problem.message == HOLDS_SECRETS


@pytest.mark.parametrize(
    "key",
    ["..", ".", "../a", "/tmp/a", "a/b", "a\\\\b", ".a", "a/../..", "-a", "~", "a\\0b", "CON/a"],
)
def test_a_key_names_no_other_folder(tmp_path: Path, key: str) -> None:
    """Results lie in a folder named after the key, so a key is a plain name."""
    file = tmp_path / "a.yaml"
    file.write_text(BAD.replace("campaign: a", f'campaign: "{key}"'))
    with pytest.raises(BadInput) as wrong:
        read_campaigns(file)
    assert any(problem.field == "campaign" for problem in wrong.value.problems)
