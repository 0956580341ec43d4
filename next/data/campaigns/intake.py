"""What a campaign's file says is taken into the ledger: the campaign, its people, their steps.

A person is an email key within a campaign. Nobody is ever taken out: whoever is gone from the file
is only not listed any more. A file whose bytes the ledger has already taken in costs nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

from sqlalchemy import bindparam, exists, insert, literal, select, update
from sqlmodel import Session

from config.definition import Table
from config.emails import email_key, mailbox
from config.errors import CampaignError
from config.reading import Campaign as Read
from config.settings import Settings
from data.campaigns.people import forgotten_among, invites_of, known, own_steps
from data.store.states import OPEN, Op, State
from data.store.tables import PERSON, STEP, Campaign, Decision, Step, now

TWIN = "second address"  # the kind of hold that is lifted for two people of one file
PILOT = {"first_name": "Pilot", "last_name": "Invitation", "source": "pilot", "notes": ""}


class KeyInUse(CampaignError):
    """{key} already is {before}; {file} now says {after}. Nothing was sent. A new campaign needs a
    key of its own: change  campaign: {key}.

    campaign run {file} --keep-project   (if it is the same campaign)"""

    exit_code = 2


class AnotherService(CampaignError):
    """The ledger has {key} at {before}, but the settings name {after}. Nothing was sent. Change
    ASSESSMENT_BASE_URL back, or give the campaign at the other service a key of its own."""

    exit_code = 2


class AnotherAccount(CampaignError):
    """The ledger has {key} for another account at {service}: ASSESSMENT_CLIENT_ID or
    ASSESSMENT_AUDIENCE has changed since. Nothing was sent. Change it back, or give the campaign of
    the other account a key of its own."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Intake:
    """What came of a file: how many people are new, and who is gone from it or back (`email1`).

    `too_many_gone` says in words that the guard stops the run; then nobody was taken out.
    """

    campaign_id: int
    new: int = 0
    gone: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    forgotten: int = 0
    too_many_gone: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a person let pass, and who: more people gone than the guard allows, another project."""

    who: str = ""
    removed: bool = False
    project: bool = False


NOTHING = Allowed()


def take_in(session: Session, read: Read, settings: Settings, allowed: Allowed = NOTHING) -> Intake:
    """Take in a campaign as it was read. Raises KeyInUse, AnotherService, AnotherAccount."""
    definition = read.definition
    campaign = known(session, definition.campaign)
    if campaign is not None:
        refuse_elsewhere(campaign, settings)
        if campaign.digest == read.digest:
            campaign.file = str(read.file.absolute())
            campaign.app_url = settings.app_url or campaign.app_url
            return Intake(campaign.id)
    people = _listed(session, read)
    if campaign is None:
        campaign = _first(session, read, settings)
        before: dict[str, _Known] = {}
    else:
        if not allowed.project:
            _refuse_another(session, campaign, read)
        before = _known_people(session, campaign)
    changes = _compare(_after_corrections(people.by_key, before), before)
    if (why := _too_many(campaign, read, changes, before)) is not None:
        if not allowed.removed:
            return Intake(campaign.id, gone=changes.gone_names, too_many_gone=why)
        session.add(
            Decision(at=now(), who=allowed.who, word="accept-removed", campaign_id=campaign.id)
        )
    notes = _follow(session, campaign, read, settings)
    _write(session, campaign.id, changes)
    back = tuple(each.email1 for each in changes.back)
    return Intake(
        campaign.id,
        len(changes.new),
        changes.gone_names,
        back,
        people.forgotten,
        notes=tuple(notes),
    )


def refuse_elsewhere(campaign: Campaign, settings: Settings) -> None:
    """Raise AnotherService or AnotherAccount unless the settings name the campaign's own.

    At another account the same ids mean other projects and other people. Settings without a
    service send nothing.
    """
    after = settings.base_url
    if after and _address(campaign.service) != _address(after):
        raise AnotherService(key=campaign.key, before=campaign.service, after=after)
    if after and campaign.account != settings.account:
        raise AnotherAccount(key=campaign.key, service=campaign.service)


@dataclass(slots=True)
class _Listed:
    by_key: dict[str, dict[str, Any]]
    forgotten: int


@dataclass(frozen=True, slots=True)
class _Known:
    id: int
    email1: str
    fields: Mapping[str, Any]
    listed: bool
    became: int | None
    add: State


@dataclass(frozen=True, slots=True)
class _Changes:
    new: dict[str, dict[str, Any]]
    gone: list[_Known]
    back: list[_Known]
    changed: list[tuple[_Known, dict[str, Any]]]

    @property
    def gone_names(self) -> tuple[str, ...]:
        return tuple(each.email1 for each in self.gone)


def _listed(session: Session, read: Read) -> _Listed:
    """What is sent of each person by email key, with the pilot and without who was forgotten."""
    definition, pilot = read.definition, read.definition.invites.pilot
    stage = definition.stage_id
    by_key = {
        each.key: each.candidate.model_dump()
        | ({"stage_id": stage} if each.candidate.stage_id is None else {})
        for each in read.people
    }
    if pilot is not None:
        by_key.setdefault(email_key(pilot), PILOT | {"email1": pilot, "stage_id": stage})
    gone = forgotten_among(session, by_key)
    return _Listed({key: it for key, it in by_key.items() if key not in gone}, len(gone))


def _known_people(session: Session, campaign: Campaign) -> dict[str, _Known]:
    columns = (PERSON.c[name] for name in ("id", "email1", "fields", "listed", "became"))
    everybody = (
        select(PERSON.c.email_key, *columns, STEP.c.state)
        .join(STEP, (STEP.c.person_id == PERSON.c.id) & (STEP.c.op == Op.ADD))
        .where(PERSON.c.campaign_id == campaign.id, STEP.c.campaign_id == campaign.id)
    )
    return {key: _Known(*rest) for key, *rest in session.execute(everybody)}


def _after_corrections(
    listed: dict[str, dict[str, Any]], before: Mapping[str, _Known]
) -> dict[str, dict[str, Any]]:
    """A row with an address that was corrected means whoever it became."""
    by_id = {person.id: (key, person) for key, person in before.items()}
    meant = dict(listed)
    for key, fields in listed.items():
        person = before.get(key)
        while person is not None and person.became in by_id:
            now_key, person = by_id[person.became]
            meant.setdefault(now_key, fields | {"email1": person.email1})
    return meant


def _compare(listed: dict[str, dict[str, Any]], before: Mapping[str, _Known]) -> _Changes:
    old = {key: before[key] for key in listed if key in before}
    return _Changes(
        new={key: fields for key, fields in listed.items() if key not in before},
        gone=[each for key, each in before.items() if each.listed and key not in listed],
        back=[each for each in old.values() if not each.listed],
        changed=[
            (each, listed[key])
            for key, each in old.items()
            if each.fields != listed[key] and each.add in (State.WAITING, State.REFUSED)
        ],
    )


def _too_many(
    campaign: Campaign, read: Read, changes: _Changes, before: Mapping[str, _Known]
) -> str | None:
    """Say that more people are gone than the definition allows, who were not corrected either."""
    pilot = email_key(invites_of(campaign).pilot or "")
    gone = sum(each.became is None and email_key(each.email1) != pilot for each in changes.gone)
    listed = sum(each.listed for each in before.values())
    share = max(read.definition.guard.removed, 0)
    if gone <= share * listed or not gone:
        return None
    return f"{gone:,} of {listed:,} people are not in this file any more (guard: {share:.0%})"


def _first(session: Session, read: Read, settings: Settings) -> Campaign:
    campaign = Campaign(
        key=read.definition.campaign,
        service=settings.base_url,
        account=settings.account,
        app_url=settings.app_url,
        file=str(read.file.absolute()),
        digest="",
        created_at=now(),
    )
    session.add(campaign)
    session.flush()
    session.add_all(Step(campaign_id=campaign.id, op=op) for op in (Op.CREATE, Op.ATTACH))
    session.flush()
    return campaign


def _follow(session: Session, campaign: Campaign, read: Read, settings: Settings) -> list[str]:
    """Whatever was not sent yet follows the file; says what can not follow it any more."""
    definition, notes = read.definition, []
    own, before = own_steps(session, campaign.id), campaign.spec or {}
    people = not isinstance(definition.candidates, Table)  # they are in rows of their own
    spec = definition.model_dump(mode="json", exclude={"candidates"} if people else None)
    create, attach = own[Op.CREATE], own[Op.ATTACH]
    if create.state in OPEN[Op.CREATE]:
        create.service_id = definition.project.id
        create.state = State.WAITING if definition.project.id is None else State.DONE
    elif create.part_id and before.get("project") != spec["project"]:
        notes.append("The project exists already; what the file now says of it is not sent.")
    if attach.state in OPEN[Op.ATTACH]:
        asked = definition.problem
        same_title = before.get("problem", {}).get("title") == asked.title
        if asked.id is not None or not same_title:
            attach.service_id = asked.id
        attach.state = State.WAITING
    campaign.spec, campaign.digest, campaign.file = spec, read.digest, str(read.file.absolute())
    campaign.app_url = settings.app_url or campaign.app_url
    session.flush()
    return notes


def _refuse_another(session: Session, campaign: Campaign, read: Read) -> None:
    """Raise KeyInUse if the file means another project or problem than was sent.

    The service has no update (interface 4): people would be invited to the wrong test.
    """
    own, asked = own_steps(session, campaign.id), read.definition
    spec = campaign.spec or {}
    project, problem = spec.get("project", {}), spec.get("problem", {})
    create, attach = own[Op.CREATE], own[Op.ATTACH]
    same = create.state in OPEN[Op.CREATE] or (
        asked.project.id == create.service_id
        if asked.project.id is not None
        else _alike(asked.project.name, project.get("name"))
    )
    same_problem = attach.state in OPEN[Op.ATTACH] or (
        asked.problem.id == attach.service_id
        if asked.problem.id is not None
        else _alike(asked.problem.title, problem.get("title"))
    )
    if not (same and same_problem):
        after = asked.model_dump(include={"project", "problem"})
        known_as = {"project": {**project, "id": create.service_id}, "problem": problem}
        raise KeyInUse(
            key=campaign.key,
            before=_words(known_as),
            after=_words(after),
            file=read.file.name,
        )


def _words(spec: Mapping[str, Any]) -> str:
    project, problem = spec["project"], spec["problem"]
    named = f'"{project["name"]}"' if project.get("name") else f"project {project.get('id')}"
    title = problem.get("title")
    return f"{named}, problem " + (f'"{title}"' if title else str(problem.get("id")))


def _alike(name: str | None, other: str | None) -> bool:
    """Compare as people read: blanks and capitals do not make another project."""
    one, two = (" ".join(normalize("NFC", each or "").split()).casefold() for each in (name, other))
    return one == two


def _address(url: str) -> str:
    return url.rstrip("/").casefold()


def _write(session: Session, campaign_id: int, changes: _Changes) -> None:
    """Write the people who are new or changed, each with both steps."""
    boxes = {key: mailbox(key) for key in changes.new}
    twice = _met_twice(boxes.values())
    if changes.new:
        session.execute(
            insert(PERSON),
            [
                {
                    "campaign_id": campaign_id,
                    "email_key": key,
                    "mailbox": boxes[key],
                    "email1": fields["email1"],
                    "fields": fields,
                    "listed": True,
                    # Who stand in one file together are two people.
                    "let_through": [TWIN] if boxes[key] in twice else None,
                }
                for key, fields in changes.new.items()
            ],
        )
        _give_steps(session, campaign_id)
    this = PERSON.c.id == bindparam("person")
    for people, listed in ((changes.gone, False), (changes.back, True)):
        if people:
            moved = update(PERSON).where(this).values(listed=listed)
            session.execute(moved, [{"person": each.id} for each in people])
    if changes.changed:
        now_sent: dict[str, Any] = {"fields": bindparam("now"), "email1": bindparam("typed")}
        session.execute(
            update(PERSON).where(this).values(now_sent),
            [{"person": p.id, "now": f, "typed": f["email1"]} for p, f in changes.changed],
        )
        waits_again = update(STEP).where(
            STEP.c.campaign_id == campaign_id,
            STEP.c.person_id == bindparam("person"),
            STEP.c.op == Op.ADD,
            STEP.c.state == State.REFUSED,
        )
        session.execute(
            waits_again.values(state=State.WAITING, why=None),
            [{"person": person.id} for person, _ in changes.changed],
        )


def _give_steps(session: Session, campaign_id: int) -> None:
    for op in (Op.ADD, Op.INVITE):
        of = literal(op, STEP.c.op.type), literal(State.WAITING, STEP.c.state.type), literal(1)
        has = exists().where(STEP.c.campaign_id == campaign_id, STEP.c.person_id == PERSON.c.id)
        lacking = (
            select(PERSON.c.campaign_id, PERSON.c.id, *of)
            .where(PERSON.c.campaign_id == campaign_id, ~has.where(STEP.c.op == op))
            .order_by(PERSON.c.id)
        )
        columns = ["campaign_id", "person_id", "op", "state", "generation"]
        session.execute(insert(STEP).from_select(columns, lacking))


def _met_twice(values: Iterable[str]) -> set[str]:
    met: set[str] = set()
    return {each for each in values if each in met or met.add(each)}  # type: ignore[func-returns-value]
