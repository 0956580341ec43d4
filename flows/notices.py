"""Messages to CAMPAIGN_NOTIFY_URL: each situation that needs a person is told once.

The key of a notice is its situation (campaign, kind of ending, fingerprint; or file, fingerprint),
however many runs meet it. reconcile.py sends again what the address has not taken yet.
"""

import asyncio
import logging
from pathlib import Path
from typing import Any

from prefect import Flow
from prefect.blocks.notifications import AppriseNotificationBlock, CustomWebhookNotificationBlock
from prefect.client.schemas.objects import FlowRun, State
from prefect.logging import get_logger
from pydantic import SecretStr
from sqlmodel import Session, col, select, update

from config.errors import Mistake, command, printable
from config.settings import settings
from data.store.lease import AtWork, lease
from data.store.ledger import Ledger
from data.store.tables import Notice, now
from flows.ending import Ending, fingerprint

PATIENCE = 20.0  # seconds in which the address has to take a message
TELLING = "notices to tell"  # the name of a lease; no campaign's key has spaces

# These loggers log addresses and passwords. Prefect resets their levels, but not their filters.
for _name in ("apprise", "httpx", "websockets.client"):
    logging.getLogger(_name).addFilter(lambda record: record.levelno >= logging.CRITICAL)


def note_situation(ending: Ending, *, typed: bool = False) -> None:
    """Write a notice of how a run ended, if somebody is needed for what no run met before, and
    nobody typed the run.

    What is over, and was not met again, has no notice any more: if that comes back, it is told.
    """
    met = dict.fromkeys(f"{ending.key} {ending.kind} {it}" for it in ending.situations or ("",))
    theirs = col(Notice.key).startswith(f"{ending.key} ", autoescape=True)
    with Ledger.open(settings().database_url, migrate=typed) as ledger, ledger.writing() as session:
        before = {each.key: each for each in session.exec(select(Notice).where(theirs))}
        over = tuple(f"{ending.key} {each}" for each in ending.over)
        for key in before.keys() - met:
            if key.startswith(over):
                session.delete(before[key])
        if ending.kind.needs_a_person and not typed:
            text = printable(f"{ending.key}: {ending}")  # one message tells of all
            session.add_all(Notice(key=key, text=text) for key in met if key not in before)


def add_notice(session: Session, key: str, text: str) -> bool:
    """Write a notice, unless its situation has one. Returns whether it is new."""
    is_new = session.get(Notice, key) is None
    if is_new:
        session.add(Notice(key=key, text=printable(text)))
    return is_new


def note_mistakes(ledger: Ledger, folder: Path, mistakes: list[Mistake]) -> list[Mistake]:
    """Write a notice of each new mistake in a file of the folder; returns these mistakes.

    The notice is deleted once the mistake is over. Until then the file `is_bad`.
    """
    found = {printable(f"{m.place.file}/{fingerprint([m.message])}"): m for m in mistakes}
    do = f"bad input. Type: {command('check', folder)}"
    with ledger.writing() as session:
        for notice in session.exec(select(Notice)):
            of = [*map(str, Path(notice.key).parents[:2])]  # the folder, or a file in it
            if printable(str(folder)) in of and notice.key not in found:
                session.delete(notice)
        return [m for key, m in found.items() if add_notice(session, key, f"{m.place.file}: {do}")]


def is_bad(ledger: Ledger, file: Path) -> bool:
    """Whether `campaign up` has told of a mistake that keeps it from running this file."""
    with ledger.reading() as session:
        keys = session.exec(select(Notice.key))
        return any(str(Path(key).parent) == printable(str(file.absolute())) for key in keys)


async def tell(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Send the notices that wait. Prefect calls this when a run fails; a typed run sends none."""
    del flow, state
    if flow_run.deployment_id is None:
        return
    with Ledger.open(settings().database_url, migrate=False) as ledger:
        await tell_waiting(ledger)


async def tell_waiting(ledger: Ledger) -> bool:
    """Send the notices that wait, in one process at a time. Returns False if some may be left."""
    try:
        await asyncio.to_thread(_tell_waiting, ledger)
        return True
    except AtWork:  # another process sends them
        return False
    except Exception as error:  # noqa: BLE001 - addresses fail in ways of their own
        # Only the class of the error: its message may contain the address, which is a secret.
        get_logger("campaign").warning("No notice could be sent yet (%s).", type(error).__name__)
        return False


def _tell_waiting(ledger: Ledger) -> None:
    url = settings().notify_url
    if url is None or not _waiting(ledger):
        return
    failed: dict[str, Exception] = {}
    with lease(ledger, TELLING):
        # Other processes may write notices meanwhile, and leave it to this one to send them.
        while left := [each.text for each in _waiting(ledger) if each.text not in failed]:
            try:
                asyncio.run(asyncio.wait_for(_send(url, left[0]), PATIENCE))
            except TimeoutError:  # each of the other notices would take as long
                raise
            except Exception as error:  # noqa: BLE001 - other notices may still be sent
                failed[left[0]] = error
                continue
            with ledger.writing() as session:
                same = col(Notice.text) == left[0]  # some may be over, and deleted, by now
                session.execute(update(Notice).where(same).values(told=now()))
    if failed:
        raise next(iter(failed.values()))


def _waiting(ledger: Ledger) -> list[Notice]:
    untold = select(Notice).where(col(Notice.told).is_(None)).order_by(Notice.key)
    with ledger.reading() as session:
        return list(session.exec(untold))


async def _send(url: SecretStr, text: str) -> None:
    if (address := url.get_secret_value()).startswith(("http://", "https://")):
        text_alone = {"text": "{{body}}"}
        hook = CustomWebhookNotificationBlock(
            name="campaign", url=address, json_data=text_alone, timeout=2 * PATIENCE
        )
        await hook.anotify(text)
        return
    box = AppriseNotificationBlock(url=url)  # mailtos://user:password@example.com?smtp=…&to=…
    with box.raise_on_failure():
        await box.anotify(text, subject=text.partition(". ")[0])
