"""A run that a signal ends while it waits for Prefect's server to record its last state.

Prefect reports that in a line of its own; the event loop would add the whole stack trace.
"""

import logging

from prefect.exceptions import TerminationSignal


def leave_its_stack_out() -> None:
    """Leave out the event loop's stack trace, in this process. Calling it again changes nothing."""
    logging.getLogger("asyncio").addFilter(_is_no_termination)


def _is_no_termination(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], TerminationSignal))
