"""Small campaigns, written straight into the tables."""

from typing import Any

from sqlmodel import Session, col, select

from config.definition import Candidate
from config.emails import email_key, mailbox
from data.sending import claims, outcomes
from data.store.states import OF_PERSON, Op, State
from data.store.tables import Campaign, Part, Person, Run, Step

NAMES = ("ada", "bo", "cy", "di", "ed", "flo", "gus", "hal")
SERVICE, ACCOUNT = "https://assess.example", "account"


def campaign(session: Session, people: int = 3, key: str = "backend", **spec: Any) -> Campaign:
    """A campaign of which nothing was sent yet."""
    row = Campaign(
        key=key, service=SERVICE, account=ACCOUNT, app_url="", file=f"{key}.yaml", digest="d"
    )
    row.spec = spec
    session.add(row)
    session.flush()
    session.add(Step(campaign_id=row.id, op=Op.CREATE))
    session.add(Step(campaign_id=row.id, op=Op.ATTACH, service_id=42))
    for name in range(people):
        email = f"{NAMES[name] if name < len(NAMES) else name}@example.org"
        one = Candidate(first_name=f"No. {name}", last_name=key, email1=email, stage_id=1)
        person = Person(
            campaign_id=row.id,
            email_key=email_key(email),
            mailbox=mailbox(email_key(email)),
            email1=email,
            fields=one.model_dump(),
        )
        session.add(person)
        session.flush()
        for op in OF_PERSON:
            session.add(Step(campaign_id=row.id, person_id=person.id, op=op))
    session.flush()
    return row


def begun(session: Session, campaign_id: int) -> int:
    """A run of this campaign."""
    run = Run(campaign_id=campaign_id, host="here", pid=1)
    session.add(run)
    session.flush()
    return run.id


def claim(session: Session, run: int, op: Op, step_ids: list[int]) -> claims.ClaimResult:
    """Ask for one request."""
    campaign_id = session.get_one(Run, run).campaign_id
    [answer] = claims.claim(session, campaign_id, run, op, [step_ids])
    return answer


def claimed(session: Session, run: int, op: Op, *step_ids: int) -> claims.Claim:
    """Have one request granted."""
    granted = claim(session, run, op, list(step_ids))
    assert isinstance(granted, claims.Claim), granted
    return granted


def record(session: Session, outcome: outcomes.Outcome) -> list[int]:
    """Write down one outcome."""
    return outcomes.record(session, [outcome])


def steps(session: Session, op: Op, campaign_id: int = 1) -> list[Step]:
    wanted = select(Step).where(Step.campaign_id == campaign_id, Step.op == op)
    return list(
        session.exec(wanted.order_by(col(Step.id)).execution_options(populate_existing=True))
    )


def parts(session: Session, step: Step) -> list[Part]:
    wanted = select(Part).where(Part.step_id == step.id)
    return list(
        session.exec(wanted.order_by(col(Part.id)).execution_options(populate_existing=True))
    )


def prepared(session: Session, op: Op, people: int = 3, **spec: Any) -> tuple[int, list[Step]]:
    """A run, and the steps of one operation, with everything done that they need."""
    row = campaign(session, people, **spec)
    for before in [*Op][: [*Op].index(op)]:
        for step in steps(session, before, row.id):
            step.state = State.DONE
            step.service_id = 42 if before is Op.ATTACH else 1000 + step.id
            session.add(step)
    session.flush()
    return begun(session, row.id), steps(session, op, row.id)
