"""Take a campaign's file into the ledger: the campaign, its people, and their steps.

A person is an email key within a campaign. People are never removed: those who are gone from the
file are marked as not listed. A file that has not changed since it was taken in is skipped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, func, insert, select, text, update
from sqlmodel import Session

from config.definition import Candidate, PeopleTable
from config.emails import email_key, mailbox
from config.errors import NotAsTyped, command
from config.reading import CampaignFile
from config.settings import Settings
from config.sheets.left_out import compared
from config.timetable import NEVER, on_the_wall
from data.campaigns.people import (
    GONE_KEY,
    WITHDRAWN,
    digests,
    ends_of,
    forgotten_among,
    invites_of,
    known,
    known_person,
    name_key,
    own_steps,
)
from data.store.states import OF_PERSON, OF_PROJECT, OPERATIONS, Op, State
from data.store.tables import CAMPAIGN, PERSON, STEP, Campaign, Decision, Person, Step, one_of

AT_ONCE = 5_000  # people in one statement, so that a large file takes little memory
PILOT = {"first_name": "Pilot", "last_name": "Invitation", "source": "pilot"}
Sent = Mapping[str, Any]
"""The fields of one person, as they are sent (interface 4.5)."""


class KeyInUse(NotAsTyped):
    says = """{key} already is for {before}; {file} now says {after}. Nothing was sent. A new
    campaign needs a key of its own: change campaign: {key}."""
    then = "{then}"


class Elsewhere(NotAsTyped):
    says = """The ledger has {key} for {before}, but the settings name {after}. Nothing was sent.
    Change {setting} back, or give the campaign that goes there a key of its own."""


class EndsLater(NotAsTyped):
    says = """The file of {key} gave the end of its project as {before}; {file} now says {after}.
    The service has no way to change a project. Nothing was sent."""
    then = "Make sure that it ends so in the web application. Then type: {typed}"


@dataclass(frozen=True, slots=True)
class Intake:
    """The result of taking in a file: how many are new, and who is gone or back, by `email1`.

    `too_many_gone` says why the guard stops the run; then nothing was taken in.
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
    """What a person allowed: more people `removed` than the guard permits; a changed `project`."""

    who: str = ""
    removed: bool = False
    project: bool = False


NOTHING = Allowed()


def take_in(
    session: Session, read: CampaignFile, settings: Settings, allowed: Allowed = NOTHING
) -> Intake:
    """Take in a campaign as it was read. Raises KeyInUse, Elsewhere, EndsLater."""
    campaign = known(session, read.definition.campaign)
    if campaign is not None:
        refuse_elsewhere(campaign, settings)
        campaign.file = str(read.file.absolute())
        campaign.app_url = settings.app_url or campaign.app_url
        if campaign.digest == read.digest:
            return Intake(campaign.id)
        _refuse_another(session, campaign, read, allowed)
    campaign = campaign or _first(session, read, settings)
    before = _known_people(session, campaign)
    everybody = _everybody(read)
    forgotten = forgotten_among(session, everybody)
    listed = _after_corrections(everybody, digests(session, forgotten), before)
    gone = [row for key, row in before.items() if row.listed and key not in listed]
    back = [row for key, row in before.items() if not row.listed and key in listed]
    names = tuple(row.email1 for row in gone)
    too_many = _too_many(session, campaign, read, gone, before)
    if too_many is not None and not allowed.removed:
        return Intake(campaign.id, gone=names, too_many_gone=too_many)
    for word, is_so in (("accept-removed", too_many), ("keep-project", allowed.project)):
        if is_so:
            session.add(Decision(who=allowed.who, word=word, campaign_id=campaign.id))
    notes = _follow(session, campaign, read)
    new = {key: fields for key, fields in listed.items() if key not in before}
    add_people(session, campaign.id, new)
    if new and session.get_bind().dialect.name == "postgresql":
        # PostgreSQL plans by its statistics: without new ones, each claim would read all people.
        session.execute(text("ANALYZE person, step"))
    pilot = known_person(session, campaign.id, email_key(read.definition.invites.pilot or ""))
    campaign.pilot_id = pilot.id if pilot else None
    if moved := [{"id": row.id, "listed": not row.listed} for row in (*gone, *back)]:
        session.execute(update(Person), moved)
        session.execute(_NO_REMINDER, {"of": campaign.id})
    _reword(session, campaign.id, before, listed)
    returned = tuple(row.email1 for row in back)
    return Intake(campaign.id, len(new), names, returned, len(forgotten), notes=notes)


def refuse_elsewhere(campaign: Campaign, settings: Settings) -> None:
    """Raise Elsewhere unless the settings name the campaign's own service and account.

    At another account the same ids are other projects and people. Settings without a service
    pass, because nothing can be sent with them.
    """
    key, before, after = campaign.key, campaign.service, settings.base_url
    if after and before != after:
        raise Elsewhere(key=key, before=before, after=after, setting="ASSESSMENT_BASE_URL")
    if after and campaign.account != settings.account:
        before, setting = f"one account at {after}", "ASSESSMENT_CLIENT_ID or ASSESSMENT_AUDIENCE"
        raise Elsewhere(key=key, before=before, after="another one", setting=setting)


def add_people(session: Session, campaign_id: int, new: Mapping[str, Sent]) -> None:
    """Add people, each with a step to add and a step to invite them."""
    keys = list(new)
    for at in range(0, len(keys), AT_ONCE):
        people = [
            {
                "campaign_id": campaign_id,
                "email_key": key,
                "mailbox": mailbox(key),
                "email1": new[key]["email1"],
                "name_key": name_key(new[key]),
                "fields": new[key],
                "listed": True,
            }
            for key in keys[at : at + AT_ONCE]
        ]
        session.execute(insert(PERSON), people)
    for op in OF_PERSON if new else ():
        session.execute(_THEIR_STEPS, {"of": campaign_id, "op": op})


def _everybody(read: CampaignFile) -> dict[str, Sent]:
    """The fields of each person, as they are sent, by email key; also those of a pilot."""
    stage, pilot = read.definition.stage_id, read.definition.invites.pilot
    people: dict[str, Sent] = {each.key: each.candidate.model_dump() for each in read.listed}
    if pilot is not None:
        person = Candidate.model_validate(PILOT | {"email1": pilot, "stage_id": stage})
        people.setdefault(email_key(pilot), person.model_dump())
    return people


def _known_people(session: Session, campaign: Campaign) -> dict[str, Row[Any]]:
    columns = (PERSON.c[each] for each in ("id", "email_key", "email1", "fields", "listed"))
    everybody = (
        select(*columns, PERSON.c.name_key, PERSON.c.became, STEP.c.state)
        .join(STEP, (STEP.c.person_id == PERSON.c.id) & (STEP.c.op == Op.ADD))
        .where(PERSON.c.campaign_id == campaign.id, STEP.c.campaign_id == campaign.id)
    )
    return {row.email_key: row for row in session.execute(everybody)}


def _after_corrections(
    asked: Mapping[str, Sent], forgotten: Mapping[str, str], before: Mapping[str, Row[Any]]
) -> dict[str, Sent]:
    """Drop the rows with forgotten addresses (`forgotten` has their hashes). For each row with a
    corrected address, even a forgotten one, add the person it became."""
    by_id = {row.id: row for row in before.values()}
    listed = {key: fields for key, fields in asked.items() if key not in forgotten}
    for key, fields in asked.items():
        row = before.get(GONE_KEY + forgotten[key] if key in forgotten else key)
        while row is not None and row.became is not None:
            row = by_id[row.became]
            if row.email1:  # it is empty if they were forgotten too
                listed.setdefault(row.email_key, {**fields, "email1": row.email1})
    return listed


def _too_many(
    session: Session,
    campaign: Campaign,
    read: CampaignFile,
    gone: Sequence[Row[Any]],
    before: Mapping[str, Row[Any]],
) -> str | None:
    """Say that more people are gone than the guard allows; else None. Corrected addresses, the
    pilot, and people who were withdrawn are not counted."""
    pilot = email_key(invites_of(campaign).pilot or "")
    withdrawn = set(session.scalars(WITHDRAWN, {"of": campaign.id})) if gone else ()
    number = sum(
        row.became is None and row.email_key != pilot and row.id not in withdrawn for row in gone
    )
    listed, share = sum(row.listed for row in before.values()), read.definition.guard.removed
    if number <= share * listed:
        return None
    return f"{number:,} of {listed:,} people are not in this file any more (guard: {share:.0%})"


def _first(session: Session, read: CampaignFile, settings: Settings) -> Campaign:
    campaign = Campaign(
        key=read.definition.campaign,
        service=settings.base_url,
        account=settings.account,
        app_url=settings.app_url,
        file=str(read.file.absolute()),
        digest="",
    )
    there = (CAMPAIGN.c.service == campaign.service) & (CAMPAIGN.c.account == campaign.account)
    campaign.paused_until = session.scalar(select(func.max(CAMPAIGN.c.paused_until)).where(there))
    session.add(campaign)
    session.flush()
    session.add_all(Step(campaign_id=campaign.id, op=op) for op in OF_PROJECT)
    session.flush()
    return campaign


def _follow(session: Session, campaign: Campaign, read: CampaignFile) -> tuple[str, ...]:
    """Store the definition; what was not sent yet follows it. Returns notes on late changes."""
    definition, own, before = read.definition, own_steps(session, campaign.id), campaign.spec or {}
    create, attach, asked = own[Op.CREATE], own[Op.ATTACH], definition.problem
    people = not isinstance(definition.candidates, PeopleTable)  # a list: PERSON has its people
    spec = definition.model_dump(mode="json", exclude={"candidates"} if people else None)
    if create.state in OPERATIONS[Op.CREATE].open:
        create.service_id = definition.project.id
        create.state = State.WAITING if definition.project.id is None else State.DONE
    same_title = before.get("problem", {}).get("title") == asked.title
    if attach.state in OPERATIONS[Op.ATTACH].open:
        # While the title is the same, the id that the service gave for it stays.
        attach.service_id = attach.service_id if asked.title and same_title else asked.id
        attach.state = State.WAITING
    is_late = create.part_id is not None and create.state is not State.WAITING
    is_new = before.get("project") != spec["project"]
    campaign.spec, campaign.digest = spec, read.digest
    note = "The project exists already; what the file now says of it is not sent."
    return (note,) if is_late and is_new else ()


def _refuse_another(
    session: Session, campaign: Campaign, read: CampaignFile, allowed: Allowed
) -> None:
    """Raise KeyInUse for another project or problem than was sent, and EndsLater for a later end.

    The service has no update (interface 4), so people would be invited to the wrong test. A person
    may say that it is still the same project (`allowed`).
    """
    typed = command("run", read.file, "--keep-project")
    renamed = f"If only its name has changed, type: {typed}"
    asked = read.definition.model_dump(include={"project", "problem"})
    own, project = own_steps(session, campaign.id), read.definition.project
    sent, now = ends_of(campaign), project.ends
    exists = own[Op.CREATE].state not in OPERATIONS[Op.CREATE].open
    if exists and sent and not allowed.project and (now or NEVER) > sent:
        says = on_the_wall(now, project.timezone) if now else "nothing of its end"
        of = {"before": on_the_wall(sent, project.timezone), "after": says, "typed": typed}
        raise EndsLater(key=campaign.key, file=read.file.name, **of)
    for op, part, name in ((Op.CREATE, "project", "name"), (Op.ATTACH, "problem", "title")):
        was, says, number = (campaign.spec or {})[part][name], asked[part][name], asked[part]["id"]
        alike = compared(says or "") == compared(was or "")
        alike = alike if number is None else number == own[op].service_id
        kept = op is Op.CREATE and allowed.project
        if not (alike or kept or own[op].state in OPERATIONS[op].open):
            before = f'{part} "{was}"' if was else f"{part} {own[op].service_id}"
            after = f'{part} "{says}"' if says else f"{part} {number}"
            of = {"file": read.file.name, "then": renamed if op is Op.CREATE else ""}
            raise KeyInUse(key=campaign.key, before=before, after=after, **of)


def _reword(
    session: Session, campaign_id: int, before: Mapping[str, Row[Any]], listed: Mapping[str, Sent]
) -> None:
    """Update everybody's `name_key`, and the fields of people who are not added yet. A refused add
    with new fields waits again. Namesakes who are gone from the file get the new `name_key` too."""
    added = (State.SENDING, State.DONE)
    names = {key: name_key(fields) for key, fields in listed.items() if key in before}
    new_names = {before[key].name_key: name for key, name in names.items() if before[key].name_key}
    people: list[dict[str, Any]] = []
    for key, row in before.items():
        name = names.get(key, new_names.get(row.name_key, row.name_key))
        change = {"id": row.id, "name_key": name}
        if key in names and row.state not in added and row.fields != listed[key]:
            # If the add may have worked, the address stays as it was sent.
            email1 = row.email1 if row.state is State.UNSURE else listed[key]["email1"]
            change |= {"fields": {**listed[key], "email1": email1}, "email1": email1}
        if name != row.name_key or "fields" in change:
            people.append(change)
    if people:
        session.execute(update(Person), people)
        refused = update(STEP).where(STEP.c.op == Op.ADD, STEP.c.state == State.REFUSED)
        theirs = refused.where(STEP.c.campaign_id == campaign_id, one_of(STEP.c.person_id, "them"))
        them = dict.fromkeys(each["id"] for each in people if "fields" in each)
        session.execute(theirs.values(state=State.WAITING, why=None), {"them": them})


# A reminder of somebody who left the file before it was sent is dropped.
_INVITED = "SELECT max(id) FROM part WHERE step_id = step.id AND part.state = 'done'"
_NO_REMINDER = text(f"""UPDATE step SET state = 'done', part_id = ({_INVITED})
    WHERE campaign_id = :of AND op = 'invite' AND state = 'waiting' AND ({_INVITED}) IS NOT NULL
    AND EXISTS (SELECT 1 FROM person WHERE id = person_id AND NOT listed)
""")  # noqa: S608
_THEIR_STEPS = text("""
    INSERT INTO step (campaign_id, person_id, op, state, generation)
    SELECT campaign_id, id, CAST(:op AS VARCHAR), 'waiting', 1 FROM person
    WHERE campaign_id = :of AND NOT EXISTS (
        SELECT 1 FROM step
        WHERE campaign_id = :of AND person_id = person.id AND op = CAST(:op AS VARCHAR))
    ORDER BY id
""")
