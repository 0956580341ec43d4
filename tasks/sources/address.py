"""Fetch a table from a web address, such as the export of a shared sheet: whole, or not at all.

The query of the address and the header that is sent are secrets: no message repeats them.
"""

import asyncio
import logging
import re
from urllib.parse import urlsplit

import httpx

from config.settings import Settings, is_loopback
from config.sheets.files import LARGEST
from tasks.service.wire import trusted

SECONDS = 60.0  # for the whole fetch
REDIRECTS = 5
NO_TABLE = re.compile(r"(image|audio|video)/|text/html|application/(json|pdf|xhtml)", re.IGNORECASE)


class Unread(Exception):
    """Why there is no table, in a sentence without secrets."""


def fetched(url: str, here: Settings) -> bytes:
    """Fetch a table. Raises Unread, which names only the host."""
    for logger in ("httpx", "httpcore.http11"):  # they log addresses, with secrets
        logging.getLogger(logger).addFilter(_warns)
    host = "this"
    try:
        host = urlsplit(url).hostname or host
        return asyncio.run(_fetched(url, here))
    except Unread as error:
        why = str(error)
    except httpx.TooManyRedirects:
        why = f"leads from one address to the next, more than {REDIRECTS} times"
    except (TimeoutError, httpx.TimeoutException):
        why = f"did not answer within {SECONDS:g} seconds"
    except httpx.ConnectError as error:
        wrong = "shows a certificate that does not fit; CAMPAIGN_CA_FILE names your company's own"
        why = wrong if "CERTIFICATE" in str(error) else "cannot be reached"
    except (httpx.NetworkError, httpx.RemoteProtocolError, httpx.DecodingError):
        why = "broke off before all of its answer was here"
    except Exception as error:  # noqa: BLE001 - its words may have secrets
        why = f"cannot be asked ({type(error).__name__}); wanted an address such as https://…"
    raise Unread(f"{host} {why}") from None


async def _fetched(url: str, here: Settings) -> bytes:
    secret = here.fetch_authorization  # httpx sends it to no other host
    headers = {"Authorization": secret.get_secret_value()} if secret else {}
    client = httpx.AsyncClient(
        verify=trusted(here.ca_file),
        headers=headers | {"Accept-Encoding": "identity"},
        follow_redirects=True,
        max_redirects=REDIRECTS,
        timeout=SECONDS,
        mounts={"http://": None},  # http is for this machine only: no proxy
        event_hooks={"request": [_refuse_without_https]},
    )
    async with asyncio.timeout(SECONDS), client, client.stream("GET", url) as answer:
        if not answer.is_success:
            login = "; wanted a link for everybody who has it, or CAMPAIGN_FETCH_AUTHORIZATION"
            refused = answer.status_code in {401, 403}
            raise Unread(f"answered with {answer.status_code}{login if refused else ''}")
        if not {"content-length", "transfer-encoding"} & {*answer.headers}:
            raise Unread("does not say how long its answer is, so nobody knows when it is whole")
        data = bytearray()
        async for chunk in answer.aiter_bytes():
            data += chunk
            if len(data) > LARGEST:
                raise Unread(f"answered with more than {LARGEST // 2**20} MB")
        kind = answer.headers.get("content-type", "")
    if NO_TABLE.match(kind) or re.match(rb"\s*[<{[]", data):
        shown = re.match(r"[\w/.+-]{0,60}", kind)
        raise Unread(
            f"answered with a page ({shown[0] if shown else ''}), as for a login, and not with a "
            "table; wanted the address of a .csv or .xlsx"
        )
    return bytes(data)


def _warns(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING


async def _refuse_without_https(request: httpx.Request) -> None:
    """Raise Unread if a request, or a redirect, leads to another machine without https."""
    if request.url.scheme != "https" and not is_loopback(request.url.host):
        raise Unread("has no https, or leads on to an address without")
