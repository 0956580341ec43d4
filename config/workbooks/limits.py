"""How much reading a workbook may cost: memory, time, cells, and what the answer may weigh."""

from contextlib import suppress

MEMORY = 384 * 2**20
SECONDS = 15  # of the reading process's own work; 100,000 people in six columns take three
MOST_CELLS = 20_000_000
MOST_BYTES = 128 * 2**20  # of its answer
# The limit above is on its work; this one is for a machine that gives it hardly any time to work.
PATIENCE = 120.0  # seconds


def limit() -> None:
    """Let this process neither grow nor work without end, where the system can hold it to that."""
    try:
        import resource  # noqa: PLC0415 - not everywhere
    except ImportError:
        return
    for what, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, SECONDS)):
        # Refused where a lower limit stands already, or the system knows none.
        with suppress(ValueError, OSError):
            resource.setrlimit(what, (most, most))
