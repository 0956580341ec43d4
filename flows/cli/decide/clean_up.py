"""`campaign clean-up`: what a person must remove by hand in the web application."""

from typing import Annotated

import typer

from config.command_line import command
from data.store.states import By
from flows.cli.arguments import AsJson, Key
from flows.cli.known_campaign import known_campaign
from flows.cli.see.status import clean_up_line
from flows.cli.who import Who, login_name
from flows.words.speech import counted, print_json, say


def clean_up(
    key: Key,
    done: Annotated[
        bool, typer.Option("--done", help="You have removed all of this, or it was not there.")
    ] = False,
    why: Annotated[
        str, typer.Option(metavar="TEXT", help="The reason, recorded with the decision.")
    ] = "",
    who: Who = None,
    as_json: AsJson = False,
) -> None:
    """List what to remove by hand in the web application.

    It only lists: the service has no call that removes anything. When you have removed
    everything, type it again with --done.
    """
    from data.campaigns import forgotten as forgotten_people
    from data.decisions import cleaning

    with known_campaign(key) as (ledger, campaign):
        items = ledger.read(cleaning.find, campaign.id)
        forgotten = 0 if done else ledger.read(forgotten_people.added, campaign.id)
        if done and items:
            ledger.write(cleaning.write_cleaned, campaign.id, items, By(who or login_name(), why))
        left = [] if done else [item.as_json() for item in items]
    if as_json:
        print_json({"campaign": key, "clean_up": left})
    if done:
        gone = counted(len(items), "thing") if items else "nothing"
        say(f"{key}: {gone} marked as removed by hand", as_json=as_json)
    elif not items:
        say(f"{key}: nothing to remove by hand", as_json=as_json)
    else:
        where = f"{campaign.app_url}, " if campaign.app_url else ""
        say(
            f"{key}: remove these by hand in the web application ({where}project "
            f"{campaign.project_id or 'not known'})",
            as_json=as_json,
        )
        say(*(f"  {clean_up_line(item)}" for item in left), as_json=as_json)
        say(f"  when you have removed them: {command('clean-up', key, '--done')}", as_json=as_json)
    if forgotten:
        say(
            f"  {counted(forgotten, 'person was', 'people were')} forgotten: the service may "
            f"still have them in project {campaign.project_id}; their ids are no longer known here",
            as_json=as_json,
        )
