"""A run that a signal ends while Prefect's server lets it wait for its last state.

Prefect tells that in a line of its own; the event loop would add the whole stack.
"""

import logging

from prefect.exceptions import TerminationSignal


def leave_its_stack_out() -> None:
    """From now on, in this process; asked for again, it changes nothing."""
    logging.getLogger("asyncio").addFilter(_is_no_termination)


def _is_no_termination(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], TerminationSignal))
