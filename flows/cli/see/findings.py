"""What the doctor looks at: settings and service, ledger and disk, packages, and Prefect."""

import asyncio
import os
import platform
import re
import shlex
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement
from sqlalchemy.engine import make_url

from config.command_line import command
from config.env_files import secrets_among
from config.errors import BadSettings, CampaignError
from config.folders import checkout
from config.settings import LocalSettings, load_local, service_source
from config.timetable.moments import in_zone
from data.campaigns import notices, queries, service_words
from data.decisions import settling
from data.receipts.receipt import Fit
from data.receipts.receipt_file import places
from data.store import closed
from data.store.backup import complaints
from data.store.clock import now
from data.store.ledger import Ledger
from data.store.opening import NoLedger
from data.store.states import Operation
from flows.cli.serve.serve import service_here
from flows.engine.prefect_settings import prepare
from flows.engine.worker_files import ELSEWHERE, left_in
from flows.words.doubts import in_calls
from flows.words.speech import counted, run_again
from tasks.plan.receipts import in_doubt, receipts_at
from tasks.service.verdict import ASKED
from tasks.status.health import Finding, How, ask, room, set_up_anew, well


def findings() -> Iterator[Finding]:
    """Look at one thing after the other."""
    try:
        local = load_local()
    except BadSettings as error:
        yield Finding("settings", How.MEND, str(error))
        return
    yield from _service(local)
    yield from _ledger(local)
    yield from _packages()
    yield _prefect()
    yield from _dead_letters()
    yield from _secrets()


def _service(local: LocalSettings) -> Iterator[Finding]:
    try:
        source = service_source()
        block = None if source else local.credentials_block
        settings = service_here()
    except CampaignError as error:
        yield Finding("settings", How.MEND, str(error))
        return
    there = f"the six ASSESSMENT_ settings are kept in Prefect, as {block}"
    yield well("settings", there if block else f"the six ASSESSMENT_ settings come from {source}")
    yield from asyncio.run(ask(settings, local, now()))


def _ledger(local: LocalSettings) -> Iterator[Finding]:
    """The ledger as a file, as a ledger, and the room that it and the results have."""
    address = make_url(local.database_url)
    in_a_file = address.get_backend_name() == "sqlite"
    file = Path(address.database or "")
    if in_a_file:
        yield from room({"ledger": file.parent, "results": local.output_dir})
    try:
        wrong = list(complaints(file)) if in_a_file and file.is_file() else []
        yield from (Finding("ledger", How.MEND, sentence, mend) for sentence, mend in wrong)
        if wrong:
            return
        with Ledger.open(local.database_url, create=False) as ledger:
            number = len(ledger.read(queries.every_campaign))
            yield well(
                "ledger", f"{ledger.place} can be opened; it has {counted(number, 'campaign')}"
            )
            ledger.read(closed.refuse_where_closed)
            yield from _untold(ledger)
            yield from _refused(ledger)
            yield from _doubts(ledger)
            yield from _receipts(ledger)
    except NoLedger:
        yield well("ledger", f"none at {file} yet; the first run creates it")
    except CampaignError as error:
        yield Finding("ledger", How.MEND, str(error))


def _untold(ledger: Ledger) -> Iterator[Finding]:
    if waiting := ledger.read(notices.waiting, now()):
        sentence = (
            f"{counted(len(waiting), 'message')} to CAMPAIGN_NOTIFY_URL could not be delivered"
        )
        mend = (
            "See whether the address still takes messages. It is tried again while this runs: "
            f"{command('up')}"
        )
        yield Finding("messages", How.LOOK, sentence, mend)


def _refused(ledger: Ledger) -> Iterator[Finding]:
    """Credentials that are good for a token and a list may be refused for other calls."""
    campaigns = {campaign.id: campaign for campaign in ledger.read(queries.every_campaign)}
    for last in ledger.read(service_words.refused_credentials):
        campaign = campaigns[last.campaign_id]
        at = in_zone(last.ended_at or last.claimed_at, campaign.timezone)
        sentence = (
            f"the service refused these credentials for {ASKED[Operation(last.operation)]} "
            f"(status {last.status}, in {campaign.key} at {at}), and none has succeeded since"
        )
        mend = (
            "Ask the operator of the service to allow this call, then type: "
            f"{command('run', *run_again(campaign))}"
        )
        yield Finding("credentials", How.MEND, sentence, mend, last.answer or None)


def _doubts(ledger: Ledger) -> Iterator[Finding]:
    for campaign in ledger.read(queries.every_campaign):
        if unsure := ledger.read(settling.find, campaign.id).steps:
            sentence = f"{campaign.key}: {in_calls(unsure)} unsure"
            yield Finding("doubts", How.LOOK, sentence, f"Type: {command('settle', campaign.key)}")


def _receipts(ledger: Ledger) -> Iterator[Finding]:
    """What keeps every run of a campaign from sending: this ledger may be an old copy."""
    for campaign in ledger.read(queries.every_campaign):
        file = Path(campaign.belongs_to or campaign.definition)
        beside = receipts_at(places(file, campaign.key, campaign.service).every)
        _, doubts = in_doubt(beside, campaign.key, campaign.service, ledger)
        if doubts:
            sentence = f"{campaign.key}: {LEDGERS[doubts[0].fit]} ({doubts[0].file})"
            run = command("run", *run_again(campaign))
            mend = f"A run sends nothing until you decide; it says how: {run}"
            yield Finding("receipts", How.MEND, sentence, mend)


LEDGERS = {
    Fit.OLDER_LEDGER: "by its receipt, this ledger is an old copy",
    Fit.ANOTHER_LEDGER: "by its receipt, it was sent from another ledger",
    Fit.UNREADABLE: "its receipt cannot be read",
}


def _packages() -> Iterator[Finding]:
    """Compare what is installed with what this program requires."""
    wrong = []
    for asked in map(Requirement, requires("hiring-campaigns") or ()):
        if asked.marker is not None and not asked.marker.evaluate({"extra": ""}):
            continue
        try:
            there = version(asked.name)
        except PackageNotFoundError:
            wrong.append(f"{asked.name} is not installed")
            continue
        if not asked.specifier.contains(there, prereleases=True):
            wrong.append(f"{asked.name} {there} is installed, but {asked.specifier} is needed")
    if wrong:
        mend = set_up_anew(Path(sys.prefix), checkout())
        yield Finding("packages", How.MEND, "; ".join(wrong), mend)
        return
    yield well("packages", f"all as required, on Python {platform.python_version()}")


def _prefect() -> Finding:
    prepare(quiet=True)
    from prefect.settings import get_current_settings

    from flows.cli.serve.serve import RefusedLogin, Server, look_at

    settings = get_current_settings()
    ours, api = version("prefect"), settings.api.url
    if not api:
        if (strange := _written_by_another()) is None:
            return well("prefect", f"{ours}; each run starts its own server")
        sentence = f"{ours} cannot use its database, written by another version: {strange}"
        mend = (
            "Move it away, or set PREFECT_HOME to another folder: no campaign needs what it holds."
        )
        return Finding("prefect", How.MEND, sentence, mend)
    how = look_at(api)
    if how is Server.WELL:
        return well("prefect", f"{ours}; the server at {api} answers")
    if how is Server.REFUSES:
        return Finding("prefect", How.MEND, f"{ours}, {api}: {RefusedLogin()}")
    if how is Server.OPEN:
        sentence = f"{ours}; the server at {api} answers without a login"
        mend = (
            "Anybody who can reach it can approve, settle, and start commands on the machines of "
            "its runs. Set "
            "PREFECT_SERVER_API_AUTH_STRING where it is started, and PREFECT_API_AUTH_STRING here."
        )
        return Finding("prefect", How.LOOK, sentence, mend)
    sentence = f"{ours}; the server at {api} does not answer"
    mend = "Start it, or remove PREFECT_API_URL: then each run starts its own server."
    return Finding("prefect", How.MEND, sentence, mend)


def _written_by_another() -> Path | None:
    """The file of Prefect's database, where its tables are of a version that is not installed."""
    from prefect.settings import get_current_settings

    address = get_current_settings().server.database.connection_url
    url = make_url(address.get_secret_value() if address else "sqlite://")
    file = Path(url.database or "")
    if url.get_backend_name() != "sqlite" or not file.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
            [(revision,)] = database.execute("SELECT version_num FROM alembic_version")
    except (sqlite3.Error, ValueError):
        return None  # a server that begins there makes its tables
    return None if installed(revision) else file


def installed(revision: str) -> bool:
    """Say whether the Prefect that is installed knows this version of its tables."""
    from prefect.server.database import _migrations

    # In the file itself: not every file's name has it.
    bears = re.compile(rf"^revision\b.*[\"']{re.escape(revision)}[\"']", re.MULTILINE)
    versions = Path(next(iter(_migrations.__path__))) / "versions" / "sqlite"
    return any(bears.search(file.read_text("utf-8")) for file in versions.glob("*.py"))


def _dead_letters() -> Iterator[Finding]:
    """The messages that Prefect's server was too busy to take, which it puts into a folder."""
    from prefect.settings import get_current_settings

    folder = get_current_settings().home / "dlq"
    if number := sum(1 for file in folder.glob("*") if file.is_file()):
        sentence = (
            f"Prefect's server was too busy to take {counted(number, 'message')}, kept in "
            f"{folder}, so its pages may be incomplete. No campaign needs these messages"
        )
        remove = f"rm -r {shlex.quote(str(folder))}"
        mend = f"For many campaigns at once, give it PostgreSQL. Then type: {remove}"
        yield Finding("prefect", How.LOOK, sentence, mend)


def _secrets() -> Iterator[Finding]:
    """Look for secrets where Prefect's worker writes them down, or would."""
    from prefect.settings import get_current_settings

    folder = Path(tempfile.gettempdir())
    if left := left_in(folder):
        folders = counted(len(left), "folder")
        hold = "holds" if len(left) == 1 else "hold"
        sentence = f"{folders} of Prefect's workers in {folder} {hold} a secret"
        shown = " ".join(map(str, left[:3])) + (" …" if len(left) > 3 else "")
        mend = f"When no worker is running here: rm -r {shown}\n{ELSEWHERE}"
        yield Finding("secrets", How.LOOK, sentence, mend)
    elif (named := secrets_among(os.environ)) and get_current_settings().api.url:
        stand, them = ("is", "it") if len(named) == 1 else ("are", "them")
        sentence = (
            f"{' and '.join(named)} {stand} in the environment; a worker with {them} there writes "
            f"{them} to its disk"
        )
        yield Finding("secrets", How.LOOK, sentence, ELSEWHERE)
