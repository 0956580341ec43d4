"""People in several campaigns: held with the reason, let through by name, never invited twice."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from config.errors import CampaignError
from config.settings import load_local, load_service
from data.holds import do_not_contact
from data.holds.rule import Cause
from data.store import clock
from data.store.ledger import Ledger
from data.store.states import By, Ending, Operation
from flows.run import inviting
from flows.run.ending import Finish
from flows.run.order import RunContext, conduct
from sandbox.faults.faults import Fault
from tasks.plan.target import CampaignSource
from tasks.sending.sender import Sent
from tests.support.campaigns import Heard
from tests.support.doubtful_campaign import EMAILS, KEY, DoubtfulCampaign, doubtful

__all__ = ["doubtful"]

ADA, ZOE, GRACE = EMAILS
SECOND = "second"

# Where a ledger lies is all the same to what is only typed, shown or asked.
on_each_database = pytest.mark.usefixtures("each_database")


class TwoCampaigns:
    """A campaign of three people, and another one that wants some of them as well."""

    def __init__(self, desk: DoubtfulCampaign) -> None:
        self.desk = desk
        self.file = desk.folder / f"{SECOND}.yaml"
        self.write(ADA.upper(), "new@example.com")

    def write(self, *emails: str, problem: str = "42", more: str = "") -> None:
        """Write the second definition; it means people by address, however typed."""
        rows = "".join(
            f"  - {{first_name: F{n}, last_name: L, email1: {email}}}\n"
            for n, email in enumerate(emails)
        )
        self.file.write_text(
            f"campaign: {SECOND}\nproject: {{name: Second}}\nproblem: {problem}\n"
            f"candidates:\n{rows}{more}",
            encoding="utf-8",
        )

    def run(self, *faults: Fault) -> Finish:
        """Run the second one to its end."""
        self.desk.service.faults.clear()
        self.desk.service.faults.add(*faults)
        with self.desk.ledger() as ledger:
            return asyncio.run(conduct(CampaignSource(self.file, SECOND), desk_of(ledger)))

    def run_first(self) -> Finish:
        """Run the first one; the record is by then not of one campaign alone."""
        self.desk.service.faults.clear()
        with self.desk.ledger() as ledger:
            return asyncio.run(conduct(CampaignSource(self.desk.file, KEY), desk_of(ledger)))

    def status(self) -> dict[str, object]:
        answer = self.desk.type("status", SECOND, "--json").object
        assert isinstance(answer, dict)
        return answer

    def emails(self) -> dict[str, int]:
        """How many invitations each person got, by address in small letters."""
        return dict(Counter(one.email.lower() for one in self.desk.service.record.invitations))


def desk_of(ledger: Ledger, **more: object) -> RunContext:
    return RunContext(ledger, load_service(), load_local(), **more)  # type: ignore[arg-type]


@pytest.fixture
def two(doubtful: DoubtfulCampaign) -> TwoCampaigns:
    return TwoCampaigns(doubtful)


@on_each_database
def test_nobody_is_invited_to_one_problem_by_two_campaigns(two: TwoCampaigns) -> None:
    """Held, not added either, told with the reason and with what to type; exit code 3."""
    two.desk.run()
    end = two.run()
    assert end.ending is Ending.NEEDS_ATTENTION
    assert two.emails() == {ADA: 1, ZOE.lower(): 1, GRACE: 1, "new@example.com": 1}
    added = two.desk.service.record.of("add_candidates")[-1].body
    assert [row["email1"] for row in added] == ["new@example.com"]
    status = two.status()
    assert status["held"] == 1
    assert status["counts"]["waiting"] == 1  # type: ignore[index]
    [hold] = status["holds"]  # type: ignore[misc]
    assert hold == {"email1": ADA.upper(), "cause": "same problem", "until": None}
    [why] = [one["why"] for one in status["candidates"] if one["email1"] == ADA.upper()]  # type: ignore[attr-defined]
    assert why.startswith("held: ") and f" {KEY} on 2" in why
    said = two.desk.type("status", SECOND).out
    assert "2 candidates: 1 invited, 1 held" in said
    assert f"campaign allow {SECOND} EMAIL --why TEXT" in said
    assert f"campaign withdraw {SECOND} EMAIL --why TEXT" in said


@pytest.mark.parametrize("more", ["", "cooldown"])
def test_a_service_spelled_otherwise_is_the_same_one(
    two: TwoCampaigns, monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    """`localhost` for 127.0.0.1: nobody is invited to one problem twice, nor within a cooldown."""
    two.desk.run()
    if more:
        two.write(ADA, problem="43", more="invites: {cooldown: 30 days}\n")
    here = two.desk.service.base_url
    monkeypatch.setenv("ASSESSMENT_BASE_URL", here.replace("127.0.0.1", "LocalHost") + "/")
    assert two.desk.type("plan", two.desk.file).code == 0  # the first one goes on there as well
    assert two.run().ending is Ending.NEEDS_ATTENTION
    assert two.emails()[ADA] == 1
    assert two.status()["held"] == 1


def test_the_plan_and_the_run_agree_about_who_is_held(two: TwoCampaigns) -> None:
    """Before the first run, from the addresses alone; and afterwards from the ledger."""
    two.desk.run()
    for _ in range(2):
        [plan] = two.desk.type("plan", two.file, "--json").object["campaigns"]
        assert [(one["email1"], one["cause"]) for one in plan["held"]] == [
            (ADA.upper(), "same problem")
        ]
        requests = two.desk.service.api_requests()
        expected = (plan["add"], plan["invite"])
        before = len(two.emails())
        two.run()
        assert len(two.emails()) - before == expected[1]
    assert two.desk.service.api_requests() == requests  # the second time there was nothing to do
    said = two.desk.type("plan", two.file).out
    assert f"  held        {ADA.upper()}: " in said
    assert "Nothing to send" in said


@on_each_database
@pytest.mark.parametrize("fault", ["lost", "status"])
def test_doubt_holds_until_it_is_settled(two: TwoCampaigns, fault: str) -> None:
    """Who may have been invited is not invited; who was refused by the service is."""
    faults = {
        "lost": Fault("lost", "invite", email=ADA, after_work=False),
        "status": Fault("status", "invite", email=ADA, status=422),
    }
    two.desk.run(faults[fault])
    two.run()
    assert two.emails().get(ADA, 0) == (0 if fault == "lost" else 1)
    if fault == "lost":
        two.desk.later(16)
        assert two.desk.settle("--invites", "again", "--why", "nothing came").code == 0
        assert two.run().ending is Ending.COMPLETED
        assert two.emails()[ADA] == 1
        two.run_first()  # the first campaign asks again, and is too late
        assert two.emails()[ADA] == 1


def test_by_name_somebody_is_let_through_once(two: TwoCampaigns) -> None:
    """A recorded decision; the next run adds and invites, the one after that does nothing."""
    two.desk.run()
    two.run()
    answer = two.desk.type("allow", SECOND, ADA, "--why", "a second try")
    assert answer.code == 0
    assert answer.out.splitlines() == [
        f"{SECOND}: 1 person is no longer held",
        f"  send: campaign run {two.file}",
    ]
    assert two.desk.decisions() == [("allow", None, "rita", "a second try")]
    assert two.run().ending is Ending.COMPLETED
    assert two.emails()[ADA] == 2
    assert two.run().ending is Ending.COMPLETED
    assert two.emails()[ADA] == 2


def test_a_cooldown_holds_until_its_end(two: TwoCampaigns, monkeypatch: pytest.MonkeyPatch) -> None:
    """Invited to anything by any campaign; the date is told, and then the same command goes on."""
    two.write(ADA, problem="43", more="invites: {cooldown: 30 days}\n")
    two.desk.run()
    assert two.run().ending is Ending.NEEDS_ATTENTION
    assert two.emails()[ADA] == 1
    said = two.desk.type("status", SECOND).out
    assert "the cooldown of 30 days ends on 2" in said
    assert "held: wait until 2" in said
    two.desk.later(30 * 24 * 60 + 1)
    monkeypatch.setattr("tasks.sending.sender.now", clock.now)  # of the claim itself
    assert two.run().ending is Ending.COMPLETED
    assert two.emails()[ADA] == 2


def test_without_a_cooldown_another_problem_is_another_matter(two: TwoCampaigns) -> None:
    """Only the same problem holds always."""
    two.write(ADA, problem="43")
    two.desk.run()
    assert two.run().ending is Ending.COMPLETED
    assert two.emails()[ADA] == 2


@on_each_database
def test_a_problem_is_the_same_by_title_too(two: TwoCampaigns) -> None:
    """The id is known by the time that anybody is invited, whatever the plan could know."""
    two.write(ADA, problem="{title: Two sum}")
    two.desk.run()
    assert two.run().ending is Ending.NEEDS_ATTENTION
    assert two.emails()[ADA] == 1


def test_who_is_on_the_list_is_left_out_as_decided(two: TwoCampaigns) -> None:
    """A person has decided already: exit code 0, in words; lifted, the same command goes on."""
    answer = two.desk.type("block", ADA.upper(), "--why", "asked us to stop")
    assert answer.code == 0
    assert two.desk.run().ending is Ending.COMPLETED
    assert two.emails() == {ZOE.lower(): 1, GRACE: 1}
    said = two.desk.type("status", KEY).out
    assert "by rita: asked us to stop" in said
    assert f"campaign allow {KEY} EMAIL --why TEXT" in said
    assert ADA.upper() in two.desk.type("block").out
    assert two.desk.type("block", ADA, "--lift", "--why", "asked back").code == 0
    two.desk.run()
    assert two.emails()[ADA] == 1


def test_the_list_is_passed_over_by_name_only(two: TwoCampaigns) -> None:
    """For that campaign alone."""
    two.desk.type("block", ADA, "--why", "asked us to stop")
    two.desk.run()
    two.run()
    assert two.desk.type("allow", KEY, ADA, "--why", "she called").code == 0
    two.run_first()
    two.run()
    assert two.emails()[ADA] == 1
    assert two.status()["held"] == 1


@on_each_database
def test_somebody_blocked_while_a_run_is_at_work_is_not_invited(two: TwoCampaigns) -> None:
    """From the moment it is typed, whatever the run had planned."""
    blocked = []

    def hears(sent: Sent) -> None:
        if sent.operation is Operation.INVITE and not blocked:
            with two.desk.ledger() as ledger:
                blocked.append(
                    ledger.write(do_not_contact.block, {GRACE: GRACE}, By("rita", "just now"))
                )

    with two.desk.ledger() as ledger:
        asyncio.run(
            conduct(
                CampaignSource(two.desk.file, KEY), desk_of(ledger, observer=Heard(on_sent=hears))
            )
        )
    assert two.emails() == {ADA: 1, ZOE.lower(): 1}
    assert two.desk.steps(GRACE) == ("done", "waiting")


@on_each_database
@pytest.mark.parametrize("in_file", [False, True])
def test_no_other_spelling_of_a_listed_mailbox_is_invited(
    two: TwoCampaigns, monkeypatch: pytest.MonkeyPatch, in_file: bool
) -> None:
    """Plan and run say whose mailbox it is; a person may let them through."""
    if in_file:
        file = two.desk.folder / "stop.txt"
        file.write_text("not.me@gmail.com\n")
        monkeypatch.setenv("CAMPAIGN_DO_NOT_CONTACT", str(file))
    else:
        assert two.desk.type("block", "not.me@gmail.com", "--why", "asked us to stop").code == 0
    two.write("notme+2@googlemail.com", "me@gmail.com")
    for _ in range(2):
        [plan] = two.desk.type("plan", two.file, "--json").object["campaigns"]
        [hold] = plan["held"]
        assert (hold["email1"], hold["cause"]) == ("notme+2@googlemail.com", Cause.LISTED)
        assert "not.me@gmail.com, " in hold["why"]
        assert two.run().ending is Ending.COMPLETED
        assert two.emails() == {"me@gmail.com": 1}
    assert "not.me@gmail.com" in two.desk.type("status", SECOND).out
    assert two.desk.type("allow", SECOND, "notme+2@googlemail.com", "--why", "a twin").code == 0
    two.run()
    assert two.emails()["notme+2@googlemail.com"] == 1


def test_nobody_is_taken_off_the_list_without_a_name(two: TwoCampaigns) -> None:
    answer = two.desk.type("block", "--lift")
    assert (answer.code, "--lift " in answer.err) == (2, True)


# -- the list in a file -----------------------------------------------------------------------


@pytest.fixture
def listed(two: TwoCampaigns, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that the settings name."""
    file = two.desk.folder / "stop.txt"
    monkeypatch.setenv("CAMPAIGN_DO_NOT_CONTACT", str(file))
    return file


@on_each_database
def test_a_file_is_the_list_as_it_is_at_each_run(two: TwoCampaigns, listed: Path) -> None:
    """The plan looks into it as well; who is taken out of the file is free again."""
    listed.write_text(f"# no more\n{ADA.upper()}\n")
    [plan] = two.desk.type("plan", two.desk.file, "--json").object["campaigns"]
    assert [one["cause"] for one in plan["held"]] == [Cause.LISTED]
    assert plan["held"][0]["why"].endswith(" (stop.txt)")
    assert (plan["add"], plan["invite"]) == (2, 2)
    assert two.desk.run().ending is Ending.COMPLETED
    assert ADA not in two.emails()
    lift = two.desk.type("block", ADA, "--lift", "--why", "x")
    assert lift.code == 2
    assert "remove it there" in lift.err
    listed.write_text("# no more\n")
    [plan] = two.desk.type("plan", two.desk.file, "--json").object["campaigns"]
    assert (plan["held"], plan["invite"]) == ([], 1)
    two.desk.run()
    assert two.emails()[ADA] == 1


@pytest.mark.parametrize("content", [None, "", "ada@example.com\nnot an address\n"])
def test_a_list_that_cannot_be_read_stops_everything(
    two: TwoCampaigns, listed: Path, content: str | None
) -> None:
    """Read in part it would protect in part: told with its place, before any request."""
    if content is not None:
        listed.write_text(content)
    with two.desk.ledger() as ledger, pytest.raises(CampaignError) as refused:
        asyncio.run(conduct(CampaignSource(two.desk.file, KEY), desk_of(ledger)))
    assert refused.value.exit_code == 2
    assert two.desk.service.api_requests() == 0
    planned = two.desk.type("plan", two.desk.file)
    assert planned.code == 2
    assert "CAMPAIGN_DO_NOT_CONTACT: " in planned.err
    # Whoever has to be spared at once is, all the same.
    assert f"{GRACE}: no campaign" in two.desk.type("block", GRACE, "--why", "asked us to stop").out
    listed.unlink(missing_ok=True)
    listed.write_text("# nobody\n")
    assert GRACE in two.desk.type("block").out


def test_a_list_that_goes_bad_during_a_run_ends_it(
    two: TwoCampaigns, listed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the next wave, gently; mended, the same command goes on, and keeps to it."""
    monkeypatch.setattr(inviting, "PART", 1)
    listed.write_text("# nobody\n")

    def hears(sent: Sent) -> None:
        listed.unlink(missing_ok=True)

    with two.desk.ledger() as ledger:
        end = asyncio.run(
            conduct(
                CampaignSource(two.desk.file, KEY), desk_of(ledger, observer=Heard(on_sent=hears))
            )
        )
    assert end.ending is Ending.STOPPED
    assert end.reason is not None and "can no longer be read" in end.reason
    assert len(two.emails()) < 3
    listed.write_text(f"{GRACE}\n")
    assert two.desk.run().ending is Ending.COMPLETED
    assert two.emails() == {ADA: 1, ZOE.lower(): 1}


# -- two at once ------------------------------------------------------------------------------


@on_each_database
def test_two_campaigns_at_once_invite_nobody_twice(two: TwoCampaigns) -> None:
    """On one ledger, at the same moment, for one problem: everybody gets exactly one email."""
    names = [f"person{number}@example.com" for number in range(40)]
    two.write(*names)
    first = two.desk.folder / "first.yaml"
    first.write_text(
        two.file.read_text().replace(f"campaign: {SECOND}", "campaign: first"), encoding="utf-8"
    )

    async def both() -> list[Finish]:
        with two.desk.ledger() as one, two.desk.ledger() as other:
            return await asyncio.gather(
                conduct(CampaignSource(first, "first"), desk_of(one)),
                conduct(CampaignSource(two.file, SECOND), desk_of(other)),
            )

    ends = asyncio.run(both())
    assert two.emails() == dict.fromkeys(names, 1)
    assert sum(end.counts["invited"] for end in ends) == len(names)
    for end in ends:
        held = end.counts["candidates"] - end.counts["invited"]
        assert end.ending is (Ending.NEEDS_ATTENTION if held else Ending.COMPLETED)


# -- an approval ------------------------------------------------------------------------------


@on_each_database
def test_an_approval_covers_nobody_who_was_held_when_it_was_given(two: TwoCampaigns) -> None:
    """The plan tells how many are held; once one of them is free, it is another plan."""
    two.desk.type("block", ADA, "--why", "asked us to stop")
    two.write(ADA, "new@example.com", more="invites: {approval: required}\n")
    end = two.run()
    assert end.ending is Ending.AWAITS_APPROVAL
    assert end.plan is not None
    assert "held: 1 left out: " in end.plan.told
    assert "invite: 1 by email" in end.plan.told
    assert two.desk.type("approve", SECOND).code == 0
    two.desk.type("block", ADA, "--lift", "--why", "asked back")
    again = two.run()
    assert again.ending is Ending.AWAITS_APPROVAL
    assert two.emails() == {}


@on_each_database
def test_who_is_only_to_be_added_is_not_held_afterwards(two: TwoCampaigns) -> None:
    """A campaign that invites nobody has nothing more to do for who is in its project."""
    two.write(ADA, more="invites: {send: false}\n")
    assert two.run().ending is Ending.COMPLETED
    two.run_first()
    status = two.status()
    assert (status["held"], status["counts"]["waiting"]) == (0, 0)  # type: ignore[index]
    assert two.run().ending is Ending.COMPLETED
    [plan] = two.desk.type("plan", two.file, "--json").object["campaigns"]
    assert plan["held"] == []
