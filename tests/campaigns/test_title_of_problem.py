"""A problem meant by its title keeps its id, whichever run looked it up, and whenever."""

from pathlib import Path

import pytest

from data.campaigns import queries
from data.decisions import settling
from data.decisions.verdicts import Decided
from data.store.states import By, Ending, Step, Word
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tests.support.campaigns import Office, people

ADA = people("ada")


@pytest.fixture
def office(tmp_path: Path):
    with Sandbox() as service:
        yield Office.at(tmp_path, service)


def leave_the_project_unsure(office: Office, title: str) -> Path:
    office.service.faults.add(Fault("lost", "create_project", after_work=True))
    file = office.write("a", ADA, problem=f"{{title: {title}}}")
    office.run(file)
    return file


def settle_the_project(office: Office) -> None:
    with office.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, "a")
        [doubt] = ledger.read(settling.find, campaign.id).steps
        seen = Decided(doubt.attempt, None, Word.ID, office.service.projects[0].id)
        ledger.write(settling.settle, campaign.id, [seen], By("Pat", "seen"), soon=False)


def test_a_title_written_while_the_project_was_unsure_is_looked_up_once_it_is_settled(office):
    """A title taken over while nothing could be sent still has its id to be found."""
    leave_the_project_unsure(office, "Two sum")
    file = office.write("a", ADA, problem="{title: Rate limiter}")
    assert office.run(file).ending is Ending.NEEDS_ATTENTION
    settle_the_project(office)
    assert office.run(file).ending is Ending.COMPLETED
    assert office.service.projects[0].problem_ids == [57]


def test_an_id_that_was_found_is_not_forgotten_by_a_run_that_had_no_need_of_it(office):
    """What one run looked up, another one that only takes rows over leaves in place."""
    leave_the_project_unsure(office, "Two sum")
    file = office.write("a", people("ada", "bo"), problem="{title: Two sum}")
    office.run(file)
    with office.ledger() as ledger:
        known = ledger.read(queries.find_campaign, "a")
        assert (known.problem_id, known.problem_state) == (42, Step.WAITING)
