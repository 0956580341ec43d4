"""The embedded interface: from the link in an invitation to the arena (interface 4.7).

The login is in a pop-up. The assessment is in a frame of somebody else's page, where browsers do
not send the pop-up's cookies. So the pop-up hands a one-time code to the page that opened it, if
that page is ours. The frame exchanges the code for a session, and shows the arena.
"""

import secrets
import time
from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from sandbox.pages import done, own_form, page
from sandbox.state import Candidate, ServiceState

CODE_LIFETIME = 60
"""The most seconds from the login to the arena."""

LONGEST = 200_000
"""The most characters of each text in a solution."""


class Embedded:
    """The candidate's pages. Codes and sessions are in memory: a restart ends them."""

    def __init__(self, state: ServiceState) -> None:
        self._state = state
        self._codes: dict[str, tuple[Candidate, str, float]] = {}
        self._sessions: dict[str, Candidate] = {}

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/embedded/welcome", self.welcome),
            Route("/embedded/login", self.show_login, methods=["GET"]),
            Route("/embedded/login", self.login, methods=["POST"]),
            Route("/embedded/enter", self.enter, methods=["POST"]),
            Route("/embedded/arena", self.arena),
            Route("/embedded/solution", self.solution, methods=["POST"]),
        ]

    async def welcome(self, request: Request) -> Response:
        """The first page, in the frame. Its `key` ties a login to exactly this page."""
        candidate = self._candidate(request.query_params)
        key = secrets.token_urlsafe(16)
        project = self._state.project_of(candidate)
        return page("welcome.html", framed=True, project=project, candidate=candidate, key=key)

    async def show_login(self, request: Request) -> Response:
        given = request.query_params
        return page("login.html", candidate=self._candidate(given), key=given.get("key", ""))

    async def login(self, request: Request) -> Response:
        """The pop-up. It accepts only the candidate's own address, with any capitals."""
        form = await own_form(request)
        candidate, key, typed = self._candidate(form), form.get("key", ""), form.get("email", "")
        if typed.strip().casefold() != candidate.email.strip().casefold():
            return page("login.html", 403, candidate=candidate, key=key, typed=typed)
        code = secrets.token_urlsafe(24)
        self._codes[code] = candidate, key, time.monotonic() + CODE_LIFETIME
        return page("logged_in.html", code=code, key=key)

    async def enter(self, request: Request) -> Response:
        """Exchange a code for a session. Every try uses the code up."""
        form = await own_form(request)
        candidate = self._candidate(form)
        known, key, until = self._codes.pop(form.get("code", ""), (None, "", 0.0))
        if known is not candidate or key != form.get("key") or time.monotonic() > until:
            raise HTTPException(403, "This login has ended. Open your link and log in again.")
        session = secrets.token_urlsafe(24)
        self._sessions[session] = candidate
        return RedirectResponse(f"/embedded/arena?session={session}", 303)

    async def arena(self, request: Request) -> Response:
        candidate = self._logged_in(request.query_params)
        project = self._state.project_of(candidate)
        problem = self._state.problems[project.problem_id or 0]
        return page(
            "arena.html",
            framed=True,
            candidate=candidate,
            project=project,
            problem=problem,
            session=request.query_params["session"],
        )

    async def solution(self, request: Request) -> Response:
        """Store what was typed; with `submit`, it is handed in. Nothing is executed."""
        form = await own_form(request)
        candidate = self._logged_in(request.query_params)
        texts = {name: form.get(name, "") for name in ("environment", "language", "code")}
        if not all(len(text) <= LONGEST for text in texts.values()):
            raise HTTPException(422, f"A solution has at most {LONGEST:,} characters.")
        solution = texts | {"submit": form.get("submit") == "yes"}
        self._state.keep_solution(candidate, solution)
        done(request, solution, candidate=candidate.id)
        return JSONResponse({"submissions": candidate.submissions})

    def _candidate(self, given: Mapping[str, str]) -> Candidate:
        """The candidate of an embed URL. Raises HTTPException if it is wrong or not ready."""
        ids = [given.get(name, "") for name in ("projectId", "candidateId")]
        if not all(each.isdecimal() and len(each) < 19 for each in ids):
            raise HTTPException(400, "This link is not complete: two numbers belong to it.")
        candidate = self._state.candidate(*map(int, ids))
        if candidate is None:
            raise HTTPException(404, "There is no such assessment. Open your link again.")
        if self._state.project_of(candidate).problem_id is None:
            why = "This assessment has no problem yet. Please tell whoever invited you."
            raise HTTPException(409, why)
        return candidate

    def _logged_in(self, given: Mapping[str, str]) -> Candidate:
        candidate = self._sessions.get(given.get("session", ""))
        if candidate is None:
            raise HTTPException(401, "This login has ended. Open your link and log in again.")
        return candidate
