"""The order of the steps, judged by what the service received."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.errors import BadInput, BadSettings
from data.campaigns import queries
from data.own_files import CannotWrite
from data.store.states import Ending
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from sandbox.service.problems import problem
from tasks.plan.target import AnotherService
from tests.support.campaigns import Office, people, settings_of
from tests.support.ledgers.journal import attempts


@pytest.fixture
def service() -> Iterator[Sandbox]:
    with Sandbox() as running:
        yield running


@pytest.fixture
def office(tmp_path: Path, service: Sandbox) -> Office:
    return Office.at(tmp_path, service, candidates_per_request=2)


def test_everything_in_its_order_and_once(office: Office) -> None:
    """Project, problem, people in bulk, invitations; then links; and nothing the second time."""
    path = office.write("spring", people("ada", "grace", "edsger"))
    assert office.run(path).ending is Ending.COMPLETED
    assert office.changing()[:4] == [
        "create_project",
        "attach_problem",
        "add_candidates",
        "add_candidates",
    ]
    assert office.changing()[4:] == ["invite"] * 3
    before = office.service.api_requests()
    assert office.run(path).ending is Ending.COMPLETED
    assert office.service.api_requests() == before
    links = (office.folder / "out" / "spring" / "links.csv").read_text()
    assert links.count("/embedded/welcome?projectId=101&candidateId=500") == 3


def test_what_is_left_out_is_sent_as_the_interface_types_want_it(office: Office) -> None:
    """Empty texts, the campaign's default stage, and the one state the interface shows."""
    office.run(office.write("bare", people("ada"), more="stage_id: 7\n"))
    [create] = office.service.record.of("create_project")
    assert create.body == {
        "name": "Engineers",
        "description": "",
        "state": "open",
        "starttime": "",
        "endtime": "",
    }
    [add] = office.service.record.of("add_candidates")
    assert add.body == [
        {
            "first_name": "Ada",
            "last_name": "Example",
            "email1": "ada@example.com",
            "source": "",
            "notes": "",
            "stage_id": 7,
        }
    ]


def test_a_project_made_in_the_web_application_is_used(office: Office) -> None:
    """With an id nothing is created; with no problem named nothing is attached either."""
    made = office.service.create_interview("By hand", 42)
    path = office.write("adopted", people("ada"), project=f"{{id: {made.id}}}", problem="")
    assert office.run(path).ending is Ending.COMPLETED
    assert office.changing() == ["add_candidates", "invite"]
    [invitation] = office.service.record.invitations
    assert invitation.project_id == made.id


def test_a_project_gets_no_second_problem_through_another_campaign(office: Office) -> None:
    """A project can hold only one problem (interface 4.7, 8)."""
    made = office.service.create_interview("By hand")
    office.run(office.write("first", people("ada"), project=f"{{id: {made.id}}}"))
    second = office.write("second", people("grace"), project=f"{{id: {made.id}}}", problem="7")
    with pytest.raises(BadInput, match="nothing was sent"):
        office.run(second)
    assert office.changing().count("attach_problem") == 1


def test_add_and_link_only_then_invite(office: Office) -> None:
    """`invites: {send: false}` sends no email; taking it away later sends each exactly one."""
    quiet = office.write("quiet", people("ada", "grace"), more="invites: {send: false}\n")
    assert office.run(quiet).ending is Ending.COMPLETED
    assert office.emails() == {}
    assert "candidateId=5002" in (office.folder / "out" / "quiet" / "links.csv").read_text()
    assert office.run(office.write("quiet", people("ada", "grace"))).ending is Ending.COMPLETED
    assert office.emails() == {"ada@example.com": 1, "grace@example.com": 1}
    assert office.changing().count("create_project") == 1


def test_who_was_taken_out_of_the_sheet_is_not_invited(office: Office) -> None:
    """A removed row is left alone at every step it has not come to; back in, it goes on."""
    office.service.faults.add(Fault("status", "invite", status=403, email="grace@example.com"))
    assert office.run(office.write("sheet", people("ada", "grace"))).ending is Ending.STOPPED
    end = office.run(office.write("sheet", people("ada", "edsger")))
    assert (end.ending, end.removed) == (Ending.COMPLETED, 1)
    assert set(office.emails()) == {"ada@example.com", "edsger@example.com"}
    office.run(office.write("sheet", people("ada", "edsger", "grace")))
    assert set(office.emails().values()) == {1}
    assert "grace@example.com" in office.emails()


def test_a_doubt_about_somebody_taken_out_of_the_sheet_still_needs_a_look(office: Office) -> None:
    """They may have got an email: every run ends so, until a person has settled it."""
    lost = Fault("lost", "invite", email="grace@example.com", after_work=True)
    office.service.faults.add(lost)
    office.run(office.write("sheet", people("ada", "grace")))
    for _ in range(2):
        end = office.run(office.write("sheet", people("ada")))
        assert (end.ending, end.exit_code) == (Ending.NEEDS_ATTENTION, 3)
        assert end.counts["unsure"] == 1


def test_a_changed_row_is_reported_and_never_sent_again(office: Office) -> None:
    """The interface has no update: other wording of somebody who was added changes nothing."""
    office.run(office.write("worded", people("ada")))
    end = office.run(office.write("worded", "Augusta,King,ADA@example.com \n"))
    assert (end.ending, end.changed) == (Ending.COMPLETED, 1)
    assert office.changing().count("add_candidates") == 1
    assert office.emails() == {"ada@example.com": 1}


def test_a_refused_row_is_skipped_until_it_is_worded_otherwise(tmp_path: Path) -> None:
    """One bad row of a bulk add stands alone in the end; the others are added and invited."""
    with Sandbox(refuse_emails={"bad@example.com"}) as service:
        office = Office.at(tmp_path, service, candidates_per_request=8)
        names = ("ada", "grace", "bad", "edsger", "barbara")
        path = office.write("halved", people(*names))
        end = office.run(path)
        assert (end.ending, end.counts["refused"]) == (Ending.NEEDS_ATTENTION, 1)
        assert set(office.emails()) == {f"{n}@example.com" for n in names if n != "bad"}
        before = service.api_requests()
        assert office.run(path).ending is Ending.NEEDS_ATTENTION
        assert service.api_requests() == before
        mended = people(*names).replace("bad@", "good@")
        assert office.run(office.write("halved", mended)).ending is Ending.COMPLETED
        assert office.emails()["good@example.com"] == 1
        assert set(office.emails().values()) == {1}


def test_one_refusal_that_hits_everybody_stops_after_a_few_requests(tmp_path: Path) -> None:
    """A stage that does not exist refuses all alike: nobody is left out, and all wait."""
    with Sandbox() as service:
        office = Office.at(tmp_path, service, candidates_per_request=100)
        path = office.write("stage", people(*(f"person{number}" for number in range(250))))
        no = Fault("status", "add_candidates", status=422, count=None)
        for _ in range(2):
            service.faults.clear()
            service.faults.add(no)
            before = office.changing().count("add_candidates")
            end = office.run(path)
            assert end.ending is Ending.STOPPED
            assert str(end.reason).startswith("3 candidates ")
            assert "status 422" in str(end.reason)
            assert (end.counts["refused"], end.counts["waiting"]) == (0, 250)
            assert office.changing().count("add_candidates") - before <= 3 * 7
        service.faults.clear()
        assert office.run(path).ending is Ending.COMPLETED
        assert len(office.emails()) == 250 and set(office.emails().values()) == {1}


@pytest.mark.parametrize("bad", [range(3), range(40, 48), range(1, 60, 7), range(1, 60)])
def test_many_bad_rows_are_refused_alone_and_stop_nothing(tmp_path: Path, bad: range) -> None:
    """However they stand together: as long as the service adds anybody, they are to blame."""
    refused = {f"person{number}@example.com" for number in bad}
    with Sandbox(refuse_emails=refused) as service:
        office = Office.at(tmp_path, service, candidates_per_request=60)
        end = office.run(office.write("mixed", people(*(f"person{n}" for n in range(60)))))
        assert (end.ending, end.counts["refused"]) == (Ending.NEEDS_ATTENTION, len(bad))
        assert len(office.emails()) == 60 - len(bad)


@pytest.mark.parametrize("number", [1, 2])
def test_where_few_are_refused_they_are_refused(tmp_path: Path, number: int) -> None:
    """Two people alike prove nothing about everybody."""
    with Sandbox() as service:
        service.faults.add(Fault("status", "add_candidates", status=422, count=None))
        office = Office.at(tmp_path, service)
        end = office.run(office.write("few", people(*("ada", "bo")[:number])))
        assert (end.ending, end.counts["refused"]) == (Ending.NEEDS_ATTENTION, number)


def test_a_batch_too_large_for_the_service_is_halved(tmp_path: Path) -> None:
    """How many candidates fit a request is not shown (interface 8): a 413 is survived."""
    with Sandbox(max_candidates_per_request=3) as service:
        office = Office.at(tmp_path, service, candidates_per_request=10)
        names = [f"person{number}" for number in range(10)]
        assert office.run(office.write("large", people(*names))).ending is Ending.COMPLETED
        assert set(office.emails().values()) == {1}
        assert len(office.emails()) == len(service.candidates) == 10


@pytest.mark.parametrize(
    ("wanted", "exists"),
    [("{title: Two sum}", True), ("{title: Two sums}", False), ("{title: Twin}", False)],
)
def test_a_title_must_match_exactly_one(tmp_path: Path, wanted: str, exists: bool) -> None:
    """No problem, or two, with the title: bad input, before anything is sent or recorded."""
    listed = [problem(42, "Two sum"), problem(7, "Twin"), problem(8, "Twin")]
    with Sandbox(problems=listed) as service:
        office = Office.at(tmp_path, service)
        path = office.write("titled", people("ada"), problem=wanted)
        if exists:
            office.run(path)
            [attach] = service.record.of("attach_problem")
            assert attach.body == {"problemid": 42}
            return
        with pytest.raises(BadInput):
            office.run(path)
        assert office.changing() == []
        with office.ledger() as ledger:
            assert ledger.read(queries.every_campaign) == []


def test_another_service_is_another_campaign(office: Office, tmp_path: Path) -> None:
    """A campaign that the ledger has at one address is not run at another."""
    path = office.write("moved", people("ada"))
    office.run(path)
    with Sandbox() as other:
        elsewhere = Office(tmp_path, other, office.local)
        with pytest.raises(AnotherService, match="Nothing was sent"):
            elsewhere.run(path)
        assert other.api_requests() == 0


def test_a_campaign_goes_on_at_its_service_spelled_otherwise(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was sent there is not sent again, and who is new is invited."""
    office.run(office.write("moved", people("ada")))
    there = settings_of(office.service)
    spelled = there.base_url.replace("127.0.0.1", "localhost")
    other = there.model_copy(update={"base_url": spelled})
    monkeypatch.setattr("tests.support.campaigns.settings_of", lambda _: other)
    path = office.write("moved", people("ada", "bo"))
    assert office.run(path).ending is Ending.COMPLETED
    assert office.emails() == {"ada@example.com": 1, "bo@example.com": 1}
    assert len(office.service.projects) == 1


@pytest.mark.usefixtures("hasty")
def test_a_refused_token_is_renewed_once_for_all_in_flight(office: Office) -> None:
    """401 to everything in flight costs one refresh; the replays show in the journal."""
    office.service.faults.add(Fault("status", "invite", status=401, count=6))
    names = [f"person{number}" for number in range(6)]
    assert office.run(office.write("expired", people(*names))).ending is Ending.COMPLETED
    assert set(office.emails().values()) == {1}
    assert len(office.service.record.of("token")) == 2
    with office.ledger() as ledger:
        requests = ledger.read(attempts, 1)
        states = [row.state for row in requests if row.operation == "invite"]
        assert sorted(states) == ["done"] * 6 + ["not_sent"] * 6


def test_a_429_pauses_the_campaign(tmp_path: Path, service: Sandbox) -> None:
    """After a 429 nothing leaves before Retry-After has passed.

    Sent one by one: of several in flight nobody knows, from outside, which left before it was
    heard. The gate holds all of them (tests/tasks/sending/test_gate.py).
    """
    office = Office.at(tmp_path, service, invites_in_flight=1)
    service.faults.add(
        Fault("status", "invite", status=429, retry_after="1", email="person0@example.com")
    )
    names = [f"person{number}" for number in range(5)]
    assert office.run(office.write("throttled", people(*names))).ending is Ending.COMPLETED
    assert set(office.emails().values()) == {1}
    requests = service.record.of("invite")
    asked = next(request for request in requests if request.status == 429)
    later = [request.at for request in requests if request.number > asked.number]
    assert later
    assert all((at - asked.at).total_seconds() > 0.9 for at in later)


@pytest.mark.parametrize(
    ("setting", "rule"),
    [(20.0, ""), (None, "invites: {per_second: 20}\n"), (20.0, "invites: {per_hour: 360000}\n")],
)
def test_a_set_rate_is_kept_evenly(tmp_path: Path, setting: float | None, rule: str) -> None:
    """No more invitations per second than a person allowed, wherever they said so."""
    with Sandbox() as service:
        office = Office.at(tmp_path, service, invites_per_second=setting)
        names = [f"person{number}" for number in range(12)]
        path = office.write("slowly", people(*names), more=rule)
        assert office.run(path).ending is Ending.COMPLETED
        added = service.record.of("add_candidates")[-1].at
        came = [(each.at - added).total_seconds() for each in service.record.invitations]
        assert all(at > 0.99 * number / 20 for number, at in enumerate(came))


@pytest.mark.usefixtures("hasty")
def test_a_service_that_takes_no_invitation_is_not_asked_for_ever(office: Office) -> None:
    """Each is refused with a 421: the run stops with one person in doubt, and the others wait."""
    names = [f"person{number}" for number in range(6)]
    path = office.write("away", people(*names))
    office.service.faults.add(Fault("status", "invite", status=421, count=None))
    end = office.run(path)
    assert (end.ending, end.counts["waiting"], end.counts["unsure"]) == (Ending.STOPPED, 5, 1)
    office.service.faults.clear()
    assert office.run(path).ending is Ending.NEEDS_ATTENTION
    assert sorted(office.emails().values()) == [1] * 5


def test_ids_already_taken_are_not_believed(office: Office) -> None:
    """An add answered with ids that other people of the campaign have leaves those rows unsure."""
    path = office.write("taken", people("ada", "grace", "edsger", "barbara"))
    body = [
        {"email1": "edsger@example.com", "candidate_id": 5001},
        {"email1": "barbara@example.com", "candidate_id": 5009},
    ]
    office.service.faults.add(Fault("body", "add_candidates", skip=1, body=body))
    end = office.run(path)
    assert (end.counts["added"], end.counts["unsure"]) == (3, 1)
    assert office.emails()["ada@example.com"] == 1


def test_runs_share_nothing_but_the_ledger(office: Office) -> None:
    """Two runs of one campaign in one process, at the same time, invite everybody once."""
    path = office.write("twice", people(*[f"person{number}" for number in range(40)]))

    async def both() -> None:
        await asyncio.gather(*(asyncio.to_thread(office.run, path) for _ in range(2)))

    asyncio.run(both())
    assert len(office.emails()) == 40
    assert set(office.emails().values()) == {1}
    assert office.changing().count("create_project") == 1
    assert office.changing().count("attach_problem") == 1


def test_results_that_have_no_place_are_told_before_anything_is_sent(office: Office) -> None:
    """Else everybody would be invited first, and then the run would fail."""
    (office.folder / "out").write_text("a file")
    with pytest.raises(BadSettings, match="CAMPAIGN_OUTPUT_DIR"):
        office.run(office.write("nowhere", people("ada")))
    assert office.changing() == []


@pytest.mark.parametrize("place", ["linked", "linked/links.csv"])
def test_results_go_through_no_link(office: Office, place: str) -> None:
    """A link in the results that leads elsewhere: told before anything is sent, and not followed
    by a run that has nothing to send either."""
    path, elsewhere = office.write("linked", people("ada")), office.folder / "elsewhere"
    elsewhere.mkdir()
    link = office.folder / "out" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    with pytest.raises(BadSettings, match=f"{link} .*symbolic.* Nothing was sent.*_OUTPUT_DIR"):
        office.run(path)
    assert office.changing() == []
    link.unlink()
    assert office.run(path).ending is Ending.COMPLETED
    shutil.rmtree(office.folder / "out" / "linked")
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(elsewhere)
    with pytest.raises(CannotWrite, match=r"symbolic.*_OUTPUT_DIR, then run"):
        office.run(path)
    assert list(elsewhere.iterdir()) == []
