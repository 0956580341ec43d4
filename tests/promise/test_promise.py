"""The checks of the promise see each thing that can break it, and nothing else.

A campaign is run as ever; then the ledger or the service's record is changed in one place.
"""

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import NullPool, create_engine, insert, text

from data.campaigns import queries
from data.store.ledger import Ledger
from data.store.tables import Decision
from sandbox.service.record import Record
from tests.promise.crashes.small_campaigns import KEY, Place, Scenario, new_ledger
from tests.promise.promise import (
    BrokenPromise,
    check_finished,
    check_promise,
    check_rest,
    check_times,
    doubts,
)


@dataclass(frozen=True)
class Finished:
    """A campaign that was run: three people invited."""

    place: Place
    record: Record

    def write(self, statement: str) -> None:
        """Change the ledger behind everybody's back."""
        engine = create_engine(self.place.url, poolclass=NullPool)
        with engine.begin() as connection:
            connection.execute(text(statement))

    def check(self) -> None:
        with Ledger.open(self.place.url, create=False) as ledger:
            check_promise(ledger, KEY, self.record, self.place.keys)

    def check_all(self) -> None:
        with Ledger.open(self.place.url, create=False) as ledger:
            check_rest(ledger, KEY)
            check_finished(ledger, KEY)
            check_times(ledger, KEY, self.record)
        self.check()


@pytest.fixture(scope="module")
def run_once(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    folder = tmp_path_factory.mktemp("promise")
    place = Place(folder, Scenario("all goes well", in_flight=1))
    place.set_up(new_ledger(folder))
    with place.scenario.sandbox() as service, Ledger.open(place.url) as ledger:
        place.conduct(service, ledger)
    return Finished(place, service.record)


@pytest.fixture
def finished(run_once: Finished, tmp_path: Path) -> Iterator[Finished]:
    """The same campaign, to be changed freely."""
    place = Place(tmp_path, run_once.place.scenario)
    place.set_up(run_once.place.url)
    record = Record()
    record.requests = [copy(each) for each in run_once.record.requests]
    for project in run_once.record.projects:
        record._apply("project", None, asdict(project))
    rows = [asdict(candidate) for candidate in run_once.record.candidates]
    record._apply("candidates", None, {"rows": rows})
    record.invitations = list(run_once.record.invitations)
    yield Finished(place, record)


def again(record: Record, operation: str) -> None:
    """Have the last request of an operation come in once more, with its effect."""
    last = record.of(operation)[-1]
    record.requests.append(replace(last, number=len(record.requests) + 1, at=datetime.now(UTC)))


BREAKS: dict[str, tuple[Callable[[Finished], object], str]] = {
    "an invitation twice": (
        lambda f: f.record.invitations.append(f.record.invitations[0]),
        "ada@example.com got 2 invitations, 1 allowed",
    ),
    "an invitation to another spelling": (
        lambda f: f.record.invitations.append(
            replace(f.record.invitations[0], email=" ADA@example.com")
        ),
        "ada@example.com got 2 invitations, 1 allowed",
    ),
    "an invitation to a stranger": (
        lambda f: f.record.invitations.append(
            replace(f.record.invitations[0], email="who@example.com")
        ),
        "who@example.com got 1 invitations, 0 allowed",
    ),
    "a person lost": (
        lambda f: f.write("DELETE FROM candidate WHERE email_key LIKE 'grace%'"),
        "grace@example.com is in the definition and not in the ledger",
    ),
    "a step of no name": (
        lambda f: f.write("UPDATE candidate SET invite_state = 'lost' WHERE id = 1"),
        "ada@example.com stands on 'lost'",
    ),
    "invited before added": (
        lambda f: f.write("UPDATE candidate SET add_state = 'waiting' WHERE id = 1"),
        "ada@example.com: the invitation is done, the add still waits",
    ),
    "an invitation that was not sent": (
        lambda f: f.record.invitations.pop(0),
        "ada@example.com is invited, the service sent no invitation",
    ),
    "an invitation forgotten": (
        lambda f: f.write("UPDATE candidate SET invite_state = 'waiting' WHERE id = 1"),
        "the invitation of ada@example.com is waiting, it was sent",
    ),
    "an invitation called refused": (
        lambda f: f.write("UPDATE candidate SET invite_state = 'refused' WHERE id = 1"),
        "the invitation of ada@example.com is refused, it was sent",
    ),
    "an add forgotten": (
        lambda f: f.write("UPDATE candidate SET add_state = 'refused' WHERE id = 1"),
        "the add of ada@example.com is refused, the service has done it",
    ),
    "another one's id": (
        lambda f: [
            f.write("UPDATE candidate SET candidate_id = NULL WHERE id = 3"),
            f.write("UPDATE candidate SET candidate_id = 5003 WHERE id = 1"),
        ],
        "ada@example.com is added as 5003, who is somebody else",
    ),
    "another project": (
        lambda f: f.write("UPDATE campaign SET project_id = 7"),
        "project 7 is done, the service has none of this id",
    ),
    "another problem": (
        lambda f: f.write("UPDATE campaign SET problem_id = 43"),
        "problem 43 is done, the service has it not in the project",
    ),
    "not sent, with an effect": (
        lambda f: f.write("UPDATE attempt SET state = 'not_sent' WHERE candidate_row = 1"),
        "invite of row 1: 1 effects, the journal allows 0 to 0",
    ),
    "done, with no effect": (
        lambda f: [setattr(each, "effect", False) for each in f.record.of("invite")],
        "invite of row 1: 0 effects, the journal allows 1 to 1",
    ),
    "a project without a claim": (
        lambda f: f.write("DELETE FROM attempt WHERE operation = 'create_project'"),
        "create_project: 1 requests came in, 0 were claimed",
    ),
    "an invitation without a claim": (
        lambda f: f.write("DELETE FROM attempt WHERE candidate_row = 2"),
        "invite of row 2: 1 requests came in, 0 were claimed",
    ),
    "an add of more than was claimed": (
        lambda f: f.write("UPDATE attempt SET rows = 1 WHERE operation = 'add_candidates'"),
        "1 adds of 2 came in, 0 were claimed",
    ),
    "a project twice": (
        lambda f: again(f.record, "create_project"),
        "create_project took effect 2 times",
    ),
    "a problem twice": (
        lambda f: again(f.record, "attach_problem"),
        "attach_problem took effect 2 times",
    ),
    "a candidate twice": (
        lambda f: f.record.candidates.append(f.record.candidates[0]),
        "ada@example.com was added 2 times",
    ),
    "sent without a campaign": (
        lambda f: f.write("DELETE FROM campaign"),
        "1 x create_project was sent for a campaign that is not in the ledger",
    ),
}


def test_a_campaign_that_went_well_keeps_the_promise(finished: Finished) -> None:
    """Nothing is found where nothing is wrong."""
    finished.check_all()


@pytest.mark.parametrize(("broken", "found"), BREAKS.values(), ids=BREAKS)
def test_each_break_is_found(
    finished: Finished, broken: Callable[[Finished], object], found: str
) -> None:
    """One thing that is wrong is said in words."""
    broken(finished)
    with pytest.raises(BrokenPromise) as error:
        finished.check()
    assert found in str(error.value).splitlines()


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE attempt SET state = 'sending' WHERE id = 6", "attempt 6 (invite)"),
        ("UPDATE candidate SET invite_state = 'sending' WHERE id = 2", "grace@example.com"),
        ("UPDATE campaign SET problem_state = 'sending'", "the project or its problem"),
    ],
)
def test_what_is_under_way_without_a_run_is_found(
    finished: Finished, statement: str, found: str
) -> None:
    """At rest nothing stands on sending."""
    finished.write(statement)
    with Ledger.open(finished.place.url) as ledger, pytest.raises(BrokenPromise) as error:
        check_rest(ledger, KEY)
    assert str(error.value) == f"{found} still stands on sending"


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE campaign SET project_state = 'waiting'", "the project is waiting"),
        ("UPDATE campaign SET problem_state = 'refused'", "the problem is refused"),
        ("UPDATE candidate SET add_state = 'waiting' WHERE id = 2", "the add of grace@example.com"),
        (
            "UPDATE candidate SET invite_state = 'waiting' WHERE id = 2",
            "the invitation of grace@example.com",
        ),
    ],
)
def test_who_waits_for_nothing_is_found(finished: Finished, statement: str, found: str) -> None:
    """A finished campaign leaves nobody waiting whose turn it is."""
    finished.write(statement)
    with Ledger.open(finished.place.url) as ledger, pytest.raises(BrokenPromise) as error:
        check_finished(ledger, KEY)
    assert str(error.value).startswith(found)


def test_a_request_before_its_claim_is_found(finished: Finished) -> None:
    """A claim that is younger than its request came too late."""
    finished.write("UPDATE attempt SET claimed_at = '2999-01-01 00:00:00' WHERE candidate_row = 1")
    with Ledger.open(finished.place.url) as ledger, pytest.raises(BrokenPromise, match="of row 1"):
        check_times(ledger, KEY, finished.record)


def test_a_decision_allows_one_invitation_more(finished: Finished) -> None:
    """A person may have somebody invited again, once for each decision."""
    with Ledger.open(finished.place.url) as ledger, ledger._transactions.writing() as connection:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        decided = {"campaign_id": campaign.id, "candidate_row": 1, "verdict": "again"}
        by = {"who": "me", "why": "asked for", "decided_at": datetime.now(UTC)}
        connection.execute(insert(Decision).values(**decided, **by))
    finished.write(
        "INSERT INTO attempt (campaign_id, candidate_row, generation, operation, rows, state,"
        " run_id, claimed_at) SELECT campaign_id, candidate_row, 2, operation, rows, state,"
        " run_id, claimed_at FROM attempt WHERE candidate_row = 1"
    )
    finished.record.requests.append(replace(finished.record.of("invite")[0], number=99))
    finished.record.invitations.append(finished.record.invitations[0])
    finished.check()
    finished.record.invitations.append(finished.record.invitations[0])
    with pytest.raises(BrokenPromise, match=r"ada@example\.com got 3 invitations, 2 allowed"):
        finished.check()


def test_doubts_are_counted_by_request(finished: Finished) -> None:
    """An add of two people is one doubt."""
    finished.write("UPDATE attempt SET state = 'unsure' WHERE operation = 'add_candidates'")
    with Ledger.open(finished.place.url) as ledger:
        assert doubts(ledger, KEY) == 2
