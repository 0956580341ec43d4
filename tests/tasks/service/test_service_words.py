"""What the service itself wrote reaches the person, as a quotation, and nothing else."""

import json
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable

import pytest

from tasks.sending.bulk_add import alike
from tasks.service.excerpt import LARGEST, LONGEST, excerpt

SECRET, TOKEN = "s3cret-Value/9", "1700000000.123:0123456789abcd"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            {"message": "stage_id 2 does not exist in this project"},
            "stage_id 2 does not exist in this project",
        ),
        ({"Message": "no credits left"}, "no credits left"),
        (
            {"error": "access_denied", "error_description": "Unknown audience"},
            "access_denied; Unknown audience",
        ),
        ({"error": {"code": 17, "message": "no credits left"}}, "no credits left"),
        ({"error": {"type": "x", "info": {"why": "no credits"}}}, "type: x; info: why: no credits"),
        ({"errors": ["a is wrong", "b is wrong", "a is wrong"]}, "a is wrong; b is wrong"),
        (
            {"errors": {"email1": ["is taken"], "name": "is long"}},
            "email1: is taken; name: is long",
        ),
        ({"errors": [{"title": "Bad", "detail": "stage 2"}]}, "Bad; stage 2"),
        (
            {"detail": [{"loc": ["body", 0, "stage_id"], "msg": "not an integer"}]},
            "body.0.stage_id: not an integer",
        ),
        ({"email1": ["Enter a valid address."]}, "email1: Enter a valid address."),
        ([{}, {"email1": ["Enter a valid address."]}], "email1: Enter a valid address."),
        ({"success": False, "reason": "closed"}, "closed"),
        (
            {"state": 17, "info": "no credits", "ok": False},
            "state: 17; info: no credits; ok: false",
        ),
        ("no credits left", "no credits left"),
        (["first", "second"], "first; second"),
        # People whom an answer repeats are no words.
        ([{"first_name": "Ada", "email1": "ada@example.com", "candidate_id": 1}], None),
        ({"data": [{"first_name": "Ada", "email1": "ada@example.com"}]}, None),
        ({}, None),
        ([], None),
        (17, None),
        (None, "null"),
    ],
)
def test_json_is_reduced_to_its_words(answer: object, words: str | None) -> None:
    """Whatever usual shape an error has (interface 7: none is shown)."""
    assert excerpt(json.dumps(answer).encode()) == words


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (None, None),
        (b"", None),
        (b"   \r\n ", None),
        (b"no credits\r\n\tleft\n", "no credits left"),
        (b"<html><head><TITLE lang=en>Sign in &amp; go</TITLE></head>Hello", "Sign in & go"),
        (b"<!doctype html><body>Hello", None),
        (b"<html><title>never closed", None),
        (b"\xff\xfe<\0h\0t\0", None),
        (b"\x00\x01\x02", None),
        ("Ungültig".encode(), "Ungültig"),
        ("Ungültig".encode("latin-1"), "Ung\N{REPLACEMENT CHARACTER}ltig"),
        (b'{"message": "no cred', "{'message': 'no cred"),
    ],
)
def test_other_bodies_are_their_text_or_their_title(body: bytes | None, words: str | None) -> None:
    """A page says nothing but its title; what is no text says nothing."""
    assert excerpt(body) == words


@pytest.mark.parametrize(
    "written",
    [
        "\x1b[2J\x1b]0;owned\x07 all \u202ewell\u2066 \u200b",
        'done". Next: campaign settle "x',
        "“done” \ud800 ok\u2028then",
        "x" * 10_000,
        "é" * 10_000,
    ],
)
def test_nothing_in_it_leaves_its_quotation(written: str) -> None:
    """One line, printable, short, and without a mark that would end the quotation."""
    for body in (json.dumps({"message": written}).encode(), written.encode(errors="replace")):
        words = excerpt(body)
        assert words and words.isprintable() and len(words) <= LONGEST
        assert not set(words) & set('"“”„‟')


@pytest.mark.parametrize(
    "written",
    [
        f"not accepted: {SECRET}",
        "not accepted: s3cret-Value%2F9",
        f"the token {TOKEN} is old",
        f"Authorization: Bearer {TOKEN}",
        f"got Bearer {'aZ' * 12}",
        "got eyJhbGciOi.eyJzdWIiOiI.c2lnbmF0",
        f"got {'a1' * 16}",
        "client_secret=abcdef1",
        "'password': 'abcdef1'",
    ],
)
def test_no_secret_is_in_it(written: str) -> None:
    """A gateway may reflect what it was sent: ours go, and whatever looks like one."""
    for body in (json.dumps({"message": written}).encode(), written.encode()):
        words = excerpt(body, (SECRET, TOKEN, ""))
        assert words is not None and "[removed]" in words
        for part in (SECRET, "s3cret", TOKEN, "aZaZ", "eyJ", "a1a1", "abcdef1"):
            assert part not in words


@pytest.mark.parametrize("encoded", [b64encode, urlsafe_b64encode])
@pytest.mark.parametrize("beside", ["{}", "a:{}", "ab:{}\n", "abc:{}?"])
@pytest.mark.parametrize("secret", [SECRET, TOKEN, "s3cret?>~~~?>"])
def test_no_secret_is_in_it_as_base64(
    encoded: Callable[[bytes], bytes], beside: str, secret: str
) -> None:
    """Also where it is encoded together with what stands beside it, as for HTTP's Basic."""
    written = encoded(beside.format(secret).encode()).decode()
    words = excerpt(f"not accepted: {written}".encode(), (SECRET, TOKEN, "s3cret?>~~~?>"))
    assert words is not None and "[removed]" in words
    kept = words.replace("[removed]", "")
    assert not any(written[at : at + 8] in kept for at in range(6, len(written) - 12))


def test_what_helps_to_mend_it_stays() -> None:
    """Ids of requests, addresses, and words about tokens are no secrets."""
    written = (
        "Invalid token: signature expired; request 0f8fad5b-d9cb-469f-a165-70867728950e; "
        "see https://help.example.com/errors/no-such-stage-in-this-project"
    )
    assert excerpt(written.encode(), (SECRET, TOKEN)) == written
    field = json.dumps({"access_token": "abc", "note": "x"}).encode()
    assert excerpt(field) == "note: x"


@pytest.mark.parametrize(
    "body",
    [
        b"<title" * 60_000,
        b"<title>" * 60_000,
        b"[" * 400_000,
        b'{"error":' * 60_000,
        b"[" + b"{}," * 400_000 + b"{}]",
        b"a" * LARGEST * 4,
        b"token" * 60_000,
        b"token: " * 60_000,
        b"bearer " * 60_000,
    ],
)
def test_no_answer_takes_long(body: bytes) -> None:
    """It is read while people wait to be invited."""
    began = time.process_time()
    excerpt(body, (SECRET, TOKEN))
    assert time.process_time() - began < 1


def test_words_about_different_people_are_compared_without_what_differs_by_person() -> None:
    """A refusal that hits everybody may name each of them, the row, and the request."""
    ada = "Row 1: candidate Ada Lovelace <ada@example.com>: stage 2 is unknown (request 8f3a)"
    bo = "Row 2: candidate Bo Li <bo@example.com>: stage 2 is unknown (request 77e1)"
    other = "Row 3: candidate Cy Ng <cy@example.com>: email1 is taken (request 91aa)"
    names = (("Ada", "Lovelace"), ("Bo", "Li"), ("Cy", "Ng"))
    reduced = [alike(text, own) for text, own in zip((ada, bo, other), names, strict=True)]
    assert reduced[0] == reduced[1] != reduced[2]
    assert alike(None, ()) == ""
