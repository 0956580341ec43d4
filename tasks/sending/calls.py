"""Make a claimed request at the service, and say what it proved in the ledger's terms."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any

from config.definition import Candidate, Project
from data.sending.claims import Claim
from data.sending.outcomes import Outcome
from data.store.states import OPERATIONS, Op, State
from tasks.service.client import Service
from tasks.service.exchange import Before, Exchange
from tasks.service.verdict import PROJECT, Verdict, verdict

# A person in an old ledger may lack a new field: then an empty text is sent.
EMPTY = {name: each.default for name, each in Candidate.model_fields.items() if each.default == ""}


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a request, and what the service wrote unless the request was done."""

    outcome: Outcome
    verdict: Verdict
    token: int  # the number of the token that it carried
    wrote: tuple[str, ...] = field(default=(), repr=False)


@dataclass
class Calls:
    """The calls of one run. `spec` is the campaign's definition, `project` the project's id."""

    service: Service
    spec: Mapping[str, Any]
    project: int | None

    async def make(self, claim: Claim, before: Before) -> Made:
        """Make the request once, and judge the answer."""
        seen = await self._call(claim, before)
        judged = verdict(claim.op, _rows(claim), seen, before=claim.refused)
        wrote = None if judged.state is State.DONE else self.service.words(seen)
        words = (wrote,) if wrote else ()
        return Made(_outcome(claim, seen, judged, wrote), judged, seen.token, words)

    def _call(self, claim: Claim, before: Before) -> Awaitable[Exchange]:
        project, whom = self.project, claim.steps[0].service_id
        match claim.op:
            case Op.CREATE:
                body = Project.model_validate(self.spec["project"]).body()
                return self.service.create(body, before)
            case Op.ATTACH if project and whom:
                return self.service.attach(project, whom, before)
            case Op.ADD if project:
                return self.service.add(project, _rows(claim), before)
            case Op.INVITE if project and whom:
                return self.service.invite(project, whom, before)
            case Op.ATTACH | Op.ADD | Op.INVITE:
                raise LookupError(f"{claim.op} was claimed without the ids that it needs")


def _rows(claim: Claim) -> list[dict[str, Any]]:
    """The fields of the people whom a request adds."""
    return [EMPTY | step.fields for step in claim.steps] if OPERATIONS[claim.op].many else []


def _outcome(claim: Claim, seen: Exchange, judged: Verdict, wrote: str | None) -> Outcome:
    steps = {step.email_key or PROJECT: step.step_id for step in claim.steps}
    clear = judged.state is State.DONE and judged.why is None
    error = f"({seen.error})" if seen.error else None
    evidence = {
        "phase": int(seen.phase),
        "status": seen.status,
        "evidence": None if clear else " ".join(filter(None, (judged.why, error))),
        "answer": wrote,
    }
    ids = {steps[key]: number for key, number in judged.ids.items()}
    return Outcome(claim.request, judged.state, ids, judged.why, evidence)
