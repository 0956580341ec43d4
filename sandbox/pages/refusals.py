"""Whom a page refuses, and how a browser is told."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sandbox.pages.templates import sorry
from sandbox.protocol.origins import from_own_page

# The pages that others show in a frame, and what the arena's script asks for.
_FRAMED = ("/embedded/welcome", "/embedded/arena")
_OF_SCRIPTS = ("/embedded/draft", "/embedded/submissions")
_REASONS = {404: "There is no such page.", 405: "This page cannot be used in that way."}


class Refused(HTTPException):
    """What somebody asked for is not done: the status, and the reason in their words."""


def refuse_other_sites(request: Request) -> None:
    """Raises Refused for what another site's page sent."""
    if not from_own_page(request.headers):
        raise Refused(403, "This form was not sent from one of the sandbox's own pages.")


async def filled_in(request: Request) -> dict[str, str]:
    """Read the texts of a form of our own. Raises Refused, unread, for another site's."""
    refuse_other_sites(request)
    async with request.form() as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


async def in_words(request: Request, error: Exception) -> Response:
    """Say what a browser asked for and did not get: on a page, or to a script as JSON."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    reason = _REASONS.get(status, "The request did not arrive completely.")
    if isinstance(error, Refused):
        reason = error.detail
    if request.url.path in _OF_SCRIPTS:
        return JSONResponse({"error": reason}, status)
    return sorry(status, reason, framed=request.url.path in _FRAMED)
