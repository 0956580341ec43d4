"""Forms that people send from the sandbox's own pages, and from no other."""

from starlette.requests import Request

from sandbox.protocol.origins import from_own_page

NOT_OURS = "This form was not sent from one of the sandbox's own pages."


class NotOurs(Exception):
    """Another site's page sent this."""


async def filled_in(request: Request) -> dict[str, str]:
    """Read the texts of a form. Raises NotOurs, unread, for one that another site's page sent."""
    if not from_own_page(request.headers):
        raise NotOurs
    async with request.form() as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}
