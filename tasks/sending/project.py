"""The two single calls of a campaign: create its project, and add its one problem to it.

Each reads what to send once it is claimed: from then on no other version of the definition changes
it in the ledger, so what the service has is what the ledger says.
"""

from dataclasses import dataclass

from config.errors import CampaignError
from data.campaigns import queries
from data.sending.claims import Claimed
from data.store.ledger import Ledger
from data.store.states import Operation
from tasks.sending.sender import Learned, Prepared
from tasks.service import messages


class ProblemChanged(CampaignError):
    """The problem that this run looked up is not the one that the definition names now."""


@dataclass(frozen=True, slots=True)
class CreateProject:
    """An order to create the campaign's project (interface 4.3)."""

    ledger: Ledger
    key: str
    operation: Operation = Operation.CREATE
    rows: tuple[int, ...] = ()

    def prepare(self, claimed: Claimed) -> Prepared:
        asked = self.ledger.read(queries.the_campaign, self.key)
        request = messages.create_project(
            asked.name, asked.description, asked.state, asked.starttime, asked.endtime
        )
        return Prepared(request, lambda seen: Learned(messages.read_project_id(seen.body)))


@dataclass(frozen=True, slots=True)
class AttachProblem:
    """An order to add the one problem to the project (interface 4.4, 4.7)."""

    ledger: Ledger
    key: str
    operation: Operation = Operation.ATTACH
    rows: tuple[int, ...] = ()

    def prepare(self, claimed: Claimed) -> Prepared:
        """Build the request. Raises ProblemChanged."""
        asked = self.ledger.read(queries.the_campaign, self.key)
        if asked.project_id is None or asked.problem_id is None:
            raise ProblemChanged(
                "The definition's problem changed during this run. Nothing more was sent; the same "
                "command continues from there."
            )
        return Prepared(messages.attach_problem(asked.project_id, asked.problem_id))
