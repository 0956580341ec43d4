"""The sandbox in a browser: its start page, its outbox, its controls, and who may open them.

The controls take JSON only, so that no page of another site can operate them unasked.
"""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sandbox.faults.faults import Faults, faults_from_json
from sandbox.pages.editor import editor_routes
from sandbox.pages.parts import part
from sandbox.pages.refusals import Refused, in_words
from sandbox.pages.templates import FORMS, file, page, sorry
from sandbox.protocol.origins import asks_for_us
from sandbox.service.outbox import Outbox
from sandbox.service.record import Candidate, Record

SHOWN = 10
"""How many of the newest interviews the start page shows."""


class Desk:
    """What a person sees of the sandbox, and its controls under /sandbox."""

    def __init__(self, record: Record, outbox: Outbox, faults: Faults) -> None:
        self._record = record
        self._outbox = outbox
        self._faults = faults

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/", self.desk),
            Route("/style.css", self.file),
            Route("/scripts/{name}", self.file),
            *editor_routes(),
            Route("/outbox", self.outbox),
            Route("/outbox/{number:int}", self.message),
            Route("/sandbox/record", self.record),
            Route("/sandbox/invitations", self.invitations),
            Route("/sandbox/faults", self.show_faults, methods=["GET"]),
            Route("/sandbox/faults", self.add_faults, methods=["POST"]),
            Route("/sandbox/faults", self.clear_faults, methods=["DELETE"]),
        ]

    async def desk(self, request: Request) -> Response:
        return page(
            "desk.html",
            allow=FORMS,
            projects=self._record.projects[-SHOWN:][::-1],
            candidates=part(self._record.candidates, request.query_params, Candidate.words),
            record=self._record,
            shown=SHOWN,
        )

    async def file(self, request: Request) -> Response:
        return file(request.url.path.rpartition("/")[2])

    async def outbox(self, request: Request) -> Response:
        letters = part(self._record.invitations, request.query_params, lambda letter: letter.email)
        return page("outbox.html", allow=FORMS, letters=letters)

    async def message(self, request: Request) -> Response:
        number: int = request.path_params["number"]
        if not 1 <= number <= len(self._record.invitations):
            raise Refused(404, "There is no such message.")
        invitation = self._record.invitations[number - 1]
        message = self._outbox.message(invitation)
        before, _, after = str(message.get_content()).partition(invitation.link)
        return page(
            "message.html", message=message, before=before, link=invitation.link, after=after
        )

    async def record(self, request: Request) -> Response:
        return JSONResponse(self._record.as_json())

    async def invitations(self, request: Request) -> Response:
        return JSONResponse([each.as_json() for each in self._record.invitations])

    async def show_faults(self, request: Request) -> Response:
        return JSONResponse(self._faults.as_json())

    async def add_faults(self, request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return JSONResponse({"error": "wanted Content-Type: application/json"}, 415)
        try:
            faults = faults_from_json(await request.body())
        except ValueError as wrong:
            return JSONResponse({"error": str(wrong)}, 400)
        self._faults.add(*faults)
        return JSONResponse(self._faults.as_json(), 201)

    async def clear_faults(self, request: Request) -> Response:
        self._faults.clear()
        return Response(status_code=204)


class Pages:
    """Every page as one application, for browsers that look for this machine by its name."""

    def __init__(self, routes: Sequence[BaseRoute], listening: str) -> None:
        """`listening` is the address that the sandbox listens on."""
        self._pages = Starlette(routes=routes, exception_handlers={HTTPException: in_words})
        self._pages.router.redirect_slashes = False
        self._listening = listening

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer: ASGIApp = self._pages
        if not asks_for_us(Request(scope).headers.get("host", ""), self._listening):
            answer = sorry(421, "This address does not belong to the sandbox.")
        await answer(scope, receive, send)
