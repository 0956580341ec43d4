"""How much reading a workbook may cost: memory, time, cells, and the size of the answer."""

from contextlib import suppress

MEMORY = 384 * 2**20
SECONDS = 15  # seconds of the reading process's own work; 100,000 people in six columns take three
MOST_CELLS = 20_000_000
MOST_BYTES = 128 * 2**20  # of its answer
# The limit above counts processor time; this one is for a machine that gives it hardly any.
PATIENCE = 600.0  # seconds


def limit() -> None:
    """Limit this process's memory and time, if the system can enforce that."""
    try:
        import resource  # noqa: PLC0415 - not everywhere
    except ImportError:
        return
    for what, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, SECONDS)):
        # Refused if there is already a lower limit, or if the system has no such limit.
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))
