"""A campaign moved by hand: what its file says, what the service answers, what a person decides."""

from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from config.definition import Candidate, Definition, Listed
from config.emails import email_key
from config.errors import Place
from config.reading import CampaignFile
from config.settings import Settings
from data.campaigns import people
from data.campaigns.intake import NOTHING, take_in
from data.eligibility.due import due, to_come
from data.eligibility.evidence import facts_of, of_people
from data.eligibility.holds import holds, kept_back
from data.sending.claims import Claim, claim
from data.sending.outcomes import Outcome, record
from data.store.states import BRINGS_ID, Op, State
from data.store.tables import PERSON, STEP, Run, now

SERVICE = "https://service.invalid"
NAMES = ("Ada", "Ben", "Cyd", "Dov", "Eve", "Fay", "Gus", "Hal")


def address(first: str) -> str:
    return f"{first.lower()}@x.org"


def listed(*who: str | tuple[str, str, str] | dict) -> list[Listed]:
    """People of a file: a first name, or (first name, last name, address), or whole fields."""
    them = []
    for each in who:
        if isinstance(each, str):
            fields = {"first_name": each, "last_name": "Of X", "email1": address(each)}
        elif isinstance(each, tuple):
            fields = dict(zip(("first_name", "last_name", "email1"), each, strict=True))
        else:
            fields = each
        candidate = Candidate(**({"stage_id": 1} | fields))
        them.append(Listed(candidate, email_key(candidate.email1), Place(Path("people.csv"))))
    return them


class Desk:
    """One ledger, and what happens to the campaigns in it."""

    def __init__(self, ledger) -> None:
        self.ledger = ledger
        self.settings = settings()
        self.runs: dict[int, int] = {}
        self.ids = iter(range(5001, 9999))
        self.projects = iter(range(101, 999))

    def read(self, *who, key="backend", digest=None, **definition) -> CampaignFile:
        """A campaign as its file was read."""
        whole = {"project": {"name": key.title()}, "problem": 42, "candidates": []} | definition
        them = listed(*who)
        # A list of nobody is no mistake here.
        model = Definition.model_validate({"campaign": key} | whole)
        said = repr((model.model_dump(), [each.candidate.model_dump() for each in them]))
        digest = digest or sha256(said.encode()).hexdigest()
        file = Path(f"{key}.yaml")
        return CampaignFile(file=file, definition=model, listed=them, digest=digest)

    def take_in(self, *who, allowed=NOTHING, **more):
        """Take a file in and commit, as a run does."""
        with self.ledger.writing() as session:
            return take_in(session, self.read(*who, **more), self.settings, allowed)

    @contextmanager
    def at(self, key="backend"):
        """A transaction, and the campaign's number in it."""
        with self.ledger.writing() as session:
            yield session, people.find(session, key).id

    def call(self, function, *args, key="backend", **more):
        """Call a function of (session, campaign id, …) in a transaction of its own."""
        with self.at(key) as (session, campaign_id):
            return function(session, campaign_id, *args, **more)

    def run(self, key="backend") -> int:
        """The number of a run of this campaign."""
        with self.at(key) as (session, campaign_id):
            if campaign_id not in self.runs:
                run = Run(campaign_id=campaign_id, host="here", pid=1, began=now())
                session.add(run)
                session.flush()
                self.runs[campaign_id] = run.id
            return self.runs[campaign_id]

    def claims(self, op: Op, *who: str, key="backend") -> Claim | object | None:
        """Claim these people's step (all that is due, or the project's own)."""
        run = self.run(key)
        with self.at(key) as (session, campaign_id):
            wanted = [self.id_of(each, key, session) for each in who] if who else None
            found = due(session, campaign_id, op).items()
            steps = [step for step, person in found if wanted is None or person in wanted]
            return claim(session, campaign_id, run, op, [steps])[0] if steps else None

    def does(self, op: Op, *who: str, key="backend", state=State.DONE, why=None):
        """Claim, and record what the service answered: done with new ids, or another state."""
        claimed = self.claims(op, *who, key=key)
        assert isinstance(claimed, Claim), claimed
        numbers = {}
        if state is State.DONE and op in BRINGS_ID:
            source = self.projects if op is Op.CREATE else self.ids
            numbers = {step.step_id: next(source) for step in claimed.steps}
        evidence = {"status": 200, "phase": 6, "answer": why}
        outcome = Outcome(claimed.request, state, numbers, why, evidence)
        with self.ledger.writing() as session:
            record(session, [outcome])
        return claimed

    def adds(self, key="backend") -> None:
        """Project, problem and people: whatever is due of them."""
        for op in (Op.CREATE, Op.ATTACH, Op.ADD):
            if self.due(op, key=key):
                self.does(op, key=key)

    def sends(self, *who: str, key="backend") -> None:
        """Everything that is due; `who` of the invitations."""
        self.adds(key)
        if self.due(Op.INVITE, key=key):
            self.does(Op.INVITE, *who, key=key)

    def due(self, op: Op, key="backend") -> list[str]:
        """Who is due (email1), "" for the project itself."""
        with self.at(key) as (session, campaign_id):
            names = self._names(session)
            return [names.get(person, "") for person in due(session, campaign_id, op).values()]

    def to_come(self, op: Op, key="backend") -> list[str]:
        """Who is due, now or once what they need is done."""
        with self.at(key) as (session, campaign_id):
            names = self._names(session)
            held = holds(session, people.find(session, key))
            return [names[person] for person in to_come(session, campaign_id, op, held)]

    def kept(self, *who: str, op=Op.INVITE, key="backend", per_second=None) -> dict[str, str]:
        """What keeps these people back, at a claim or in a plan: kinds by name or address."""
        with self.at(key) as (session, _):
            ids = {self.id_of(each, key, session): each for each in who}
            campaign = people.find(session, key)
            found = holds(session, campaign, list(ids))
            facts = facts_of(session, campaign.id, per_second)
            found |= kept_back(session, facts, op, of_people(session, list(ids)), per_second)
            return {ids[person]: str(hold.kind) for person, hold in found.items()}

    def state(self, who: str, key="backend") -> tuple[str, str]:
        """The states of somebody's two steps."""
        with self.at(key) as (session, campaign_id):
            person = self.id_of(who, key, session)
            rows = session.execute(
                STEP.select().where(STEP.c.person_id == person, STEP.c.campaign_id == campaign_id)
            )
            by_op = {row.op: row.state for row in rows}
            return str(by_op[Op.ADD]), str(by_op[Op.INVITE])

    def id_of(self, who: str, key="backend", session=None) -> int:
        """The person of this first name or address."""
        email = email_key(who if "@" in who else address(who))
        if session is None:
            with self.at(key) as (session, campaign_id):
                return people.known_person(session, campaign_id, email).id
        return people.known_person(session, people.find(session, key).id, email).id

    @staticmethod
    def _names(session) -> dict[int, str]:
        return {row.id: row.email1 for row in session.execute(PERSON.select())}


def settings(client_id="me", base_url=SERVICE) -> Settings:
    """Settings of a service and an account, whatever the environment says."""
    return Settings(
        _env_file=None,
        auth_url=base_url,
        base_url=base_url,
        app_url=base_url,
        client_id=client_id,
        client_secret="secret",
        audience="audience",
    )
