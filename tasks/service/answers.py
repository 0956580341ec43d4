"""Read what the body of an answer says. Pure.

Services send JSON as text/html and log-in pages as JSON, so the Content-Type is ignored.
"""

import codecs
import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from config.definition import Candidate
from config.emails import email_key

CandidateRow = Mapping[str, Any]
"""A candidate as it is sent or answered, with the field names of interface 2."""


def parsed(body: bytes | None) -> Any:
    """Parse JSON. Returns None for anything else."""
    try:
        return json.loads(body, parse_constant=_finite, parse_float=_finite) if body else None
    except (ValueError, RecursionError):  # not JSON, not text, absurd numbers, absurd nesting
        return None


def _finite(number: str) -> float:
    """Read a number. Raises ValueError for NaN and Infinity, which are not JSON."""
    if not math.isfinite(value := float(number)):
        raise ValueError
    return value


def is_page(body: bytes) -> bool:
    """Whether this is markup: it begins with <, or has a page's tag and is not JSON."""
    for mark in (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        body = body.removeprefix(mark)
    begins = body.lstrip(b" \t\r\n\f\v\0").startswith(b"<")  # UTF-16 has NULs
    return begins or (bool(_TAG.search(body)) and parsed(body) is None)


def read_id(value: object) -> int | None:
    """Read an id, a positive number or its text. Returns None for anything else."""
    if isinstance(value, str) and re.fullmatch(r"[1-9]\d{0,18}", value, re.ASCII):
        value = int(value)
    # A boolean is an int only in Python. The ledger cannot store a larger id.
    return value if type(value) is int and 0 < value < 2**63 else None


def match_people(answer: Any, sent: Sequence[CandidateRow]) -> tuple[dict[str, int], bool]:
    """Match ids in an answer to the people who were sent, by email key (interface 4.5).

    People match by address, never by position. If a person has two ids, or two people one id, none
    of them gets an id, because somebody might get another's invitation. An address with another
    name, or with a no, gets none either. Also returns whether the answer names other people.
    """
    own = {email_key(str(row["email1"])): row for row in sent}
    ids: dict[str, set[int]] = {}
    owners: dict[int, set[str]] = {}
    for entry in answer if isinstance(answer, list) else ():
        if not isinstance(entry, dict) or not isinstance(entry.get("email1"), str):
            continue
        key = email_key(entry["email1"])
        found = ids.setdefault(key, set())
        if (number := read_id(entry.get("candidate_id"))) is not None:
            found.add(number)
            owners.setdefault(number, set()).add(key)
        if says_no(entry) or (key in own and _names_differ(own[key], entry)):
            found.add(0)  # not a real id: it makes this person uncertain
    certain = {
        key: number
        for key in own
        if len(ids.get(key, ())) == 1
        for number in ids[key]
        if number and len(owners[number]) == 1
    }
    return certain, bool(ids.keys() - own.keys())


def _names_differ(sent: CandidateRow, answered: CandidateRow) -> bool:
    """Whether an answer has another name for a person, apart from case and blanks."""
    pairs = [(sent.get(name), answered.get(name)) for name in ("first_name", "last_name")]
    return any(
        isinstance(theirs, str) and theirs.strip() and plain(theirs) != plain(str(ours or ""))
        for ours, theirs in pairs
    )


def plain(text: str) -> str:
    """Reduce a name or title to the form that is compared, without capitals or extra blanks."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def says_no(answer: Any) -> bool:
    """Whether parsed JSON says no, at any depth: an outcome key, or a value without a key, has a
    refusal, false, 0 or a very long text; a success key has nothing; a status or code is negative,
    or of three digits and not 2xx; a failure key is not empty; `sent` is an empty list; `not_sent`
    is not empty; or a key that may also repeat what was sent, such as a title, has only a refusal.

    Other keys describe something else: `"archived": false` is no refusal.
    """
    return any(
        (value and words & _FAILURE)
        or (words & {"status", "code"} and re.fullmatch(r"-\d+|[13-9]\d\d", str(value)))
        or (words & _SENT and (value if "not" in words else value == []))
        or (not value and words <= _SUCCESS)
        or ((not key or words & _OUTCOME or words <= _CALL) and _is_no(value))
        or (words <= _REPEATING and isinstance(value, str) and _is_only_no(value))
        for key, value in everything(answer)
        for words in [_words(key)]
    )


def is_plain_yes(body: bytes) -> bool:
    """Whether a body that has to bring no id says yes: it is empty, one word, a few plain words,
    or JSON, and nothing in it says no."""
    if (answer := parsed(body)) is not None:
        return not says_no(answer)
    text = body.decode(errors="replace").strip()
    words = _WORD.findall(text[:LONGEST].casefold())
    return (len(words) < 2 or _PLAIN.issuperset(words)) and not _is_no(text)


def _is_no(value: Any) -> bool:
    if isinstance(value, dict | list):
        return False
    text = str(value).strip()
    is_no = len(text) > LONGEST or text.casefold() in _FALSE
    return is_no or bool(_REFUSAL.search(_BETWEEN.sub(" ", text)))


def _is_only_no(text: str) -> bool:
    """Whether a text is nothing but a refusal, as `Not sent` or `LIMIT_REACHED` are, and titles or
    addresses are not: `Missing Number`."""
    others = _REFUSAL.sub("", said := _BETWEEN.sub(" ", text))
    known = ("_" in text and text.isupper()) or _PLAIN.issuperset(_WORD.findall(others.casefold()))
    return known and others != said


@lru_cache(maxsize=4096)
def _words(key: str) -> frozenset[str]:
    """The words of a key: `emailsSent` and `emails_sent` have the words emails and sent."""
    return frozenset(_BETWEEN.sub(" ", key[:LONGEST]).casefold().split() or [""])


def everything(answer: Any) -> Iterator[tuple[str, Any]]:
    """All values in parsed JSON, in order and at any depth, each with its key. Within a status
    or message both keys count: `{"status": {"code": 1}}` gives "status code".

    Fields of a person are left out, because they only repeat what was sent. A text that is JSON
    itself is parsed.
    """
    left = [("", answer)]
    while left:
        key, value = left.pop()
        yield key, value
        if isinstance(value, str) and value[:1] + value[-1:] in ("{}", "[]"):
            left += [(key, parsed(value.encode()))]
        if isinstance(value, list):
            left += [(key, each) for each in reversed(value)]
        elif isinstance(value, dict):
            within = f"{key} " if _words(key) & _TELLING else ""
            for field, each in reversed(value.items()):
                said = not (field in OF_A_PERSON and isinstance(each, str))
                left += [(within + field, each)] if said else []


LONGEST = 2_000  # a text with more characters counts as a no
OF_A_PERSON = frozenset(Candidate.model_fields)
_SUCCESS = {"success", "successful", "succeeded", "ok"}
_CALL = {"invite", "invitation", "delivery"}
_REPEATING = {"email", "mail", "code", "title", "type"}
_SENT = {"sent", "delivered", "accepted", "invited"}
_TELLING = {"status", "message", "messages", "msg", "detail", "details", "reason", "errmsg"}
_OUTCOME = {
    *("result", "results", "outcome", "state", "queued", "processed", "acknowledged"),
    *("warning", "warnings", "response", *_SUCCESS, *_SENT, *_TELLING),
}
_FAILURE = {
    *("error", "errors", "failed", "failure", "failures", "rejected", "refused", "denied"),
    *("blocked", "bounced", "suppressed", "skipped", "unsent", "undelivered", "unsuccessful"),
    *("exception", "fault", "faultcode", "err", "errno", "errcode"),
}
_PLAIN = {  # words that neither say no nor name anybody
    *("ok", "yes", "done", "success", "successful", "successfully", "sent", "queued", "scheduled"),
    *("invited", "added", "attached", "accepted", "delivered", "created", "email", "mail"),
    *("invitation", "invite", "notification", "message", "candidate", "problem", "project"),
    *("request", "access", "allowed", "could", "found", "internal", "server", "state", "status"),
    *("validation", "an", "a", "the", "to", "has", "have", "was", "been", "is", "will", "be"),
    "and",
}
_WORD = re.compile(r"[^\W_]+")
_TAG = re.compile(rb"<(?:!doctype|html|head|body|title|form|input|script)\b", re.IGNORECASE)
_FALSE = frozenset({"false", "no", "n", "nok", "ko", "off", "0", "0.0"})
_ADDRESS = r"(?<![\w.+%'@-])[\w.+%'-]{1,64}@(?:[\w-]+\.)+(?:[a-z]{2,24}|[A-Z]{2,24})"
_BETWEEN = re.compile(rf"{_ADDRESS}|[_.-]|(?<=[a-z])(?=[A-Z])")  # .no is no refusal
_REFUSAL = re.compile(
    r"\b(?:error|fail|fault|invalid|illegal|denie|deny|reject|refus|declin|forbid|prohibit|unable"
    r"|cannot|\w+n['’]t|couldn|never\b|nothing|nobody|without|too many(?: requests)?"
    r"|0 (?:e.?mails?|invitations?|messages?|candidates?|of)\b"
    r"|(?<!do )not\b|not\b(?! reply\b)|no\b"  # but "Do not reply"
    r"|un(?:auth\w*|success|known|sent|deliver|avail|support|process|subscri)|missing|exceed|limit"
    r"|quota|throttl|expired|block|suppress|suspend|bounce|banned|spam|skip|ignor|drop|abort"
    r"|cancel|disabl|inactive|ineligib|opt(?:ed)?.?out|revok|conflict|duplicate|already"
    r"|tim(?:ed?).?out|try again|retry|wrong|bad\b|incorrect|malform|mismatch)[\w']{0,4}",
    re.IGNORECASE,
)
