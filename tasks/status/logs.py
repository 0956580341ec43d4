"""What a run does, as lines for a program that collects logs: one JSON object each.

Every line names the campaign, the run and the attempt it is about (null if there is none), and no
line names a person. Nothing is written unless somebody asked for it (CAMPAIGN_LOG_FORMAT=json).
"""

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

log = logging.getLogger("campaign")
log.addHandler(logging.NullHandler())
log.propagate = False  # runs are shown elsewhere, in other words

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_ABOUT: ContextVar[Mapping[str, Any]] = ContextVar("about", default=_NOTHING)
IDS = ("campaign", "run", "attempt")


class AsJson(logging.Formatter):
    """One line: time (UTC), level, event, the three ids, and what the event adds."""

    def format(self, record: logging.LogRecord) -> str:
        more: Mapping[str, Any] = getattr(record, "more", {})
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **dict.fromkeys(IDS),
            **_ABOUT.get(),
            **more,
        }
        return json.dumps(line)


class InWords(logging.Formatter):
    """The same for people, in a line."""

    def format(self, record: logging.LogRecord) -> str:
        about = {**_ABOUT.get(), **getattr(record, "more", {})}
        rest = " ".join(f"{name} {value}" for name, value in about.items() if value is not None)
        at = datetime.fromtimestamp(record.created, UTC)
        return f"{at:%H:%M:%S} {record.getMessage()} {rest}"


def listen(form: logging.Formatter | None = None) -> None:
    """Write lines on standard error from now on, once in each `form`; without one, as JSON."""
    form = form or AsJson()
    if any(type(handler.formatter) is type(form) for handler in log.handlers):
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(form)
    log.addHandler(handler)
    log.setLevel(logging.INFO)


def listening() -> bool:
    """Whether lines are written; ask this before building an expensive line."""
    return log.isEnabledFor(logging.INFO) and len(log.handlers) > 1


@contextmanager
def about(**ids: object) -> Iterator[None]:
    """Name a campaign and a run on every line that is written within, in each task of it."""
    token = _ABOUT.set({**_ABOUT.get(), **ids})
    try:
        yield
    finally:
        _ABOUT.reset(token)


def say(event: str, level: int = logging.INFO, **more: object) -> None:
    """Write one line, if anybody listens."""
    if listening():
        log.log(level, event, extra={"more": more})
