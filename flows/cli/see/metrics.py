"""`campaign metrics`: where campaigns stand, for a monitoring system."""

from pathlib import Path
from typing import Annotated

from flows.cli.outputs import check_output, output_option
from flows.words.speech import say


def metrics(
    output: Annotated[
        Path | None,
        output_option("The file to write, for a collector that reads files."),
    ] = None,
) -> None:
    """Write the numbers of every campaign as OpenMetrics text.

    People by where they stand, requests and runs by how they ended. Names nobody. Reads only the
    ledger.
    """
    from config.settings import load_local
    from data.own_files import write_whole
    from data.store.ledger import Ledger
    from tasks.status.metrics import open_metrics

    with Ledger.open(load_local().database_url, create=False) as ledger:
        check_output(output, ledger)
        text = open_metrics(ledger)
    if output is None:
        print(text, end="")
    else:
        # A collector runs as somebody else, and nobody is named.
        write_whole(output, text.encode(), mode=0o644)
        say(f"{output} is written.")
