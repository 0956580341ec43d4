"""The service in a browser: the outbox, the people, and the web application (interface 1).

The web application can do what a campaign may need: create a problem, and create an interview,
which is a project.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import django_static_ace_builds
from jinja2 import Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from sandbox.api import MONTHS
from sandbox.outbox import Outbox
from sandbox.state import ServiceState

ON_A_PAGE = 50


class WebApplication:
    """The pages for people who run campaigns."""

    def __init__(self, state: ServiceState, outbox: Outbox) -> None:
        self._state = state
        self._outbox = outbox

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/", self.home),
            Route("/outbox", self.emails),
            Route("/outbox/{number:int}", self.email),
            Route("/people", self.people),
            Route("/problems", self.problems, methods=["GET", "POST"]),
            Route("/interviews", self.interviews, methods=["GET", "POST"]),
        ]

    async def home(self, request: Request) -> Response:
        return page("home.html", state=self._state)

    async def emails(self, request: Request) -> Response:
        sent = _part(request, self._state.invitations, lambda each: each.candidate.email)
        return page("outbox.html", part=sent, subject=self._outbox.subject)

    async def email(self, request: Request) -> Response:
        number: int = request.path_params["number"]
        if not 1 <= number <= len(self._state.invitations):
            raise HTTPException(404, "There is no such email.")
        invitation = self._state.invitations[number - 1]
        return page("email.html", invitation=invitation, outbox=self._outbox)

    async def people(self, request: Request) -> Response:
        everybody = list(self._state.candidates.values())
        people = _part(request, everybody, lambda each: f"{each.name} {each.email}")
        return page("people.html", part=people, link=self._outbox.link)

    async def problems(self, request: Request) -> Response:
        if request.method == "POST":
            form = await own_form(request)
            if not form.get("title", "").strip():
                raise HTTPException(422, "A problem needs a title.")
            fields = {name: form.get(name, "") for name in ("title", "description", "difficulty")}
            problem = self._state.make_problem(**fields)
            done(request, fields, problem=problem["id"])
            return RedirectResponse("/problems", 303)
        return page("problems.html", problems=self._state.problems.values())

    async def interviews(self, request: Request) -> Response:
        if request.method == "POST":
            form = await own_form(request)
            if not form.get("name", "").strip():
                raise HTTPException(422, "An interview needs a name.")
            number = form.get("problem", "")
            problem_id = int(number) if number.isdecimal() else None
            if problem_id is not None and problem_id not in self._state.problems:
                raise HTTPException(422, "There is no such problem.")
            fields = {name: form.get(name, "") for name in ("name", "description")}
            fields |= {name: _as_sent(form.get(name, "")) for name in ("starttime", "endtime")}
            project = self._state.make_project({**fields, "state": "open"})
            project.problem_id = problem_id
            ids = {"project": project.id} | ({"problem": problem_id} if problem_id else {})
            done(request, project.fields, **ids)
            return RedirectResponse("/interviews", 303)
        interviews = _part(request, list(self._state.projects.values()), lambda each: each.name)
        return page("interviews.html", part=interviews, state=self._state)


def application(routes: Sequence[BaseRoute], host: str) -> Starlette:
    """All pages and files, for browsers that use `host` or localhost (0.0.0.0, IPv6: any name)."""
    every_name = ":" in host or host == "0.0.0.0"  # noqa: S104 - compares, and binds nothing
    known = ["*"] if every_name else ["127.0.0.1", "localhost", host]
    editor = Path(next(iter(django_static_ace_builds.__path__))) / "static" / "ace-builds"
    files = [
        Mount("/editor", StaticFiles(directory=editor)),
        Mount("/static", StaticFiles(directory=_TEMPLATES)),
    ]
    return Starlette(
        routes=[*routes, *files],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=known)],
        exception_handlers={HTTPException: _sorry},
    )


def page(template: str, status: int = 200, *, framed: bool = False, **values: Any) -> Response:
    """Fill in a page. A `framed` page may be embedded by any page, another page by none."""
    policy = _POLICY + ("* file:" if framed else "'none'")
    headers = {
        "content-security-policy": policy,
        "referrer-policy": "same-origin",
        "cache-control": "no-store",
    }
    return HTMLResponse(_PAGES.get_template(template).render(values), status, headers)


async def own_form(request: Request) -> Mapping[str, str]:
    """The fields of a form. Raises HTTPException if another site's page sent it."""
    if request.headers.get("origin") not in (None, f"http://{request.headers.get('host')}"):
        raise HTTPException(403, "This was not sent from a page of the sandbox.")
    async with request.form() as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


def done(request: Request, body: Mapping[str, Any], **ids: int) -> None:
    """Tell the record what a page has changed."""
    request.scope["done"] = {"body": dict(body), "ids": ids}


async def _sorry(request: Request, error: Exception) -> Response:
    status, why = getattr(error, "status_code", 500), getattr(error, "detail", "")
    return page("sorry.html", status, framed=request.url.path.startswith("/embedded/"), why=why)


def _part(request: Request, rows: Sequence[Any], words: Callable[[Any], str]) -> dict[str, Any]:
    """One page of a list, the newest first; only the rows that contain the `q` of the request."""
    sought = request.query_params.get("q", "").strip()
    if sought:
        rows = [row for row in rows if sought.casefold() in words(row).casefold()]
    pages = max(1, -(-len(rows) // ON_A_PAGE))
    asked = request.query_params.get("page", "1")
    number = min(pages, max(1, int(asked[:9]))) if asked[:9].isdecimal() else 1
    end = len(rows) - (number - 1) * ON_A_PAGE
    shown = rows[max(0, end - ON_A_PAGE) : end][::-1]
    return {"rows": shown, "count": len(rows), "q": sought, "page": number, "pages": pages}


def _as_sent(typed: str) -> str:
    """Write a form's time as interface 2 wants it, in any locale; "" if it is none."""
    try:
        at = datetime.fromisoformat(typed)
    except ValueError:
        return ""
    half = "am" if at.hour < 12 else "pm"
    return f"{MONTHS[at.month - 1]} {at.day}, {at.year} {at.hour % 12 or 12}:{at:%M} {half}"


_TEMPLATES = Path(__file__).parent / "templates"
_PAGES = Environment(
    loader=FileSystemLoader(_TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
)
_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors "
)
