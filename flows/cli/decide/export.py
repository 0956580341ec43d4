"""`campaign export`: everything the ledger has about one person, for somebody who asks."""

import json
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.addresses import addresses
from flows.cli.outputs import check_output, or_here
from flows.words.manner import for_program, manner
from flows.words.speech import complain, say


def export(
    email: Annotated[str, typer.Argument(metavar="EMAIL", help="The person's address.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", callback=or_here, help="The file to write."),
    ] = None,
) -> None:
    """Write everything that the ledger holds about a person.

    Every campaign, request, decision and entry of the do-not-contact list, as JSON. After a
    correction, what is recorded under the other address is included.
    """
    from config.settings import load_local
    from data.own_files import write_whole
    from data.privacy import disclosure
    from data.store.ledger import Ledger

    [(key, typed)] = addresses([email]).items()
    with Ledger.open(load_local().database_url, create=False) as ledger:
        check_output(output, ledger)
        held = ledger.read(disclosure.about, key)
    content = json.dumps({"email1": typed, **held}, indent=2)
    for_program(**held)
    if output is None and not manner().as_json:
        print(content)
    elif output is None:
        say(f"everything about {typed}")
    else:
        write_whole(output, content.encode() + b"\n")
        say(f"{output}: everything about {typed}")
    if not (held["campaigns"] or held["do_not_contact"]):
        complain(f"This ledger has nothing about {typed}.")
