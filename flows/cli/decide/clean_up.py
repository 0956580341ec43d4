"""`campaign clean-up`: what a person must remove by hand in the web application."""

from typing import Annotated

import typer

from config.command_line import command
from flows.cli.arguments import Key, Who, Why, by
from flows.cli.ledgers import known_campaign
from flows.cli.see.status import clean_up_line
from flows.words.speech import answer_program, counted, say


def clean_up(
    key: Key,
    done: Annotated[
        bool, typer.Option("--done", help="You have removed all of this, or it was not there.")
    ] = False,
    why: Why = "",
    who: Who = None,
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
            ledger.write(cleaning.write_cleaned, campaign.id, items, by(who, why))
        left = [] if done else [item.as_json() for item in items]
    answer_program({"campaign": key, "clean_up": left})
    if done:
        gone = counted(len(items), "thing") if items else "nothing"
        say(f"{key}: {gone} marked as removed by hand")
    elif not items:
        say(f"{key}: nothing to remove by hand")
    else:
        where = f"{campaign.app_url}, " if campaign.app_url else ""
        say(
            f"{key}: remove these by hand in the web application ({where}project "
            f"{campaign.project_id or 'not known'})",
        )
        say(*(f"  {clean_up_line(item)}" for item in left))
        say(f"  when you have removed them: {command('clean-up', key, '--done')}")
    if forgotten:
        say(
            f"  {counted(forgotten, 'person was', 'people were')} forgotten: the service may "
            f"still have them in project {campaign.project_id}; their ids are no longer known here",
        )
