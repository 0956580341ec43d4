"""Addresses that were wrong, and people who are out: what is sent, and what a person cleans up."""

import pytest
from sqlalchemy import select, update

from config.definition.sent_fields import FIELDS
from data.campaigns.intake import KEPT
from data.decisions import withdrawing
from data.sending import runs
from data.store.states import Ending
from data.store.tables import candidate
from sandbox.faults.faults import Fault
from tests.support.doubtful_campaign import DEFINITION, EMAILS, KEY, DoubtfulCampaign
from tests.support.doubtful_campaign import doubtful as desk
from tests.support.ledgers.databases import on_both

__all__ = ["desk"]

ADA, ZOE, GRACE = EMAILS
RIGHT = "ada@right.example.com"

# Where a ledger lies is all the same to what is only typed, shown or asked.
on_each_database = pytest.mark.usefixtures("each_database")


def only_added(desk: DoubtfulCampaign) -> None:
    """Everybody is in the project and nobody is invited yet."""
    desk.file.write_text(DEFINITION + "invites: {send: false}\n", encoding="utf-8")
    desk.run()
    desk.file.write_text(DEFINITION, encoding="utf-8")


def correct(desk: DoubtfulCampaign, old: str = ADA, new: str = RIGHT) -> str:
    answer = desk.type("correct", KEY, old, new, "--why", "a typo in the sheet")
    assert answer.code == 0, answer.err
    return answer.out


def plan(desk: DoubtfulCampaign) -> dict[str, object]:
    [seen] = desk.type("plan", desk.file, "--json").object["campaigns"]
    assert isinstance(seen, dict)
    return seen


def added(desk: DoubtfulCampaign) -> list[str]:
    requests = desk.service.record.of("add_candidates")
    return [row["email1"] for request in requests for row in request.body]


# What is said of a request or an address, not of the person.
ITS_OWN = {
    *("id", "email_key", "mailbox", "email1", "listed", "corrected_to", "why", "candidate_id"),
    *("add_state", "add_attempt", "invite_state", "invite_attempt", "generation"),
    *("allowed_attempt", "allowed_entry"),
}


# -- corrections ------------------------------------------------------------------------------


def test_another_address_of_one_mailbox_costs_a_second_email(desk: DoubtfulCampaign) -> None:
    """Said once the first was sent and another is to come, and undone as it is printed."""
    same = ADA.replace("@", "+new@")
    only_added(desk)
    correct(desk, new=same)
    assert "correct" not in correct(desk, same, ADA).partition("\n")[2]
    desk.run()
    said = correct(desk, new=same)
    assert f"second email; to undo this: campaign correct {KEY} {same} {ADA} --why TEXT" in said
    correct(desk, same, ADA)
    desk.run()
    assert desk.emails() == dict.fromkeys(EMAILS, 1)
    correct(desk, new=same)
    desk.run()
    assert "second email" not in correct(desk, same, ADA)  # both had theirs
    desk.run()
    assert desk.emails() == dict.fromkeys((*EMAILS, same), 1)


@on_each_database
def test_a_corrected_person_is_invited_at_the_right_address(desk: DoubtfulCampaign) -> None:
    """Added under the same name, invited once; the wrong address gets nothing more, ever."""
    desk.run()
    said = correct(desk)
    assert f"{KEY}: {ADA} was corrected to {RIGHT}" in said
    assert f"waiting: campaign run {desk.file}" in said
    assert f"remove by hand: campaign clean-up {KEY}" in said
    assert desk.run().ending is Ending.COMPLETED
    assert desk.emails() == {**dict.fromkeys(EMAILS, 1), RIGHT: 1}
    assert added(desk)[-1] == RIGHT
    last = desk.service.record.of("add_candidates")[-1].body[0]
    assert (last["first_name"], last["last_name"]) == ("Ada", "Lovelace")
    before = desk.service.api_requests()
    desk.run()
    assert desk.service.api_requests() == before
    assert desk.steps(ADA) == ("done", "withdrawn")
    [(word, row, who, why)] = desk.decisions()
    assert (word, who, why) == ("correct", "rita", "a typo in the sheet")
    assert row is not None


def test_the_plan_shows_what_is_sent_of_the_corrected_person(desk: DoubtfulCampaign) -> None:
    """Somebody else's address as an example would be taken for a second email to them."""
    desk.run()
    correct(desk, GRACE, RIGHT)
    [shown] = [line for line in desk.type("plan", desk.file).out.splitlines() if "  sent " in line]
    assert f"email1 ({RIGHT})" in shown


@pytest.mark.parametrize("sheet", ["old", "new", "both"])
@pytest.mark.parametrize("sent", ["nothing", "added", "invited"])
def test_the_sheet_may_say_either_address(desk: DoubtfulCampaign, sheet: str, sent: str) -> None:
    """With the old one it does not come back; with the new one it is the same person."""
    if sent == "added":
        only_added(desk)
    elif sent == "invited":
        desk.run()
    else:
        with desk.ledger() as ledger:
            _take_over(desk, ledger)
    correct(desk)
    text = DEFINITION if sheet != "new" else DEFINITION.replace(ADA, RIGHT)
    if sheet == "both":
        text += f"  - {{first_name: Ada, last_name: Lovelace, email1: {RIGHT}}}\n"
    desk.file.write_text(text + "# another digest\n", encoding="utf-8")
    seen = plan(desk)
    assert (seen["new"], seen["removed"], seen["returned"], seen["changed"]) == ([], [], [], [])
    old_is_there = sheet != "new"
    assert seen["corrected"] == ([{"email1": ADA, "instead": RIGHT}] if old_is_there else [])
    if old_is_there:
        assert f"{ADA}: {RIGHT} is used instead" in desk.type("plan", desk.file).out
    end = desk.run()
    assert end.corrected == int(old_is_there)
    assert desk.emails() == {
        ZOE: 1,
        GRACE: 1,
        RIGHT: 1,
        **({ADA: 1} if sent == "invited" else {}),
    }
    before = desk.service.api_requests()
    desk.run()
    assert desk.service.api_requests() == before


def _take_over(desk: DoubtfulCampaign, ledger: object) -> None:
    """The ledger knows everybody, and nothing was sent: the campaign is paused."""
    from config.settings import load_service
    from tasks.plan.target import CampaignSource, intent_of, look_up

    asked = CampaignSource(desk.file, KEY)
    wanted = look_up(asked, ledger, load_service())  # type: ignore[arg-type]
    assert wanted.definition is not None
    ledger.write_beside(
        runs.take_over, wanted.definition, intent_of(wanted, asked, load_service(), None)
    )  # type: ignore[attr-defined]


@on_each_database
def test_all_that_is_known_of_a_person_goes_with_the_new_address(desk: DoubtfulCampaign) -> None:
    """Also what the service is not told: without her time zone she was invited at night."""
    only_added(desk)
    of_her = {"source": "fair", "notes": "left-handed", "stage_id": 7, "timezone": "Asia/Tokyo"}
    assert {*of_her, "first_name", "last_name", "email1"} == {*FIELDS, *KEPT}, (
        "give it a value above"
    )
    with desk.ledger() as ledger, ledger._transactions.writing() as connection:
        hers = candidate.c.email1 == ADA
        connection.execute(update(candidate).where(hers).values(of_her))
    correct(desk)
    with desk.ledger() as ledger, ledger._transactions.writing() as connection:
        old, new = (
            connection.execute(select(candidate).where(candidate.c.email1 == address)).one()
            for address in (ADA, RIGHT)
        )
    other = {name for name, value in old._mapping.items() if new._mapping[name] != value}
    assert other <= ITS_OWN
    assert set(of_her) <= set(old._mapping) - ITS_OWN


def test_who_was_never_sent_to_is_simply_replaced(desk: DoubtfulCampaign) -> None:
    """There is nothing to remove in the web application."""
    with desk.ledger() as ledger:
        _take_over(desk, ledger)
    said = correct(desk)
    assert "remove by hand" not in said
    desk.run()
    assert sorted(added(desk)) == sorted([RIGHT, ZOE, GRACE])
    assert desk.type("clean-up", KEY, "--json").object["clean_up"] == []


@on_each_database
def test_an_address_is_corrected_again_and_back(desk: DoubtfulCampaign) -> None:
    """The last one counts; an address that comes back is taken up where it was left."""
    desk.run()
    correct(desk)
    correct(desk, RIGHT, "ada@third.example.com")
    desk.run()
    assert desk.emails() == {**dict.fromkeys(EMAILS, 1), "ada@third.example.com": 1}
    assert plan(desk)["corrected"] == [{"email1": ADA, "instead": "ada@third.example.com"}]
    correct(desk, "ada@third.example.com", ADA)
    assert desk.steps(ADA) == ("done", "done")
    desk.run()
    assert desk.emails()[ADA] == 1
    assert plan(desk)["corrected"] == []


@on_each_database
@pytest.mark.parametrize(
    ("each_database", "operation", "status"),
    on_both(
        [
            pytest.param(operation, status, id=f"{operation}-{status}")
            for operation, statuses in (
                ("add_candidates", (400, 403, None)),
                ("invite", (403, 404, None)),
            )
            for status in statuses
        ],
        6,
    ),
    indirect=["each_database"],
    scope="module",
)
def test_an_undone_correction_forgets_nobody(
    desk: DoubtfulCampaign, operation: str, status: int | None
) -> None:
    """Whatever provably did nothing, or a person says did nothing, is sent once after all."""
    if status is None:
        desk.run(Fault("lost", operation, count=1, after_work=False))
        desk.later(16)
        option = "--invites" if operation == "invite" else "--candidates"
        assert desk.settle(option, "again", "--why", "not there").code == 0
    else:
        desk.run(Fault("status", operation, status=status, count=None))
    assert ADA not in desk.emails()
    correct(desk)
    correct(desk, RIGHT, ADA)
    desk.run()
    assert desk.emails()[ADA] == 1


@on_each_database
@pytest.mark.parametrize("added", [True, False])
def test_an_undone_correction_leaves_what_was_doubtful_in_doubt(
    desk: DoubtfulCampaign, added: bool
) -> None:
    """Nobody has said that nothing happened, nor that it did: a person settles it as before."""
    operation = "invite" if added else "add_candidates"
    desk.run(Fault("lost", operation, email=ADA, after_work=added))
    correct(desk)
    correct(desk, RIGHT, ADA)
    emails = desk.emails()
    assert desk.run().ending is Ending.NEEDS_ATTENTION
    assert desk.emails() == emails
    assert desk.steps(ADA) == (("done", "unsure") if added else ("unsure", "waiting"))
    people = desk.type("status", KEY, "--json").object["candidates"]
    assert all(one["why"] for one in people if one["email1"] == ADA)
    desk.later(16)
    verdict = ("--invites", "sent") if added else ("--candidates", "again")
    assert desk.settle(*verdict, "--why", "looked").code == 0
    assert desk.run().ending is Ending.COMPLETED
    assert desk.emails() == dict.fromkeys(EMAILS, 1)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (ADA, ADA.upper(), f"{ADA.upper()} {withdrawing.SAME}"),
        (ADA, ZOE, f"{ZOE} {withdrawing.KNOWN}"),
        (ADA, "not an address", "wanted an email address"),
        ("nobody@example.com", RIGHT, "nobody@example.com: "),
    ],
)
def test_what_cannot_be_corrected_is_told(
    desk: DoubtfulCampaign, old: str, new: str, told: str
) -> None:
    """Exit code 2, and nothing is changed."""
    desk.run()
    answer = desk.type("correct", KEY, old, new, "--why", "x")
    assert answer.code == 2
    assert told in answer.err
    assert ("campaign withdraw" in answer.err) is (new == ZOE)
    assert desk.decisions() == []


def test_an_earlier_address_of_somebody_else_stays_theirs(desk: DoubtfulCampaign) -> None:
    """A slipped column: who had it before would be revived under it, and be lost themselves."""
    desk.run()
    assert desk.type("correct", KEY, ADA, RIGHT, "--why", "slip").code == 0
    answer = desk.type("correct", KEY, GRACE, ADA, "--why", "slip")
    assert (answer.code, f"{ADA} {withdrawing.OTHERS}" in answer.err) == (2, True)
    assert desk.run().ending is Ending.COMPLETED
    assert (desk.emails()[RIGHT], desk.emails()[ADA]) == (1, 1)


def test_a_corrected_address_takes_no_other_decision(desk: DoubtfulCampaign) -> None:
    """It is not sent to any more: what is decided is decided about the new one."""
    desk.run()
    correct(desk)
    for words in (
        ("withdraw", KEY, ADA, "--why", "x"),
        ("resend", KEY, ADA, "--why", "x", "--yes"),
        ("correct", KEY, ADA, "ada@third.example.com", "--why", "x"),
    ):
        answer = desk.type(*words)
        assert answer.code == 2, words
        assert f"{ADA} was corrected" in answer.err
    assert len(desk.decisions()) == 1


def test_a_doubt_is_settled_by_a_correction(desk: DoubtfulCampaign) -> None:
    """Whatever happened to the wrong address, nothing more is sent there, and nobody is asked."""
    desk.run(Fault("lost", "invite", email=ADA, after_work=True))
    correct(desk)
    assert [one[0] for one in desk.decisions()] == ["withdraw", "correct"]
    assert desk.run().ending is Ending.COMPLETED
    assert desk.emails() == {**dict.fromkeys(EMAILS, 1), RIGHT: 1}


@on_each_database
def test_a_row_with_the_old_address_gets_what_came_of_the_person(desk: DoubtfulCampaign) -> None:
    """In a copy of the sheet the new address, its link and its status stand beside the row."""
    table = desk.folder / "people.csv"
    table.write_text(f"first_name,last_name,email1\nAda,Lovelace,{ADA}\n", encoding="utf-8")
    desk.file.write_text(
        DEFINITION.partition("candidates:")[0] + "candidates: {file: people.csv}\n",
        encoding="utf-8",
    )
    desk.run()
    correct(desk)
    desk.run()
    copy = desk.folder / "result.csv"
    answer = desk.type("links", KEY, "--into", table, "-o", copy)
    assert answer.code == 0, answer.err
    row = copy.read_text("utf-8").splitlines()[1]
    assert "candidateId=5002" in row
    assert f'"invited","Corrected to {RIGHT}."' in row


# -- withdrawals --------------------------------------------------------------------------------


@on_each_database
def test_who_is_withdrawn_gets_nothing_more(desk: DoubtfulCampaign) -> None:
    """Added or not, invited or not; recorded with who and why; the others are invited."""
    only_added(desk)
    answer = desk.type("withdraw", KEY, ADA, ZOE.lower(), "--why", "took another job")
    assert answer.code == 0
    assert answer.out.startswith(f"{KEY}: 2 people are withdrawn\n")
    assert desk.run().ending is Ending.COMPLETED
    assert desk.emails() == {GRACE: 1}
    assert desk.steps(ADA) == ("done", "withdrawn")
    assert [one[0] for one in desk.decisions()] == ["withdraw", "withdraw"]
    assert desk.type("withdraw", KEY, GRACE, "--why", "took another job").code == 0
    items = desk.type("status", KEY, "--json").object["clean_up"]
    assert [(one["email1"], one["certain"], one["why"].partition(" in ")[2]) for one in items] == [
        (ADA, True, "project 101, withdrawn"),
        (ZOE, True, "project 101, withdrawn"),
        (GRACE, True, "project 101, withdrawn, was invited"),
    ]


def test_a_withdrawal_is_taken_back_by_name(desk: DoubtfulCampaign) -> None:
    """By `campaign resend`: exactly one email then."""
    only_added(desk)
    desk.type("withdraw", KEY, ADA, "--why", "took another job")
    desk.run()
    assert desk.type("resend", KEY, ADA, "--why", "is back", "--yes").code == 0
    desk.run()
    assert desk.emails() == dict.fromkeys(EMAILS, 1)


# -- what is left over ---------------------------------------------------------------------------


@on_each_database
def test_what_was_sent_again_after_doubt_may_be_there_twice(desk: DoubtfulCampaign) -> None:
    """A project, a problem and people: told as perhaps, with what is in use; then noted as done."""
    for operation in ("create_project", "attach_problem", "add_candidates"):
        desk.run(Fault("lost", operation, after_work=True))
        desk.later(16)
        option = {"create_project": "--project", "attach_problem": "--problem"}.get(
            operation, "--candidates"
        )
        assert desk.settle(option, "again", "--why", "not there").code == 0
    desk.run()
    items = desk.type("clean-up", KEY, "--json").object["clean_up"]
    assert [(one["what"], one["certain"], one["email1"]) for one in items] == [
        ("project", False, None),
        ("problem", False, None),
        ("double", False, ADA),
        ("double", False, ZOE),
        ("double", False, GRACE),
    ]
    record = desk.service.record
    assert len(record.projects) == 2  # it is as the list says
    said = desk.type("status", KEY).out
    assert 'project "Backend engineer": ' in said
    assert desk.type("clean-up", KEY, "--done", "--why", "looked").code == 0
    assert desk.type("clean-up", KEY, "--json").object["clean_up"] == []
    assert desk.type("status", KEY, "--json").object["clean_up"] == []


def test_who_is_on_the_list_is_not_sent_to_once_more_either(desk: DoubtfulCampaign) -> None:
    """A resend names a person, and still does not pass over that person's own word."""
    desk.run()
    desk.type("block", ADA, "--why", "asked us to stop")
    again = ("resend", KEY, ADA, "--why", "went to spam", "--yes")
    refused = desk.type(*again)
    assert refused.code == 2
    assert f"campaign allow {KEY} EMAIL" in refused.err
    assert desk.type("allow", KEY, ADA, "--why", "she called").code == 0
    assert desk.type(*again).code == 0
    desk.run()
    assert desk.emails()[ADA] == 2
