"""A candidate who follows an invitation's link to the arena, without a browser."""

import re
from http.client import HTTPConnection, HTTPException
from typing import Self
from urllib.parse import parse_qs, urlencode, urlsplit


class Visitor:
    """Walks in as the pages do: welcome, login in the pop-up, one-time code, arena."""

    def __init__(self, app_url: str) -> None:
        """`app_url` is the sandbox's web application; links that lead elsewhere are not opened."""
        self._origin = app_url
        self._connection = HTTPConnection(urlsplit(app_url).netloc, timeout=30)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._connection.close()

    def kept_out(self, link: str, email: str) -> str | None:
        """Say at which step a person with this link and this email address is refused.

        None if the arena opened (interface 4.7).
        """
        if not link.startswith(f"{self._origin}/embedded/welcome?"):
            return "the link does not lead to the application"
        try:
            return self._walk(link, email)
        except (OSError, HTTPException) as error:
            return f"the application does not answer ({type(error).__name__})"

    def _walk(self, link: str, email: str) -> str | None:
        query = urlsplit(link).query
        form = {name: values[-1] for name, values in parse_qs(query).items()}
        status, text = self._ask("GET", f"/embedded/welcome?{query}")
        state = re.search(r'name="state" value="([^"]+)"', text)
        if status != 200 or state is None:
            return f"the welcome page answers {status}"
        form |= {"state": state[1], "email": email}
        status, text = self._ask("POST", "/embedded/login", form)
        code = re.search(r'data-code="([^"]+)"', text)
        if status != 200 or code is None:
            return f"the login answers {status}"
        status, text = self._ask("POST", "/embedded/arena", form | {"code": code[1]})
        return None if status == 200 and "data-session=" in text else f"the arena answers {status}"

    def _ask(self, method: str, path: str, form: dict[str, str] | None = None) -> tuple[int, str]:
        headers = {"origin": self._origin}
        body = None
        if form is not None:
            body = urlencode(form)
            headers["content-type"] = "application/x-www-form-urlencoded"
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read().decode()
