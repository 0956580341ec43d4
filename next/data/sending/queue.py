"""What a run is about to send, as the ledger has it now."""

from data.campaigns.people import own_steps
from data.eligibility.due import due
from data.eligibility.turns import Turn, turn
from data.sending.runs import Running
from data.store.states import Op
from data.store.tables import Step


def waiting(run: Running, op: Op) -> list[int]:
    """The steps that may be claimed, in the order of the file."""
    with run.ledger.reading() as session:
        return [step.step_id for step in due(session, run.campaign.id, op)]


def whose_turn(run: Running) -> Turn:
    """Who may be invited, and why others wait."""
    with run.ledger.reading() as session:
        return turn(session, run.campaign.id)


def of_project(run: Running, op: Op) -> Step:
    """A step of the project itself."""
    with run.ledger.reading() as session:
        return own_steps(session, run.campaign.id)[op]
