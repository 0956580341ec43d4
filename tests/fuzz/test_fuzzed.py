"""Bytes that nobody chose, fed to everything that reads: a little of it in every test run."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz import fuzzed

LINES = st.lists(
    st.sampled_from(
        [
            b"campaign: a",
            b"project: {name: A, starttime: 2026-03-29 02:30, timezone: Europe/Paris}",
            b"problem: 42",
            b"problem: {title: x}",
            b"candidates:",
            b"  - {first_name: A, last_name: B, email1: a@example.com}",
            b"  - {first_name: =1+1, last_name: \xe2\x80\xae, email1: b@b\xc3\xbc.example}",
            b"candidates: {file: ../../etc/passwd}",
            b"invites: {waves: [5, rest], pilot: a@example.com, hours: Mon-Fri 9-18}",
            b"guard: {removed: 20%}",
            b"first_name,last_name,email1",
            b"Ann;Lee;ann@example.com",
            b"A,B,a@example.com",
            b'"A\n","B",a@example.com',
            b"&a [*a, *a]",
            b"? !!python/object:os.system",
            b"\xff\xfe\x00",
            b"\x06<html><table><tr hidden><td rowspan=3 colspan=2>email1",
            b"<table><!-- <![x[ <td><a href=mailto:a@example.com>a</table>",
            b'<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet><Table>',
            b'<Row><Cell xmlns:s="urn:schemas-microsoft-com:office:spreadsheet" s:Index="-1"/>',
        ]
    )
).map(b"\n".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "candidate_id", "email1", "title", "access_token", "x"]), inner
        )
    ),
    max_leaves=8,
).map(lambda value: fuzzed.json.dumps(value).encode())
ANYTHING = st.binary(max_size=400)


@settings(max_examples=150, deadline=None)
@given(st.binary(min_size=5, max_size=5), JSON | ANYTHING)
def test_any_answer(head: bytes, body: bytes) -> None:
    """A verdict is never better than its proof, whatever a service or a proxy sends."""
    fuzzed.answers(head + body)


@settings(max_examples=60, deadline=None)
@given(LINES | ANYTHING)
def test_any_file(content: bytes) -> None:
    """A file is read, or its problems are told with their places; nothing else comes of it."""
    fuzzed.definitions(content)
    fuzzed.tables(content)
    fuzzed.workbooks(content)
    fuzzed.lists(content)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60).map(str.encode) | ANYTHING)
def test_any_text(text: bytes) -> None:
    """A field is understood or refused in words, and nothing that is shown acts."""
    fuzzed.words(text)
    fuzzed.shown(text)
