"""Promises 17 to 20: whom a run leaves out, and what it waits for."""

import signal
from datetime import UTC, datetime, timedelta

import pytest

from sandbox.faults import ALWAYS, late, status
from sandbox.sample_problems import problem
from tests.promises.support.commands import addresses
from tests.promises.test_sending import ONE_BY_ONE


def while_frozen(run, service, act):
    """Do something while a run that sends one by one waits for the answer to its second invite."""
    run.until(lambda: service.arrived("invite", 2)).send(signal.SIGSTOP)
    act()
    run.send(signal.SIGCONT)


def test_17_whoever_is_held_gets_nothing_until_a_person_lets_them_through(sandbox, campaign):
    service = sandbox()
    spring = campaign.write("spring", people=["invited@elsewhere.org", "forgotten@example.org"])
    assert campaign("run", spring, "--yes").code == 0
    forget = ("forget", "forgotten@example.org", "--why", "She asked for it", "--yes")
    assert campaign(*forget).code == 0
    bob = {"first_name": "Bob", "last_name": "Stone", "email1": "bob@typo.org"}
    people = ["ann@example.org", bob, "cleo@example.org", "dan@example.org"]
    file = campaign.write(people=people, in_a_table=True)
    assert campaign("run", file, "--yes", **ONE_BY_ONE).code == 0
    why = ("--why", "She has a job")
    assert campaign("withdraw", "hiring", "cleo@example.org", *why).code == 0
    assert campaign("block", "dan@example.org", "listed@example.org", *why).code == 0

    let_through = ["invited@elsewhere.org", "ann+jobs@example.org", "bob@right.org"]
    held = [*let_through, "forgotten@example.org", "listed@example.org"]
    held += ["cleo+new@example.org", "dan+new@example.org"]
    rows = [bob | {"email1": each} if each == "bob@right.org" else each for each in held]
    rows[0], rows[2] = rows[2], rows[0]
    bob_stands_second = [rows[1], rows[0], *rows[2:]]
    campaign.people([*bob_stands_second, "fine@example.org"])
    before = len(service.invited())
    assert campaign("run", file, "--yes", "--accept-removed").code == 3
    assert service.invited()[before:] == ["fine@example.org"]
    told = campaign.status()
    why_not = {one["email1"]: one["why"] for one in told["candidates"] if one["email1"] in held}
    assert all(why_not.values()), why_not

    allowed = campaign("invite", "hiring", *let_through, "--why", "We asked them")
    assert allowed.code == 0
    campaign("run", file, "--yes")
    assert sorted(service.invited()[before + 1 :]) == sorted(let_through)


def test_17_what_the_do_not_contact_file_once_listed_stays_listed(sandbox, campaign):
    service = sandbox()
    listing = campaign.folder / "do-not-contact.txt"
    listing.write_text("# asked\nperson1@example.org\n@corp.org\n")
    campaign.environment["CAMPAIGN_DO_NOT_CONTACT"] = str(listing)
    file = campaign.write(people=[*addresses(3), "somebody@corp.org"])
    for text in (listing.read_text(), "somebody@else.org\n"):
        listing.write_text(text)
        assert campaign("run", file, "--yes").code in (0, 3)
        assert sorted(service.invited()) == ["person0@example.org", "person2@example.org"]
    assert campaign("block", "--lift", "person1@example.org", "--why", "She agrees").code == 0
    assert campaign("run", file, "--yes").code in (0, 3)
    assert service.invited()[2:] == ["person1@example.org"]


def test_18_too_many_people_gone_stop_the_run_and_whoever_is_gone_is_never_invited(
    sandbox, campaign
):
    service = sandbox()
    file = campaign.write(people=10, invites={"send": False})
    assert campaign("run", file, "--yes").code == 0
    before = service.entries()
    file = campaign.write(people=7, project={"name": "Another name"})
    renamed = campaign("run", file, "--yes")
    stopped, again = (campaign.follow(renamed, "run") for _ in range(2))
    assert (renamed.code, stopped.code, again.code) == (2, 3, 3)
    assert service.entries() == before
    accepted = stopped.printed("run")
    assert "--accept-removed" in accepted
    assert campaign("status", "hiring").printed("run") == accepted
    campaign.type(f"{accepted} --yes")
    assert campaign("status", "hiring").code == 0
    assert sorted(service.invited()) == addresses(7)
    assert sorted(service.added()) == addresses(10)


def test_19_only_the_pilot_gets_an_email_before_approval(sandbox, campaign):
    service = sandbox()
    file = campaign.write(people=5, invites={"pilot": "me@example.org"})
    for _ in range(2):
        shown = campaign("run", file, "--yes")
        assert shown.code == 3
        assert service.invited() == ["me@example.org"]
    assert campaign.follow(shown, "approve").code == 0
    assert campaign("run", file, "--yes").code == 0
    assert sorted(service.invited()[1:]) == addresses(5)


def ends_or_waits(run, service, begun):
    """A run that waits for its time is stopped, when nothing more comes from it."""
    run.until(lambda: run.ended or (begun() and service.quiet(3)))
    run.send(signal.SIGTERM).end()


def today(days):
    return (datetime.now(UTC) + timedelta(days=days)).date().isoformat()


@pytest.mark.parametrize(
    ("invites", "emails"),
    [
        ({"not_before": "2040-01-01 09:00"}, 0),
        ({"not_after": "2020-01-01 09:00"}, 0),
        ({"hours": "Mon-Sun 00:00-24:00", "holidays": [today(-1), today(0), today(1)]}, 0),
        ({"per_hour": 3}, 3),
        ({"waves": [2, "rest"], "between": "2 days"}, 2),
    ],
    ids=["before the window", "after the window", "out of hours", "the rate", "a wave"],
)
def test_19_nobody_gets_an_email_out_of_time(invites, emails, sandbox, campaign):
    service = sandbox()
    file = campaign.write(people=7, invites=invites | {"timezone": "Europe/Paris"})
    for _ in range(2):
        begun = service.invited if emails else service.added
        ends_or_waits(campaign.start("run", file, "--yes"), service, begun)
        assert min(emails, 1) <= len(service.invited()) <= emails


def test_19_a_pause_holds_within_one_request(sandbox, campaign):
    service = sandbox(invite=late(9, at=2))
    file = campaign.write(people=9)
    run = campaign.start("run", file, "--yes", **ONE_BY_ONE)
    while_frozen(run, service, lambda: campaign("pause", "hiring"))
    assert run.end().code in (1, 3)
    assert 2 <= len(service.invited()) <= 3
    before = service.entries()
    paused = campaign("run", file, "--yes")
    assert paused.code in (1, 3)
    assert service.entries() == before
    assert campaign.follow(paused, "resume").code == 0
    assert campaign("run", file, "--yes").code == 0
    assert sorted(service.invited()) == addresses(9)


def test_20_an_approval_is_for_exactly_what_was_shown(sandbox, campaign):
    approved = {"approval": "required", "timezone": "Europe/Paris"}
    wanted = {"problem": {"title": "Two sum"}, "invites": approved}
    service = sandbox()
    file = campaign.write(people=3, **wanted)

    def a_byte():
        file.write_text(f"{file.read_text()}# checked\n")

    def the_people():
        campaign.write(people=4, **wanted)

    def the_times():
        later = approved | {"not_after": "2040-01-01 09:00"}
        campaign.write(people=4, **wanted | {"invites": later})

    def the_problem():
        moved = [problem(42, "Two sums"), problem(57, "Two sum")]
        service.faults["problems"] = status(200, body=moved, times=ALWAYS)

    shown = campaign("run", file, "--yes")
    for change in (a_byte, the_people, the_times, the_problem):
        assert shown.code == 3, change
        assert campaign.follow(shown, "approve").code == 0
        change()
        shown = campaign("run", file, "--yes")
        assert service.changes() == [], change
    assert campaign("withdraw", "hiring", addresses(4)[0], "--why", "ill").code == 0
    shown = campaign.follow(campaign("status", "hiring"), "run")  # of the plan as it is now
    assert campaign.follow(shown, "approve").code == 0
    other_service = sandbox()
    assert campaign("run", file, "--yes").code in (1, 2, 3)
    assert service.changes() == other_service.changes() == []

    campaign.environment.update(service.settings)
    shown = campaign("run", file, "--yes")
    if shown.code == 3:
        campaign.follow(shown, "approve")
        assert campaign("run", file, "--yes").code == 0
    assert sorted(service.invited()) == addresses(4)[1:]
    assert [each["body"] for each in service.entries("attach")] == [{"problemid": 57}]
