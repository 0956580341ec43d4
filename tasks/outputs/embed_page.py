"""A page that embeds one candidate's assessment, to be put on a company's own site.

It holds the iframe and nothing about the person, and loads nothing from elsewhere. The service
decides where the frame goes from the embed URL: after the login it leads to the arena (interface
4.7), which may have another origin than the application.
"""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from jinja2 import Template

STYLE = """
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { display: flex; flex-direction: column; height: 100vh; height: 100dvh; margin: 0;
  font: 1rem/1.5 system-ui, sans-serif; color: light-dark(#1b2230, #e7eaf0);
  background: light-dark(#f7f8fa, #12161d); }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1.5rem;
  padding: .5rem 1rem; }
h1 { flex: 1 1 auto; margin: 0; font-size: 1.1rem; overflow-wrap: anywhere; }
a { color: light-dark(#1c5cad, #8abaf5); }
p { margin: 0; padding: .5rem 1rem; color: light-dark(#6b3b00, #ffce8a);
  background: light-dark(#fff4e0, #33260f); }
main { display: flex; flex: 1 1 auto; min-height: 20rem; }
iframe { flex: 1; border: 0;
  border-top: 1px solid light-dark(#dde2e9, #313a47); }
[hidden] { display: none; }
"""

# The login opens from inside the frame, where this page cannot look, so it cannot know whether a
# window was blocked. It can tell that somebody is in the frame and that no other window came to the
# front. What it says then is true for everybody, also for those whose "Log in" opened no window.
SCRIPT = """
"use strict";
const frame = document.querySelector("iframe");
const blocked = document.getElementById("blocked");
let watch = null;
addEventListener("blur", () => {
  if (watch !== null || document.activeElement !== frame) return;
  const since = performance.now();
  watch = setInterval(() => {
    const opened = !document.hasFocus() || document.hidden;
    blocked.hidden = opened || performance.now() - since < 2000;
    if (opened) clearInterval(watch);
  }, 200);
});
"""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{ policy }}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex, nofollow">
<title>{{ title }}</title>
<link rel="icon" href="data:,">
<style>{{ style | safe }}</style>
</head>
<body>
<header>
<h1>{{ title }}</h1>
<a href="{{ url }}" target="_blank" rel="noopener noreferrer">Open in its own window</a>
</header>
<div role="status"><p id="blocked" hidden>“Log in” opens a small window. If none opens, your browser
blocks it: allow pop-ups for this page and choose “Log in” again, or open the assessment in a
window of its own.</p></div>
<main>{{ frame | safe }}</main>
<script>{{ script | safe }}</script>
</body>
</html>
"""


def embed_page(title: str, url: str, frame: str) -> bytes:
    """Write the page; `frame` is the iframe of this embed URL, as HTML."""
    return _template().render(title=title, url=url, frame=frame, policy=policy(url)).encode()


@cache
def _template() -> "Template":
    from jinja2 import Environment  # noqa: PLC0415 - most commands write no page

    page = Environment(autoescape=True, keep_trailing_newline=True).from_string(PAGE)
    page.globals.update(style=STYLE, script=SCRIPT)
    return page


def policy(url: str) -> str:
    """What the browser may do with the page: show servers' pages in the frame, and run the script
    above.

    From an https page the frame can only go to https; `http:` covers both.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"frame-src {urlsplit(url).scheme}:",
            f"style-src {digest(STYLE)}",
            f"script-src {digest(SCRIPT)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def digest(text: str) -> str:
    """Name a text of a page in its content security policy, so that only this text is allowed."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
