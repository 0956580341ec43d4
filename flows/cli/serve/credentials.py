"""`campaign credentials`: keep the service's settings in Prefect, for machines without them."""

from typing import Annotated

import typer

from flows.words.speech import say

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="The name to give them: lower-case letters, digits and dashes."
    ),
]


def credentials(name: Name) -> None:
    """Keep the six ASSESSMENT_ settings of this machine in Prefect.

    Encrypted, in Prefect's database. Runs elsewhere use them when CAMPAIGN_CREDENTIALS_BLOCK
    is set to NAME and none of the six is set there.
    """
    import asyncio

    from config.settings import load_service
    from flows.engine.prefect_settings import prepare

    prepare(quiet=True)
    from flows.cli.serve.serve import server_named
    from flows.engine.credentials import check_name, keep

    check_name(name)
    service = load_service()
    address = server_named()
    asyncio.run(keep(name, service))
    say(f"Kept at {address} as {name}. To use them in a run: CAMPAIGN_CREDENTIALS_BLOCK={name}")
