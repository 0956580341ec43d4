"""The embedded interface: from the link in an invitation to the arena (interface 4.7).

The welcome page opens the login in a pop-up; the pop-up posts a one-time code to the page that
opened it, if that page is ours; the page turns the code into the arena.
"""

import json
import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from sandbox.pages.editor import editor_routes, how_to_install
from sandbox.pages.logins import Logins, Seat, same_email
from sandbox.pages.refusals import Refused, filled_in, refuse_other_sites
from sandbox.pages.templates import FORMS, FRAMED, SCRIPTS, page
from sandbox.service.problems import Problem
from sandbox.service.record import Candidate, Project, Record
from sandbox.service.solutions import LANGUAGES, Solution, wrong_solution


class Embedded:
    """The candidate's pages.

    `arena` is the origin of the arena if it differs from the welcome page's; otherwise "".
    """

    def __init__(self, record: Record, logins: Logins, arena: str = "") -> None:
        self._record = record
        self._arena = arena
        self._logins = logins

    def routes(self) -> list[Route]:
        return [
            Route("/embedded/welcome", self.welcome),
            Route("/embedded/login", self.show_login, methods=["GET"]),
            Route("/embedded/login", self.log_in, methods=["POST"]),
            Route("/embedded/arena", self.arrive if self._arena else self.no_way_in),
            Route("/embedded/arena", self.arena, methods=["POST"]),
            Route("/embedded/draft", self.save, methods=["POST"]),
            Route("/embedded/submissions", self.submit, methods=["POST"]),
        ]

    async def welcome(self, request: Request) -> Response:
        """The first page, in the frame; its `state` ties a login to this very page."""
        candidate, project, _ = self._assessment(_query(request))
        return page(
            "welcome.html",
            # A form may also follow the redirect of its answer, if the policy names that place.
            allow=FRAMED | SCRIPTS | {"form-action": f"'self' {self._arena}".rstrip()},
            project=project,
            candidate=candidate,
            state=secrets.token_urlsafe(16),
        )

    async def show_login(self, request: Request) -> Response:
        """The pop-up's first page."""
        given = _query(request)
        _, project, _ = self._assessment(given)
        return _login_form(given, project)

    async def log_in(self, request: Request) -> Response:
        """Let in the one email address with which the candidate was added."""
        given = await filled_in(request)
        candidate, project, _ = self._assessment(given)
        if not same_email(given.get("email", ""), candidate.email1):
            return _login_form(given, project, refused=True)
        seat = Seat(project.id, candidate.candidate_id)
        state = given.get("state", "")
        code = self._logins.code_for(seat, state)
        return page("logged_in.html", allow=SCRIPTS, code=code, state=state)

    async def no_way_in(self, request: Request) -> Response:
        raise Refused(
            403, "The arena opens after a login. Please open the link in your invitation."
        )

    async def arena(self, request: Request) -> Response:
        """Turn a one-time code into the arena, once; or redirect to the arena's own origin."""
        given = await filled_in(request)
        if self._arena:
            there = f"{self._arena}/embedded/arena?{urlencode(given)}"
            return RedirectResponse(there, 303, headers={"cache-control": "no-store"})
        return self._enter(given)

    async def arrive(self, request: Request) -> Response:
        """Come to the arena from the application's origin."""
        return self._enter(_query(request))

    def _enter(self, given: Mapping[str, str]) -> Response:
        candidate, project, problem = self._assessment(given)
        seat = Seat(project.id, candidate.candidate_id)
        session = self._logins.redeem(given.get("code", ""), seat, given.get("state", ""))
        if session is None:
            again = f"/embedded/welcome?projectId={seat.project_id}&candidateId={seat.candidate_id}"
            return page("log_in_again.html", 403, allow=FRAMED, again=again)
        nonce = secrets.token_urlsafe(16)
        return page(
            "arena.html",
            # The editor writes its styles itself; the nonce lets its styles in and no others.
            allow=FRAMED
            | {
                "script-src": f"'self' 'nonce-{nonce}'",
                "style-src": f"'self' 'nonce-{nonce}'",
                "connect-src": "'self'",
            },
            nonce=nonce,
            project=project,
            problem=problem,
            session=session,
            draft=self._record.drafts.get(candidate.candidate_id),
            handed_in=self._handed_in(seat),
            install_full="" if editor_routes() else how_to_install(),
            languages=LANGUAGES,
        )

    async def save(self, request: Request) -> Response:
        """Keep a draft, as the candidate types."""
        written = await self._written(request)
        self._record.save_draft(written)
        return JSONResponse({"saved": written.at.isoformat()})

    async def submit(self, request: Request) -> Response:
        """Take a solution in; it shows in the problem's `submissions` (interface 2)."""
        written = await self._written(request)
        self._record.save_draft(written)
        submission = self._record.submit(written)
        seat = Seat(written.project_id, written.candidate_id)
        answer = {"number": submission.number, "handed_in": self._handed_in(seat)}
        return JSONResponse(answer, 201)

    async def _written(self, request: Request) -> Solution:
        """What the arena sent. Raises Refused."""
        refuse_other_sites(request)
        seat = self._logins.seat(request.headers.get("x-session", ""))
        if seat is None:
            raise Refused(401, "this login has ended")
        try:
            body = json.loads(await request.body())
        except ValueError:
            body = None
        if wrong := wrong_solution(body):
            raise Refused(422, wrong)
        candidate, project, problem = self._assessment(
            {"projectId": str(seat.project_id), "candidateId": str(seat.candidate_id)}
        )
        return Solution(
            at=datetime.now(UTC),
            project_id=project.id,
            candidate_id=candidate.candidate_id,
            problem_id=problem["id"],
            **body,
        )

    def _handed_in(self, seat: Seat) -> int:
        return sum(
            submission.candidate_id == seat.candidate_id for submission in self._record.submissions
        )

    def _assessment(self, given: Mapping[str, str]) -> tuple[Candidate, Project, Problem]:
        """Find what an embed URL names. Raises Refused; a project has just one problem here."""
        project_id, candidate_id = _id(given, "projectId"), _id(given, "candidateId")
        if project_id is None or candidate_id is None:
            raise Refused(
                400, "This link is incomplete: projectId and candidateId must both be numbers."
            )
        project = self._record.project(project_id)
        candidate = self._record.candidate(project_id, candidate_id)
        if project is None or candidate is None:
            raise Refused(404, "No such assessment. Please open the link in your invitation again.")
        problems = [self._record.problem(number) for number in project.problem_ids]
        if len(problems) != 1 or problems[0] is None:
            has = f"has {len(problems)} problems" if problems else "has no problem yet"
            raise Refused(
                409,
                f"This assessment cannot be taken: its project {has}, and an embedded one must "
                "have exactly one. Please tell the people who invited you.",
            )
        return candidate, project, problems[0]


def _login_form(given: Mapping[str, str], project: Project, *, refused: bool = False) -> Response:
    kept = {name: given.get(name, "") for name in ("projectId", "candidateId", "state")}
    status = 403 if refused else 200
    typed = given.get("email", "")
    return page(
        "login.html",
        status,
        allow=FORMS,
        project=project,
        kept=kept,
        typed=typed,
        refused=refused,
    )


def _query(request: Request) -> Mapping[str, str]:
    """The parameters of the address; one that was given twice counts as not given."""
    every = request.query_params
    return {name: value for name, value in every.items() if len(every.getlist(name)) == 1}


def _id(given: Mapping[str, Any], name: str) -> int | None:
    """An id of the service: a plain number."""
    match = re.fullmatch(r"[0-9]{1,18}", given.get(name, ""))
    return int(match[0]) if match else None
