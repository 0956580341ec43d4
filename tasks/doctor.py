"""Check each thing that this installation needs: what is wrong, and how to fix it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, func, select

from config.errors import BadInput, CampaignError, some
from config.settings import Settings, service_settings, settings
from config.sheets.entries import read_entries
from data.store.ledger import Ledger, NoLedger
from data.store.tables import Campaign, Decision, Person, Run, now
from tasks.service.client import Service


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked: whether it works, and what there is to do."""

    name: str
    well: bool
    says: str
    then: str = ""

    @classmethod
    def of(cls, name: str, error: CampaignError) -> "Check":
        """The check that failed with this error."""
        more = [f'The service wrote: "{each}"' for each in error.service_words]
        more += [some([*map(str, error.mistakes)])] if isinstance(error, BadInput) else []
        return cls(name, False, " ".join([str(error), *more]), error.then)


async def examine(*, ask_the_service: bool = True) -> list[Check]:
    """Check settings, folders, ledger and, if asked, the service. It may migrate the ledger."""
    try:
        read = settings()
    except CampaignError as error:
        return [Check.of("settings", error)]
    found = [*_files(read), *_ledger(read)]
    try:
        complete = service_settings()
    except CampaignError as error:
        return [Check.of("settings", error), *found]
    found.insert(0, Check("settings", True, f"all six are set, for {complete.base_url}"))
    if ask_the_service:
        found.append(await _service(complete))
    return found


def _files(read: Settings) -> Iterator[Check]:
    if (listed := read.do_not_contact) is not None:
        try:
            says = f"{listed} has entries: {len({*read_entries(listed)}):,}"
            yield Check("CAMPAIGN_DO_NOT_CONTACT", True, says)
        except CampaignError as error:
            yield Check.of("CAMPAIGN_DO_NOT_CONTACT", error)


def _ledger(read: Settings) -> Iterator[Check]:
    try:
        with Ledger.open(read.database_url, create=False) as ledger, ledger.reading() as session:
            number = session.exec(select(func.count()).select_from(Campaign)).one()
            over = _kept_since(session, now() - read.keep) if read.keep else []
            yield Check("ledger", True, f"{ledger.place} holds campaigns: {number:,}")
    except NoLedger as none:
        yield Check("ledger", True, f"none yet; the first run makes {none.fields['place']}")
        return
    except CampaignError as error:
        yield Check.of("ledger", error)
        return
    if read.keep is not None:
        says = f"people are kept for longer in {', '.join(over)}" if over else "nobody for longer"
        then = "Remove each of them: campaign forget EMAIL" if over else ""
        yield Check("CAMPAIGN_KEEP", True, says, then)


def _kept_since(session: Session, moment: datetime) -> list[str]:
    """The older campaigns that have people, but no run or decision since, except to forget some."""
    ran = select(Run.campaign_id).where(col(Run.began) > moment)
    acts = select(Decision.campaign_id).where(col(Decision.at) > moment, Decision.word != "forget")
    people = select(Person.campaign_id).where(Person.email1 != "")
    still = select(Campaign.key).where(
        col(Campaign.created_at) <= moment,
        col(Campaign.id).in_(people),
        col(Campaign.id).not_in(ran),
        col(Campaign.id).not_in(acts.where(col(Decision.campaign_id).is_not(None))),
    )
    return list(session.exec(still.order_by(Campaign.key)))


async def _service(complete: Settings) -> Check:
    try:
        async with Service(complete) as service:
            problems = await service.problems()
    except CampaignError as error:
        return Check.of("service", error)
    return Check("service", True, f"the credentials work; it lists {len(problems):,} problems")
