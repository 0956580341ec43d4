"""No core dumps of this program: they would hold credentials and people's names."""


def forbid() -> None:
    """Keep this process, and every process it starts from now on, from writing one when it dies.

    Where the system has no such limit (Windows), nothing is done.
    """
    try:
        import resource  # noqa: PLC0415 - not everywhere
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
