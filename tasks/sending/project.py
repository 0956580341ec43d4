"""The two single calls of a campaign: create its project, and add its one problem to it."""

from dataclasses import dataclass

from data.sending.claims import Claimed
from data.store.states import Operation
from data.store.tables import Campaign
from tasks.sending.sender import Learned, Prepared
from tasks.service import messages


@dataclass(frozen=True, slots=True)
class CreateProject:
    """Order: create the campaign's project (interface 4.3)."""

    campaign: Campaign
    operation: Operation = Operation.CREATE
    rows: tuple[int, ...] = ()

    def prepare(self, claimed: Claimed) -> Prepared:
        asked = self.campaign
        request = messages.create_project(
            asked.name, asked.description, asked.state, asked.starttime, asked.endtime
        )
        return Prepared(request, lambda seen: Learned(messages.read_project_id(seen.body)))


@dataclass(frozen=True, slots=True)
class AttachProblem:
    """Order: add the one problem to the project (interface 4.4, 4.7)."""

    project_id: int
    problem_id: int
    operation: Operation = Operation.ATTACH
    rows: tuple[int, ...] = ()

    def prepare(self, claimed: Claimed) -> Prepared:
        return Prepared(messages.attach_problem(self.project_id, self.problem_id))
