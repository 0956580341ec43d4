"""Logins of the embedded interface: one-time codes, and the sessions they open (interface 4.7).

The login happens in a pop-up, the assessment in an iframe of somebody else's page, where the
browser keeps the pop-up's cookies away. So the pop-up hands the frame a code instead.
"""

import secrets
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import idna

_LONGEST_DOMAIN = 253
SESSION_LIFETIME = 12 * 3600.0
"""Seconds a candidate may work after a login."""


class Seat(NamedTuple):
    """One candidate's place in one assessment: the two ids of an embed URL."""

    project_id: int
    candidate_id: int


@dataclass(frozen=True, slots=True)
class _Issued:
    """A code, or the session that it opened; `state` is of the page that a code was made for."""

    seat: Seat
    until: float
    state: str = ""


class Logins:
    """The codes and sessions that are valid now, in memory only: a restart ends them all.

    `code_lifetime` is in seconds; `clock` returns seconds that only ever grow.
    """

    def __init__(self, code_lifetime: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._code_lifetime = code_lifetime
        self._clock = clock
        self._codes: dict[str, _Issued] = {}
        self._sessions: dict[str, _Issued] = {}

    def code_for(self, seat: Seat, state: str) -> str:
        """Make a code that opens this seat once, for a short time, to the page that got `state`."""
        now = self._clock()
        _forget(self._codes, now)
        code = secrets.token_urlsafe(24)
        self._codes[code] = _Issued(seat, now + self._code_lifetime, state)
        return code

    def redeem(self, code: str, seat: Seat, state: str) -> str | None:
        """Open a session with a code; None if it is unknown, used, expired or somebody else's.

        Any try uses up the code, so nobody can go on guessing with it.
        """
        issued = self._codes.pop(code, None)
        now = self._clock()
        if issued is None or now >= issued.until or (issued.seat, issued.state) != (seat, state):
            return None
        session = secrets.token_urlsafe(24)
        _forget(self._sessions, now)
        self._sessions[session] = _Issued(seat, now + SESSION_LIFETIME)
        return session

    def seat(self, session: str) -> Seat | None:
        """Whose session this is; None when there is no such session, or no longer."""
        session_kept = self._sessions.get(session)
        return session_kept.seat if session_kept and self._clock() < session_kept.until else None


def _forget(kept: dict[str, _Issued], now: float) -> None:
    """Let go of what has ended; the oldest comes first, as all of one kind last equally long."""
    while kept and kept[oldest := next(iter(kept))].until <= now:
        del kept[oldest]


def same_email(address: str, other: str) -> bool:
    """Whether two spellings are the same person's: trimmed, composed, in any case (interface 4.7).

    The same rule as for campaigns, written again: the sandbox imports nothing of theirs.
    """
    return _compared(address) == _compared(other)


def _compared(address: str) -> str:
    local, at, domain = address.strip().rpartition("@")
    return _folded(local) + at + _ascii(domain)


def _ascii(domain: str) -> str:
    if domain.isascii() or len(domain) > _LONGEST_DOMAIN:
        return _folded(domain)
    composed = unicodedata.normalize("NFC", domain)
    try:
        return idna.encode(composed, uts46=True).decode("ascii").lower()
    except ValueError:
        return _folded(domain)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())
