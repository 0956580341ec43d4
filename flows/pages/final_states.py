"""The final state that Prefect shows of a run: named by its outcome, with words for a person."""

from typing import Any

from prefect.client.schemas.objects import State
from prefect.states import Cancelled, Completed, Failed

from config.command_line import command
from config.errors import CampaignError
from data.store.states import Ending
from flows.pages.seen import CANCELLED
from flows.run.ending import Finish
from tasks.shell import in_words

# Only a finished campaign reads as success; the others
# are Failed, so that a person is told of them.
COMPLETED = "Completed"
NEEDS_ATTENTION = "NeedsAttention"
WAITING_FOR_APPROVAL = "WaitingForApproval"
STOPPED = "Stopped"
BAD_INPUT = "BadInput"
NOT_YET = "NotYet"  # nothing is wrong and nobody is needed: invitations wait for their time


def state_of(end: Finish) -> State[Any]:
    """The final state of a run, with a message a person understands."""
    counts = end.counts
    invited = f"{counts.get('invited', 0):,} of {counts.get('candidates', 0):,} invited"
    if end.ending is Ending.COMPLETED:
        left_out = f", {end.held.number:,} left out as decided" if end.held.number else ""
        return Completed(name=COMPLETED, message=invited + left_out)
    if end.ending is Ending.NOT_YET:
        return Completed(name=NOT_YET, message=f"{invited}. {end.public_reason}")
    if end.ending is Ending.NEEDS_ATTENTION:
        words = f"{invited}, {counts['refused']:,} refused, {counts['unsure']:,} unsure"
        words += f", {end.held.number:,} held." if end.held.number else "."
        return Failed(
            name=NEEDS_ATTENTION,
            message=f"{words} To see who: {command('status', end.campaign)}",
        )
    if end.ending is Ending.AWAITS_APPROVAL:
        return Failed(name=WAITING_FOR_APPROVAL, message=end.public_reason)
    if end.reason == CANCELLED:
        return Cancelled(message=f"{invited}. {end.reason} What was recorded is safe.")
    return Failed(name=STOPPED, message=f"{invited}. {end.public_reason}")


def broken_off(error: Exception) -> State[Any]:
    """The final state of a run that an error ended: what a person typed wrong is bad input."""
    input_is_bad = isinstance(error, CampaignError) and error.exit_code == 2
    return Failed(name=BAD_INPUT if input_is_bad else STOPPED, message=in_words(error))
