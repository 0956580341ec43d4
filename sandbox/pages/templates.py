"""How a page is shown: its template, every value escaped, and what the browser may do with it."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jinja2
from starlette.responses import HTMLResponse, Response

# A page may show itself and nothing more; `allow` of `page` opens what one page needs.
_CLOSED = {
    "default-src": "'none'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
_HEADERS = {
    "x-content-type-options": "nosniff",
    # Forms name their origin to the sandbox itself, and links give nothing away.
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
}
_TYPES = {".css": "text/css", ".js": "text/javascript"}

Allowed = Mapping[str, str | None]

FORMS = {"form-action": "'self'"}
FRAMED = {"frame-ancestors": None}  # by any page: `*` would keep out pages opened from a disk
SCRIPTS = {"script-src": "'self'"}


def page(
    template: str, status: int = 200, *, allow: Allowed = MappingProxyType({}), **values: Any
) -> Response:
    """Show a template; `allow` replaces directives of its content security policy."""
    directives = {**_CLOSED, **allow}
    policy = "; ".join(f"{name} {what}" for name, what in directives.items() if what is not None)
    text = _templates().get_template(template).render(**values)
    return HTMLResponse(text, status, headers=_HEADERS | {"content-security-policy": policy})


def sorry(status: int, reason: str, *, framed: bool = False) -> Response:
    """Say in words why a page cannot be shown."""
    return page("sorry.html", status, allow=FRAMED if framed else {}, reason=reason)


def file(name: str) -> Response:
    """Return a stylesheet or a script of the pages; 404 for any other name."""
    place, kind = resources.files("sandbox") / "pages" / name, _TYPES.get(Path(name).suffix)
    if kind is None or not place.is_file():
        return Response(status_code=404)
    return Response(
        place.read_bytes(), media_type=kind, headers={"x-content-type-options": "nosniff"}
    )


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("sandbox", "pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
