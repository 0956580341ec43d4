"""What a definition asks for, in the words in which it will be sent."""

from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from config.definition.model import Definition, ProblemById, ProblemByTitle
from config.errors import BadInput, CampaignError
from config.mistakes import Mistake, Place
from config.reading.reading import Reading, judged
from config.reading.sources import sources_of
from config.service_address import same_service
from config.settings import ServiceSettings
from data.campaigns import forgotten as forgotten_people
from data.campaigns import queries
from data.campaigns.intake import Intent, latest_reading
from data.campaigns.same_campaign import refuse_another
from data.campaigns.whose_turn import kept
from data.store.ledger import Ledger
from data.store.states import Step
from data.store.tables import Campaign
from tasks.service.messages import service_date


class Rewritten(BadInput):
    """The file has changed since the plan that this run should carry out."""


class AnotherService(CampaignError):
    """The ledger has this campaign at another address than the settings."""


@dataclass(frozen=True, slots=True)
class CampaignSource:
    """One campaign of a file. `campaign` picks one of several; None if there is just one.

    `definition` goes with a bare table of candidates, `sheet` is the sheet of people that a person
    named. `keep_project`: a person said that it is the same campaign, whatever project and problem
    it names now. `digest` identifies the bytes that were shown or read before; None: any bytes.
    """

    file: Path
    campaign: str | None = None
    definition: Path | None = None
    keep_project: bool = False
    digest: str | None = None
    sheet: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """What is asked for now. `definition` None: the ledger has stored the same bytes before.

    `service` is the base URL of the settings, `forgotten` counts people of the definition who were
    forgotten and are not in it any more, `doubtful` the places of the file to look at. `since` is
    the ledger's `latest_reading` before the file was read.
    """

    key: str
    digest: str
    definition: Definition | None
    known: Campaign | None
    service: str = ""
    forgotten: int = 0
    doubtful: int = 0
    since: int | None = None

    @property
    def timezone(self) -> str | None:
        """In which its people read times; None: that of this machine."""
        if self.definition is not None:
            return self.definition.timezone
        return self.known.timezone if self.known else None


def look_up(asked: CampaignSource, ledger: Ledger, service: ServiceSettings) -> Target:
    """Read what is asked for, or recognise it by its bytes. The file is read once, and everything
    that follows uses that. Raises BadInput, AnotherCampaign, AnotherService.
    """
    since = ledger.read(latest_reading)  # before the file: what is stored later may be newer
    sources = sources_of(asked.file, asked.definition, asked.sheet)
    digest = sources.digest
    if asked.digest not in (None, digest):
        message = "this file has changed since it was read; check it again before you send it"
        raise Rewritten([Mistake(Place(str(asked.file)), message=message)])
    if asked.campaign is not None:
        campaign = ledger.read(queries.find_campaign, asked.campaign)
        if campaign is not None and _taken_over(campaign, digest, service):
            _same_service(campaign, service.base_url)
            return Target(asked.campaign, digest, None, campaign, service.base_url, since=since)
    reading = judged(sources)
    definition = _pick(asked, reading)
    target = beside(definition, digest, ledger, service.base_url)
    target = replace(target, doubtful=len(reading.warnings), since=since)
    if target.known is not None and not asked.keep_project:
        typed = (asked.file, asked.definition, asked.sheet)
        refuse_another(definition, target.known, digest, *typed)
    only_problem(definition, ledger)
    return target


def beside(definition: Definition, digest: str, ledger: Ledger, service: str) -> Target:
    """Find a definition's campaign, and leave out forgotten people. Raises AnotherService.

    `service` may be empty if no address is set and nothing is sent.
    """
    campaign = ledger.read(queries.find_campaign, definition.campaign)
    if campaign is not None and service:
        _same_service(campaign, service)
    keys = [candidate.key for candidate in definition.candidates]
    gone = ledger.read(forgotten_people.among, keys, campaign.id if campaign else None)
    if gone:
        stay = tuple(candidate for candidate in definition.candidates if candidate.key not in gone)
        definition = replace(definition, candidates=stay)
    pilot = definition.invites.timetable.pilot
    if pilot in gone:  # else the ledger would name the person again
        [number] = ledger.read(forgotten_people.hashes, [pilot]).values()
        stands_for = forgotten_people.MARK + number
        table = replace(definition.invites.timetable, pilot=stands_for)
        definition = replace(definition, invites=replace(definition.invites, timetable=table))
    return Target(definition.campaign, digest, definition, campaign, service, len(gone))


def left_out(forgotten: int) -> str:
    """Say that people of a definition were forgotten, without a word about who."""
    people = "1 person is" if forgotten == 1 else f"{forgotten:,} people are"
    return f"{people} forgotten on request and left out; remove them from the sheet as well."


def _taken_over(campaign: Campaign, digest: str, service: ServiceSettings) -> bool:
    """Whether the ledger has everything that these bytes ask for. The title of a problem that still
    has to be attached is only in the definition.
    """
    attached = campaign.problem_state not in (Step.WAITING, Step.REFUSED)
    return attached and (campaign.digest, campaign.app_url) == (digest, service.app_url)


def _pick(asked: CampaignSource, reading: Reading) -> Definition:
    definitions = reading.definitions
    if asked.campaign is None and len(definitions) == 1:
        return definitions[0]
    for definition in definitions:
        if definition.campaign == asked.campaign:
            return definition
    keys = ", ".join(definition.campaign for definition in definitions)
    message = f"has these campaigns: {keys}; name one of them"
    raise BadInput([Mistake(Place(str(asked.file)), "campaign", message=message)])


def only_problem(definition: Definition, ledger: Ledger) -> None:
    """A project can hold only one problem (interface 4.7, 8): not a second one through us.

    Raises BadInput.
    """
    project = definition.project.id
    if project is None or definition.problem is None:
        return
    for other in ledger.read(queries.every_campaign):
        if (
            other.key != definition.campaign
            and other.project_id == project
            and other.problem_state in (Step.SENDING, Step.DONE, Step.UNSURE)
        ):
            message = (
                f"project {project} already has its problem, from the campaign {other.key}; leave "
                "out problem to use the project as it is"
            )
            place = definition.problem.place or definition.place
            raise BadInput([Mistake(place, "problem", message=message)])


def _same_service(campaign: Campaign, service: str) -> None:
    if not same_service(campaign.service, service):
        raise AnotherService(
            f"The ledger has {campaign.key} at {campaign.service}, but ASSESSMENT_BASE_URL is now "
            f"{service}. Nothing was sent. Change the address back, or give the campaign at the "
            "other service its own key."
        )


def intent_of(
    wanted: Target, asked: CampaignSource, service: ServiceSettings, problem: int | None
) -> Intent:
    """Put the campaign's own fields into the form in which they are sent (interface 4.3, 4.4).

    `problem` is the id found for a title, once the service was asked.
    """
    definition = wanted.definition
    if definition is None:
        raise ValueError("an unchanged definition has no new intent")
    project = definition.project
    meant = definition.problem
    approval = definition.invites.approval
    campaign = Campaign(
        key=definition.campaign,
        service=service.base_url,
        app_url=service.app_url,
        definition=str(asked.file),
        belongs_to=str(asked.definition) if asked.definition else None,
        sheet=asked.sheet,
        digest=wanted.digest,
        name=project.name,
        description=project.description,
        state=project.state,
        starttime=service_date(project.starttime),
        endtime=service_date(project.endtime),
        send_invites=definition.invites.send,
        project_id=project.id,
        problem_id=meant.id if isinstance(meant, ProblemById) else problem,
        problem_title=meant.title if isinstance(meant, ProblemByTitle) else None,
        ask_first=approval is not None,
        answer_within=_seconds(approval.within) if approval else None,
        cooldown=_seconds(definition.invites.cooldown),
        add_again=definition.add_again,
        trust=definition.invites.trust,
        timetable=kept(definition.invites.timetable),
        timezone=definition.timezone,
    )
    return Intent(campaign, asked.keep_project, wanted.since)


def _seconds(span: timedelta | None) -> int | None:
    return None if span is None else round(span.total_seconds())
