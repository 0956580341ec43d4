"""The pages: the desk, the outbox, the embedded welcome page, and the sandbox's own controls.

The controls take JSON only, so that no page of another site can operate them unasked.
"""

import json
import re
from functools import cached_property
from importlib import resources
from typing import Any

import jinja2
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from sandbox.faults import Faults, fault_from_json
from sandbox.outbox import Outbox
from sandbox.record import Record

SHOWN = 200
"""How many of the newest rows a list on the desk shows."""

_SECURITY = {
    "content-security-policy": "default-src 'none'; style-src 'self'; base-uri 'none'; "
    "form-action 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


class Pages:
    """Everything the sandbox shows in a browser, and its controls under /sandbox."""

    def __init__(self, record: Record, outbox: Outbox, faults: Faults) -> None:
        self._record = record
        self._outbox = outbox
        self._faults = faults

    def routes(self) -> Starlette:
        """The pages as an application."""
        return Starlette(
            routes=[
                Route("/", self.desk),
                Route("/style.css", self.style),
                Route("/outbox", self.outbox),
                Route("/outbox/{number:int}", self.message),
                Route("/embedded/welcome", self.welcome),
                Route("/sandbox/record", self.record),
                Route("/sandbox/invitations", self.invitations),
                Route("/sandbox/faults", self.show_faults, methods=["GET"]),
                Route("/sandbox/faults", self.add_faults, methods=["POST"]),
                Route("/sandbox/faults", self.clear_faults, methods=["DELETE"]),
            ]
        )

    async def desk(self, request: Request) -> Response:
        return self._page(
            "desk.html",
            projects=self._record.projects[-SHOWN:][::-1],
            candidates=self._record.candidates[-SHOWN:][::-1],
            record=self._record,
            shown=SHOWN,
        )

    async def style(self, request: Request) -> Response:
        return Response(self._style, media_type="text/css", headers=_SECURITY)

    async def outbox(self, request: Request) -> Response:
        return self._page(
            "outbox.html",
            invitations=self._record.invitations[-SHOWN:][::-1],
            record=self._record,
            shown=SHOWN,
        )

    async def message(self, request: Request) -> Response:
        number: int = request.path_params["number"]
        if not 1 <= number <= len(self._record.invitations):
            return self._page("sorry.html", 404, reason="There is no such message.")
        invitation = self._record.invitations[number - 1]
        message = self._outbox.message(invitation)
        before, _, after = str(message.get_content()).partition(invitation.link)
        return self._page(
            "message.html", message=message, before=before, link=invitation.link, after=after
        )

    async def welcome(self, request: Request) -> Response:
        """The first page of the embedded interface (interface 4.7)."""
        project_id = _id(request.query_params, "projectId")
        candidate_id = _id(request.query_params, "candidateId")
        if project_id is None or candidate_id is None:
            reason = "This link is not whole: projectId and candidateId must both be numbers."
            return self._page("sorry.html", 400, reason=reason)
        project = self._record.project(project_id)
        if not project or not self._record.candidate(project_id, candidate_id):
            reason = "No such assessment. Please open the link in your invitation again."
            return self._page("sorry.html", 404, reason=reason)
        return self._page("welcome.html", project=project)

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
            described = json.loads(await request.body())
            if not isinstance(described, list):
                raise ValueError("wanted a JSON list of faults")
            faults = [fault_from_json(each) for each in described]
        except ValueError as wrong:
            return JSONResponse({"error": str(wrong)}, 400)
        self._faults.add(*faults)
        return JSONResponse(self._faults.as_json(), 201)

    async def clear_faults(self, request: Request) -> Response:
        self._faults.clear()
        return Response(status_code=204)

    def _page(self, template: str, status: int = 200, **values: Any) -> Response:
        text = self._templates.get_template(template).render(**values)
        return HTMLResponse(text, status, headers=_SECURITY)

    @cached_property
    def _templates(self) -> jinja2.Environment:
        return jinja2.Environment(
            loader=jinja2.PackageLoader("sandbox", "pages"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    @cached_property
    def _style(self) -> str:
        return (resources.files("sandbox") / "pages" / "style.css").read_text("utf-8")


def _id(query: QueryParams, name: str) -> int | None:
    """An id of the address: given once, and a plain number."""
    given = query.getlist(name)
    if len(given) == 1 and re.fullmatch(r"[0-9]{1,18}", given[0]):
        return int(given[0])
    return None
