"""The page itself: everything in one file, no script, nothing asked of anybody.

Every text was written by somebody else, so nothing in it may act: no tag is a tag, and no
invisible character turns a line round.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from flows.report.contents import Report
from flows.report.funnel import Colours, funnel
from flows.report.timeline import KINDS, pictures
from tasks.outputs.embed_page import digest
from tasks.outputs.page_mark import mark

HERE = Path(__file__).parent
ALWAYS = ("candidates", "added", "invited")  # counted on the page even where there are none
THEMED = Colours(
    done="var(--done)",
    doubt="var(--doubt)",
    refused="var(--refused)",
    words="var(--soft)",
    rest="var(--line)",
)


def page(report: Report) -> bytes:
    from jinja2 import Environment  # noqa: PLC0415 - most commands write no page

    shown = {word: n for word, n in report.counts.items() if n or word in ALWAYS}
    bars = funnel(report.counts, send=report.send, colours=THEMED)
    style = (HERE / "style.css").read_text("utf-8")
    template = (HERE / "page.html").read_text("utf-8")
    return (
        Environment(autoescape=True, keep_trailing_newline=True, finalize=_shown)
        .from_string(template)
        .render(
            report=report,
            pictures=pictures(report.points, report.zone),
            counts=shown,
            funnel=bars.replace("<svg ", f'<svg class="funnel" role="img" {_label(shown)} ', 1),
            legend=[(paint, word) for paint, word, _ in KINDS],
            mark=mark("report", report.key),
            style=style,
            policy=f"default-src 'none'; style-src {digest(style)}; base-uri 'none'; "
            "form-action 'none'",
        )
        .encode()
    )


def _label(counts: Mapping[str, int]) -> str:
    return f'aria-label="{", ".join(f"{number:,} {word}" for word, number in counts.items())}"'


def _shown(value: object) -> object:
    """Show what cannot be seen: a control character, or one that turns the direction of text."""
    if not isinstance(value, str) or hasattr(value, "__html__") or value.isprintable():
        return value
    plain = re.sub(r"[^\S ]+", " ", value)
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in plain)
