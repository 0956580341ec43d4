"""What is held about a person: told, forgotten, and not kept for longer than was said."""

import asyncio
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import xlsxwriter
from sqlalchemy import NullPool, create_engine, inspect, select, text, update

from config.errors import BadSettings
from config.settings import load_local, load_service
from data.campaigns import forgotten, intake, queries
from data.decisions.withdrawing import UNDER_WAY
from data.holds.rule import Cause
from data.own_files import CannotWrite
from data.privacy import forgetting
from data.privacy.disclosure import about
from data.privacy.traces import naming
from data.sending import runs
from data.store import clock, sqlite, tables
from data.store.ledger import Ledger
from data.store.states import SPELLING, By, Ending
from flows.pages.markdown import summary
from flows.run.ending import Finish
from flows.run.order import CampaignSource, RunContext, conduct
from sandbox.faults.faults import Fault
from tasks.outputs.links import FORGOTTEN
from tasks.outputs.writing_back import NOT_HERE
from tasks.retention import forget_due
from tasks.status.standing import counts_of
from tests.support.doubtful_campaign import (
    DEFINITION,
    EMAILS,
    KEY,
    DoubtfulCampaign,
)
from tests.support.ledgers.databases import ledger_at
from tests.support.ledgers.small_ledger import definition, intent

ADA, ZOE, GRACE = EMAILS
WORDS = ("Lovelace", "ada@example.com")


def forget(desk: DoubtfulCampaign, *words: object) -> str:
    answer = desk.type("forget", *words, "--why", "Ada Lovelace wrote to us", "--yes")
    assert answer.code == 0, answer.err
    return answer.out


def holding(folder: Path, word: str) -> set[str]:
    """The files below a folder in which a word is, whatever they are; its ledger counts as one.

    A number counts where it stands alone: in digests and parts of a second it is there by chance.
    """
    alone = rf"(?<![\w.:-]){word}(?![\w.:-])" if word.isdigit() else re.escape(word)
    wanted = re.compile(alone.encode(), re.IGNORECASE)
    files = [file for file in folder.rglob("*") if file.is_file()]
    found = {file.name for file in files if wanted.search(file.read_bytes())}
    return found | {"ledger.db"} if wanted.search(rows_of(folder).encode()) else found


def rows_of(folder: Path) -> str:
    """Everything in a folder's ledger as text: on a server it is in no file, in a file packed."""
    engine = create_engine(ledger_at(folder), poolclass=NullPool)
    with engine.connect() as desk:
        names = inspect(desk).get_table_names()
        rows = [desk.execute(text(f"SELECT * FROM {name}")).mappings().all() for name in names]
    # A process of ours may have any number, also that of a candidate.
    kept = (v for table in rows for row in table for name, v in row.items() if name != "pid")
    return "\n".join(f"\t{value}\t" for value in kept)


def counts(desk: DoubtfulCampaign) -> dict[str, int]:
    found = desk.type("status", KEY, "--json").object["counts"]
    assert isinstance(found, dict)
    return found


def go_on(desk: DoubtfulCampaign, key: str = KEY) -> Ending:
    """Run once more after somebody was forgotten: the service alone can say who that was."""
    with desk.ledger() as ledger:
        here = RunContext(ledger, load_service(), load_local())
        return asyncio.run(conduct(CampaignSource(desk.file, key), here)).ending


def edit(desk: DoubtfulCampaign, text: str = DEFINITION) -> None:
    """Another digest, so that the definition is read anew."""
    desk.file.write_text(text + "# another digest\n", encoding="utf-8")


# -- forgetting -------------------------------------------------------------------------------


def test_nothing_is_left_but_the_number(desk: DoubtfulCampaign) -> None:
    """Name, address, note and id are in no file of ours; the campaign counts what it did."""
    desk.run()
    assert desk.type("block", ADA, "--why", "Ada asked").code == 0
    assert desk.type("pause", KEY, "--why", "until Lovelace has called").code == 0
    assert desk.type("resume", KEY, "--why", "she did").code == 0
    words = (*WORDS, "5001")
    assert all(holding(desk.folder, word) >= {"ledger.db", "links.csv"} for word in words)
    before = counts(desk)
    said = forget(desk, ADA)
    assert f"{ADA}: forgotten in {KEY}" in said
    assert "candidate 5001 in project 101" in said
    assert f"still named in {desk.file}" in said
    for word in words:
        assert holding(desk.folder, word) <= {"hiring.yaml"}, word
    assert counts(desk) == before
    assert holding(desk.folder, "grace@example.com") >= {"ledger.db", "links.csv"}


def test_no_free_page_keeps_what_was_erased(tmp_path: Path) -> None:
    """A database only marks its pages as free: they are written anew, and the log is cut."""
    file = tmp_path / "ledger.db"
    with Ledger.open(f"sqlite:///{file}") as ledger:
        ledger.write_beside(
            runs.take_over, definition("ada", "bo", notes="Lovelace " * 2000), intent()
        )
        ledger.write(forgetting.forget, ["ada@example.com", "bo@example.com"], By("rita", "asked"))
        ledger.rewrite()
        assert holding(tmp_path, "Lovelace") == set()


def test_what_is_deleted_is_overwritten_whatever_sqlite_was_built_with(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        connection.execute("PRAGMA secure_delete=OFF")
        sqlite._durable(connection, None)
        assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)


def test_whoever_is_forgotten_meanwhile_is_not_taken_in(tmp_path: Path) -> None:
    """Between the reading of a sheet and the begin of its run somebody may be forgotten."""
    with Ledger.open(f"sqlite:///{tmp_path / 'ledger.db'}") as ledger:
        ledger.write(forgetting.forget, ["bo@example.com"], By("rita", "asked"))
        changes = ledger.write_beside(runs.take_over, definition("ada", "bo"), intent())
        assert [one.email1 for one in changes.new] == ["ada@example.com"]
        assert set(ledger.read(intake.everybody, 1)) == {"ada@example.com"}


def test_whoever_was_forgotten_is_not_invited_again(desk: DoubtfulCampaign) -> None:
    """Still in the sheet, in another campaign, on the list: left out, told without a name."""
    desk.run()
    forget(desk, "ADA@example.com")
    edit(desk)
    assert "1 person is forgotten on request" in desk.type("plan", desk.file).out
    assert go_on(desk) is Ending.COMPLETED
    edit(desk, DEFINITION.replace(KEY, "another").replace("problem: 42", "problem: 7"))
    [other] = desk.type("plan", desk.file, "--json").object["campaigns"]
    assert (other["forgotten"], other["invite"]) == (1, 2)
    edit(desk)
    go_on(desk)
    assert desk.emails() == dict.fromkeys(EMAILS, 1)
    assert holding(desk.folder, "Lovelace") == {"hiring.yaml"}
    assert desk.type("block", ADA, "--why", "to be sure").code == 0
    assert holding(desk.folder, "ada@example.com") == {"hiring.yaml"}


SPELLED = "Ada+2@example.com"


def other_spelling(desk: DoubtfulCampaign, also: str = "") -> None:
    """The next campaign lists Ada at another address of her mailbox."""
    people = "\n".join(line for line in DEFINITION.splitlines() if "Zo" not in line)
    edit(desk, people.replace(KEY, "another").replace(ADA, SPELLED) + f"\n{also}")


@pytest.mark.parametrize("before", [False, True])
def test_another_address_of_a_forgotten_mailbox_waits_for_a_person(
    desk: DoubtfulCampaign, before: bool
) -> None:
    """Whether it was there before or came later. Let in by name, it stays in."""
    desk.run()
    if before:
        other_spelling(desk, "invites: {send: false}\n")
        go_on(desk, "another")
    assert "ledger.db" not in forget(desk, ADA)
    other_spelling(desk)
    for _ in range(2):
        [plan] = desk.type("plan", desk.file, "--json").object["campaigns"]
        [hold] = [each for each in plan["held"] if each["email1"] == SPELLED]
        assert (hold["cause"], hold["why"]) == (Cause.FORGOTTEN, SPELLING)
        assert go_on(desk, "another") is Ending.NEEDS_ATTENTION
        assert SPELLED not in desk.emails()
    assert desk.type("withdraw", "another", SPELLED, "--why", "to be asked").code == 0
    once_more = ("resend", "another", SPELLED, "--why", "a colleague", "--yes")
    assert "is on the do-not-contact list" in desk.type(*once_more).err
    assert desk.type("block", SPELLED, "--lift", "--why", "a colleague").code == 0
    assert desk.type(*once_more).code == 0
    go_on(desk, "another")
    assert desk.emails()[SPELLED] == 1
    edit(desk, desk.file.read_text().replace(" another", " third").replace("m: 42", "m: 7"))
    assert desk.type("plan", desk.file, "--json").object["campaigns"][0]["held"] == []


def test_a_mailbox_stays_out_until_the_last_of_its_addresses_is_allowed(
    desk: DoubtfulCampaign,
) -> None:
    """A typo that is let in again takes nothing from whoever was meant."""
    forgotten_both = (ADA, "ada+9@example.com")
    desk.run()
    for address, code in zip(forgotten_both, (0, 3), strict=True):
        assert desk.type("forget", address, "--why", "asked", "--yes").code == code
    other_spelling(desk)
    for address, held in zip(forgotten_both, (1, 0), strict=True):
        assert desk.type("forget", address, "--allow-again", "--why", "typo").code == 0
        [plan] = desk.type("plan", desk.file, "--json").object["campaigns"]
        assert [hold["email1"] for hold in plan["held"]].count(SPELLED) == held


def test_whoever_was_blocked_at_another_address_is_named_to_whoever_forgets(
    desk: DoubtfulCampaign,
) -> None:
    """They are held already, but everything about them is still there."""
    desk.run()
    assert desk.type("block", ADA, "--why", "asked").code == 0
    answer = desk.type("forget", SPELLED, "--why", "asked", "--yes")
    assert (answer.code, f"campaign forget {ADA} " in answer.out) == (3, True)
    lifted = desk.type("block", SPELLED, "--lift", "--why", "x")
    assert (lifted.code, f"campaign block {ADA} --lift" in lifted.err) == (2, True)


def test_whoever_was_forgotten_is_called_so_and_offered_to_nobody(desk: DoubtfulCampaign) -> None:
    """In results beside the sheet, among the failed, in the plan (once), on Prefect's page."""
    desk.run(Fault("status", "invite", status=422, email=ZOE))
    forget(desk, ADA, ZOE)
    table = desk.folder / "people.csv"
    rows = "".join(f"A,B,{who}\n" for who in (*EMAILS, "new@example.com"))
    table.write_text(f"first_name,last_name,email1\n{rows}", encoding="utf-8")
    copy = desk.folder / "with-results.csv"
    said = desk.type("links", KEY, "--into", table, "-o", copy)
    assert f"2 forgotten, 1 invited, 1 {NOT_HERE}" in said.err
    assert len(said.err.splitlines()) == 1  # nobody is missed in the sheet
    lines = copy.read_text(encoding="utf-8-sig").splitlines()
    result = [f'"{FORGOTTEN.status}"', f'"{FORGOTTEN.why}"']
    assert [line.split(",")[-2:] for line in lines[1:3]] == [result] * 2
    failed = desk.folder / "failed.csv"
    desk.type("links", KEY, "--into", table, "--failed-only", "-o", failed)
    assert not any(who in failed.read_text(encoding="utf-8-sig") for who in (ADA, ZOE))
    plan = desk.type("plan", desk.file)
    assert plan.out.count("\n  forgotten ") == 1 and "2 people are forgotten" in plan.out
    assert not any(word in plan.out for word in ("[forgotten]", "removed", "withdrawn"))
    [seen] = desk.type("plan", desk.file, "--json").object["campaigns"]
    assert (seen["forgotten"], seen["removed"], seen["removed_before"]) == (2, [], [])
    with desk.ledger() as ledger:
        known = ledger.read(queries.find_campaign, KEY)
        assert known is not None
        end = Finish(KEY, Ending.COMPLETED, None, counts_of(ledger, known))
        page = summary(known, end, queries.candidates(ledger, known.id), [])
    assert len(re.findall(r"\b5003\b", page)) == 1 and "| [" not in page


def test_whoever_waited_or_was_in_doubt_gets_nothing_more(desk: DoubtfulCampaign) -> None:
    """Forgetting is the last word about a person: nothing is sent, nothing is left to settle."""
    desk.run(Fault("lost", "invite", email=ADA), Fault("status", "invite", status=422, email=ZOE))
    assert counts(desk)["unsure"] == 1
    forget(desk, ADA, ZOE)
    edit(desk)
    assert go_on(desk) is Ending.COMPLETED
    assert counts(desk)["unsure"] == counts(desk)["refused"] == 0
    assert desk.emails() == {GRACE: 1}


def test_a_corrected_person_is_one_person(desk: DoubtfulCampaign) -> None:
    """Both addresses go, whichever one is named."""
    desk.run()
    assert desk.type("correct", KEY, ADA, "ada@right.example.com", "--why", "a typo").code == 0
    desk.run()
    forget(desk, "ada@right.example.com")
    assert all(holding(desk.folder, one) <= {"hiring.yaml"} for one in (ADA, "ada@right"))
    edit(desk)
    go_on(desk)
    assert desk.emails()[ADA] == desk.emails()["ada@right.example.com"] == 1


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_pilot_is_forgotten_as_well(desk: DoubtfulCampaign, confirmed: bool) -> None:
    """Its address is in no file of ours any more; who was told what it means goes on."""
    edit(desk, f"{DEFINITION}invites: {{pilot: {ADA}}}\n")
    desk.run()
    if confirmed:
        assert desk.type("confirm", KEY).code == 0
    said = forget(desk, ADA)
    assert "ledger.db" not in said and holding(desk.folder, ADA) <= {"hiring.yaml"}
    if not confirmed:
        assert "The pilot was forgotten" in desk.type("confirm", KEY).err
    edit(desk, desk.file.read_text("utf-8"))
    go_on(desk)
    assert desk.emails() == (dict.fromkeys(EMAILS, 1) if confirmed else {ADA: 1})
    assert holding(desk.folder, ADA) <= {"hiring.yaml"}


def test_nobody_is_invited_because_the_reason_to_hold_them_was_forgotten(
    desk: DoubtfulCampaign,
) -> None:
    """Whether they are the same person nobody could tell any more, so a person decides first."""
    new = "ada@elsewhere.example"
    desk.run()
    edit(desk, DEFINITION.replace(ADA, new))
    go_on(desk)
    refused = desk.type("forget", ZOE, ADA, "--why", "asked", "--yes")
    assert (refused.code, f"{ADA} is why somebody" in refused.err) == (2, True)
    assert f"campaign status {KEY}" in refused.err and ZOE not in refused.err
    go_on(desk)
    assert new not in desk.emails() and holding(desk.folder, ADA)
    assert desk.type("withdraw", KEY, new, "--why", "the same person").code == 0
    forget(desk, ADA)
    go_on(desk)
    assert new not in desk.emails()


def test_both_addresses_of_a_person_are_forgotten_at_once(desk: DoubtfulCampaign) -> None:
    """Who is held because of the other is not held any more, and is not there any more either."""
    new = "ada@elsewhere.example"
    desk.run()
    edit(desk, DEFINITION.replace(ADA, new))
    go_on(desk)
    forget(desk, ADA, new)
    go_on(desk)
    assert new not in desk.emails()


def test_a_corrected_address_that_is_being_sent_to_is_named_by_the_one_typed(
    desk: DoubtfulCampaign,
) -> None:
    desk.run()
    right = "ada@right.example.com"
    assert desk.type("correct", KEY, ADA, right, "--why", "a typo").code == 0
    with desk.ledger() as ledger, ledger._transactions.writing() as connection:
        connection.exec_driver_sql(
            f"UPDATE candidate SET invite_state='sending' WHERE email_key='{right}'"
        )
    refused = desk.type("forget", ADA, "--why", "asked", "--yes")
    assert (refused.code, f"{ADA} {UNDER_WAY}" in refused.err) == (2, True)


def test_somebody_may_come_in_again_when_a_person_says_so(desk: DoubtfulCampaign) -> None:
    """Forgetting keeps out by a decision, and another decision lets in: as a new person."""
    desk.run()
    forget(desk, ADA)
    refused = desk.type("forget", ZOE, "--allow-again", "--why", "a mistake")
    assert (refused.code, "was not forgotten" in refused.err) == (2, True)
    let_in = desk.type("forget", ADA, "--allow-again", "--why", "she applied again")
    assert (let_in.code, f"but not {KEY}" in let_in.out) == (0, True)
    twice = desk.type("forget", ADA, "--allow-again", "--why", "she applied again")
    assert (twice.code, f"again already, but not by {KEY}" in twice.err) == (2, True)
    go_on(desk)
    assert desk.emails()[ADA] == 1  # an old sheet, read again, invites nobody twice
    edit(desk, DEFINITION.replace(KEY, "another").replace("problem: 42", "problem: 7"))
    [other] = desk.type("plan", desk.file, "--json").object["campaigns"]
    assert (other["forgotten"], other["invite"]) == (0, 3)


def test_whoever_is_not_let_in_again_takes_nobody_along(desk: DoubtfulCampaign) -> None:
    """Of several addresses all are let in, or none is; another spelling leads to the right one."""
    desk.run()
    forget(desk, ADA)
    refused = desk.type("forget", ADA, SPELLED, ZOE, "--allow-again", "--why", "she applied again")
    assert (refused.code, "nothing was decided" in refused.err) == (2, True)
    assert f"{SPELLED} was not forgotten, but another address of its mailbox was" in refused.err
    assert f"{ZOE} was not forgotten\n" in refused.err
    with desk.ledger() as ledger:
        assert ledger.read(forgotten.among, [ADA]) == {ADA}


def test_nobody_is_forgotten_by_a_slip(desk: DoubtfulCampaign) -> None:
    """It cannot be taken back, so a person is asked, and where nobody can be, must say so."""
    desk.run()
    unasked = desk.type("forget", ADA, "--why", "asked")
    assert (unasked.code, "--yes" in unasked.err) == (2, True)
    desk.at_terminal("no")
    assert desk.type("forget", ADA, "--why", "asked").code == 1
    wrong = desk.type("forget", "ada@", "--why", "asked", "--yes")
    assert (wrong.code, "ada@: wanted" in wrong.err) == (2, True)
    assert desk.steps(ADA) == ("done", "done")
    desk.at_terminal("yes")
    assert desk.type("forget", ADA, "--why", "asked").code == 0


def test_an_address_that_nobody_has_is_looked_at_by_a_person(desk: DoubtfulCampaign) -> None:
    """Most likely a slip, and whoever asked is still there: told, with how to take it back. The
    address is kept out all the same; typed again, or on the list alone, nobody need look."""
    desk.run()
    slip = desk.type("forget", "adda@example.com", ADA, "--why", "asked", "--yes")
    assert slip.code == 3
    assert f"adda@example.com: forgotten in {KEY}" not in slip.out
    assert f"{ADA}: forgotten in {KEY}" in slip.out
    assert "campaign forget adda@example.com --allow-again" in slip.out
    taken_back = desk.type("forget", "adda@example.com", "--allow-again", "--why", "a typo")
    assert (taken_back.code, "but not" in taken_back.out) == (0, False)
    assert desk.type("forget", "adda@example.com", "--why", "asked", "--yes").code == 3
    for_good = desk.type("forget", "adda@example.com", "--why", "asked", "--yes")
    assert (for_good.code, "was already forgotten" in for_good.out) == (0, True)
    with desk.ledger() as ledger:
        assert ledger.read(forgotten.among, ["adda@example.com"]) == {"adda@example.com"}
    assert desk.type("block", "bo@example.com", "--why", "asked").code == 0
    listed = desk.type("forget", "bo@example.com", "--why", "asked", "--yes")
    assert (listed.code, "bo@example.com: forgotten" in listed.out) == (0, True)


# -- telling ----------------------------------------------------------------------------------


def test_a_person_is_told_everything(desk: DoubtfulCampaign, tmp_path: Path) -> None:
    """Each campaign, request, decision and entry; nothing about anybody else."""
    desk.run(Fault("lost", "invite", email=ADA))
    assert desk.settle("--invites", "sent").code == 0
    assert desk.type("block", ADA, "--why", "asked us").code == 0
    held = desk.type("export", ADA).object
    [one] = held["campaigns"]
    assert (one["campaign"], one["first_name"], one["candidate_id"]) == (KEY, "Ada", 5001)
    assert [request["operation"] for request in one["requests"]] == ["add_candidates", "invite"]
    assert [(said["verdict"], said["who"]) for said in one["decisions"]] == [("sent", "rita")]
    assert [entry["why"] for entry in held["do_not_contact"]] == ["asked us"]
    assert "grace" not in str(held)
    assert desk.type("export", ADA, "-o", tmp_path / "ada.json").code == 0
    assert (tmp_path / "ada.json").stat().st_mode & 0o777 == 0o600
    forget(desk, ADA)
    after = desk.type("export", ADA)
    assert (after.object["campaigns"], after.object["do_not_contact"]) == ([], [])
    assert after.object["forgotten"] is not None


# -- how long ---------------------------------------------------------------------------------


def test_a_campaign_that_is_over_is_forgotten(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CAMPAIGN_KEEP counts from the last that happened; then nobody is named, results included.

    In that campaign nobody is invited again; another one may invite them.
    """
    monkeypatch.setenv("CAMPAIGN_KEEP", "30 days")
    desk.run()
    early = desk.type("forget", "--due")
    assert (early.code, KEY in early.out) == (0, False)
    desk.later(31 * 24 * 60)
    with desk.ledger() as ledger:
        told = forget_due(ledger, load_local(), clock.now())
        assert told == [f"{KEY}: 3 forgotten, as their time was over (CAMPAIGN_KEEP)"]
        assert forget_due(ledger, load_local(), clock.now()) == []
    assert all(holding(desk.folder, word) == {"hiring.yaml"} for word in WORDS)
    edit(desk)
    assert go_on(desk) is Ending.COMPLETED
    assert desk.emails() == dict.fromkeys(EMAILS, 1)
    edit(desk, DEFINITION.replace(KEY, "another").replace("problem: 42", "problem: 7"))
    [other] = desk.type("plan", desk.file, "--json").object["campaigns"]
    assert other["invite"] == 3


def test_a_campaign_whose_files_cannot_be_removed_stays_due(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder stands in their place: what is in the way is named, and the same command, typed
    again once it is gone, leaves nobody in any file."""
    monkeypatch.setenv("CAMPAIGN_KEEP", "30 days")
    desk.run()
    desk.later(31 * 24 * 60)
    table = desk.folder / "out" / KEY / "links.csv"
    table.unlink()
    table.mkdir()
    failed = desk.type("forget", "--due")
    assert (failed.code, f"{table} cannot be written" in failed.err) == (1, True)
    table.rmdir()
    assert f"{KEY}: 3 forgotten" in desk.type("forget", "--due").out
    assert all(holding(desk.folder, word) == {"hiring.yaml"} for word in WORDS)


def test_nobody_is_forgotten_who_came_since_the_look(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run begins between the look who is due and the forgetting: its people are invited."""
    monkeypatch.setenv("CAMPAIGN_KEEP", "30 days")
    desk.run()
    desk.later(31 * 24 * 60)
    tim = DEFINITION + "  - {first_name: Tim, last_name: B, email1: tim@example.com}\n"

    def meanwhile(_: Path) -> None:
        later = "invites: {not_before: 2090-01-09 09:00, timezone: UTC}\n"
        desk.file.write_text(tim + later, encoding="utf-8")
        assert desk.run().ending is Ending.NOT_YET

    monkeypatch.setattr("tasks.retention._remove", meanwhile)
    with desk.ledger() as ledger:
        assert forget_due(ledger, load_local(), clock.now()) == []
    desk.file.write_text(tim, encoding="utf-8")
    assert desk.run().ending is Ending.COMPLETED
    assert desk.emails() == {**dict.fromkeys(EMAILS, 1), "tim@example.com": 1}


def test_nobody_is_forgotten_before_their_time_came(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Invitations may wait for months, or for a person's look: nobody drops out meanwhile."""
    monkeypatch.setenv("CAMPAIGN_KEEP", "30 days")
    desk.run(Fault("lost", "invite", email=ADA), Fault("status", "invite", status=503, email=ZOE))
    assert counts(desk)["unsure"] == 2
    desk.later(31 * 24 * 60)
    with desk.ledger() as ledger:
        assert forget_due(ledger, load_local(), clock.now()) == []
    assert desk.settle("--invites", "again", "--why", "nothing arrived").code == 0
    desk.later(31 * 24 * 60)
    with desk.ledger() as ledger:
        assert forget_due(ledger, load_local(), clock.now()) == []
    desk.run()
    assert desk.emails() == dict.fromkeys(EMAILS, 1)


def test_whoever_was_forgotten_does_not_come_in_by_a_correction(desk: DoubtfulCampaign) -> None:
    """Somebody else's address was corrected to one that was to be forgotten: a person is told."""
    desk.run()
    elsewhere = "ada@elsewhere.example.com"
    forget(desk, ADA)
    assert desk.type("forget", elsewhere, "--why", "asked", "--yes").code == 3
    allows = f"campaign forget {elsewhere} --allow-again --why"
    never = "address, which was forgotten"
    for email, correct, withdraw in (
        (ADA, "another campaign", "another campaign"),
        (elsewhere, allows, never),
    ):
        for words, todo in (
            (("correct", KEY, ZOE, email), correct),
            (("withdraw", KEY, email), withdraw),
        ):
            refused = desk.type(*words, "--why", "a typo")
            assert (refused.code, todo in refused.err) == (2, True)
        blocked = desk.type("block", email, "--why", "x")
        assert (blocked.code, "if it is allowed again, block" in blocked.out) == (0, True)
        assert "nothing about" not in desk.type("export", email).err
    assert desk.steps(ZOE) == ("done", "done")
    assert desk.type(*allows.split()[1:], "a typo").code == 0
    assert desk.type("correct", KEY, ZOE, elsewhere, "--why", "a typo").code == 0


def test_forgetting_that_broke_off_is_finished_by_the_same_command(
    desk: DoubtfulCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The links could not be written at first: typed again, nobody is named in them."""
    desk.run()
    links = desk.folder / "out" / KEY
    with monkeypatch.context() as broken:
        broken.setattr("tasks.outputs.links.write_links", _cannot_write)
        failed = desk.type("forget", ADA, "--why", "asked", "--yes")
    assert (failed.code, "cannot be written" in failed.err) == (1, True)
    assert holding(links, ADA) == {"links.csv", "links.json"}
    forget(desk, ADA)
    assert holding(links, ADA) == set()


def test_what_the_service_has_is_told_whatever_is_in_the_way(
    desk: DoubtfulCampaign, tmp_path: Path
) -> None:
    """A link stands where the links are written: the service's candidate and the files are told
    all the same, with what to type again; that says where to look, and ends well once it can."""
    desk.run()
    links = desk.folder / "out" / KEY / "links.csv"
    links.rename(tmp_path / "mine.csv")
    links.symlink_to(tmp_path / "mine.csv")
    first = desk.type("forget", ADA, "--why", "asked", "--yes")
    assert (first.code, "candidate 5001 in project 101" in first.out) == (1, True)
    assert f"still named in {tmp_path / 'mine.csv'}" in first.out
    assert f"{links} cannot be written" in first.err
    assert f"campaign forget {ADA} --why asked" in first.err
    links.unlink()
    said = forget(desk, ADA)
    assert f"project 101 ({KEY})" in said
    assert holding(links.parent, ADA) == set()
    left = desk.type("clean-up", KEY).out
    assert "1 person was forgotten" in left and "in project 101" in left


def _cannot_write(*_: object) -> None:
    raise CannotWrite(Path("links.csv"), "no room")


@pytest.mark.parametrize("kind", ["utf-16 table", "workbook", "cut off workbook", "not a package"])
def test_whoever_is_still_named_somewhere_is_found(tmp_path: Path, kind: str) -> None:
    """As people's tables are: packed, in Windows' own Unicode, broken, or only called a package."""
    file = tmp_path / "people.xlsx"
    with xlsxwriter.Workbook(file) as book:
        book.add_worksheet().write(0, 0, "Ada@Example.com")
    whole = file.read_bytes()
    contents = {
        "utf-16 table": "Ada;Ada@Example.com".encode("utf-16"),
        "workbook": whole,
        "cut off workbook": whole[: len(whole) // 2],
        "not a package": b"PK\x05\x06" + bytes(18) + b"ada@example.com",
    }
    file.write_bytes(contents[kind])
    assert naming([ADA], [tmp_path]) == ([] if kind == "cut off workbook" else [file])


# Of no use to anybody who asks what is held about them: numbers that lead from row to row.
INNER = {
    *("id", "campaign_id", "email_key", "mailbox", "generation", "add_attempt", "invite_attempt"),
    *("allowed_attempt", "allowed_entry", "corrected_to"),
}


def test_every_column_is_told_to_the_person(desk: DoubtfulCampaign) -> None:
    """Whoever gives candidates another field tells it as well, or says here why not."""
    desk.run()
    with desk.ledger() as ledger, ledger._transactions.writing() as connection:
        [told] = about(connection, ADA)["campaigns"]
    assert set(tables.candidate.c.keys()) - told.keys() == INNER


def test_every_text_of_a_person_is_deleted(desk: DoubtfulCampaign) -> None:
    """Also in a column that candidates get later."""
    desk.run()
    person = tables.candidate
    of_model = tables.Candidate.model_fields.items()
    texts = {name for name, field in of_model if field.annotation in (str, str | None)}
    texts -= {"email_key", "add_state", "invite_state"}
    with desk.ledger() as ledger, ledger._transactions.writing() as connection:
        row = connection.scalar(select(person.c.id).where(person.c.first_name == "Ada"))
        marked = update(person).where(person.c.id == row).values(dict.fromkeys(texts, "Augusta"))
        connection.execute(marked)
    assert desk.type("forget", ADA, "--why", "asked", "--yes").code == 0
    with desk.ledger() as ledger, ledger._transactions.writing() as connection:
        after = connection.execute(select(person).where(person.c.id == row)).mappings().one()
    assert {name for name in texts if after[name] == "Augusta"} == set()
    assert len(texts) >= 7


def test_what_is_being_sent_is_not_forgotten(desk: DoubtfulCampaign) -> None:
    """Not before the run has ended: its answer must find its row."""
    desk.run()
    with desk.ledger() as ledger, ledger._transactions.writing() as connection:
        connection.exec_driver_sql("UPDATE candidate SET invite_state='sending' WHERE id=1")
    refused = desk.type("forget", ADA, "--why", "asked", "--yes")
    assert (refused.code, f"{ADA} {UNDER_WAY}" in refused.err) == (2, True)


@pytest.mark.parametrize("typed", ["3", "1 hour", "0 days", "20 years", "for ever"])
def test_an_unusable_time_is_a_setting_to_mend(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    """A slip would forget people too early, or never."""
    monkeypatch.setenv("CAMPAIGN_KEEP", typed)
    with pytest.raises(BadSettings) as refused:
        load_local()
    assert refused.value.variables == ("CAMPAIGN_KEEP",)
