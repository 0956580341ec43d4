"""Promises 36 to 41: links, pages and endings, what is kept and what is forgotten."""

import csv
import functools
import http.server
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import openpyxl
import pytest
from openpyxl.worksheet.worksheet import Worksheet
from playwright.sync_api import Browser, FrameLocator, Page, expect

from sandbox.faults import ALWAYS, lost, status
from tests.promises.support.commands import PRINTED, WHO, Answer, Campaign
from tests.promises.support.service import Service
from tests.promises.support.web import serving

Sandbox = Callable[..., Service]
# People whose names are formulas, scripts and markup; each address has a row of its own.
ODD = [
    {"first_name": "=A1+1", "last_name": "Lovelace", "email1": "ada@people.test"},
    {
        "first_name": "+SUM",
        "last_name": "Ee <script>alert(1)</script>",
        "email1": "eve@people.test",
    },
    {"first_name": "-B2+3", "last_name": "Ee <img src=x onerror=a>", "email1": "bob@people.test"},
    {"first_name": "Ann", "last_name": "Ee <!-- &amp; -->", "email1": "+ann@people.test"},
]


def done(answer: Answer) -> Answer:
    assert answer.code == 0, answer.said
    return answer


def sheet(path: Path) -> Worksheet:
    book = openpyxl.load_workbook(path, rich_text=False)
    found: Worksheet = book.active
    return found


# -- 36, 37: files -----------------------------------------------------------------------------


def test_36_links_stand_beside_the_address_that_must_log_in(
    campaign: Campaign, sandbox: Sandbox
) -> None:
    """As csv, json, xlsx and html, and in a copy of the person's own sheet, in whatever order."""
    service = sandbox()
    campaign.write(people=ODD)
    done(campaign("run", "hiring.yaml", "--yes"))
    links = done(campaign("links", "hiring", "--format", "json")).json()
    fields = ("first_name", "last_name", "email1")
    assert [{name: each[name] for name in fields} for each in links] == ODD
    ids = {email: n for each in service.entries("add") for email, n in each["ids"].items()}
    (project,) = {each["project_id"] for each in service.entries("add")}
    urls = {
        email: f"{service.url}/embedded/welcome?projectId={project}&candidateId={number}"
        for email, number in ids.items()
    }
    assert {each["email1"]: each["embed_url"] for each in links} == urls

    done(campaign("links", "hiring", "--format", "csv", "-o", "links.csv"))
    with (campaign.folder / "links.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["embed_url"] for row in rows] == [urls[one["email1"]] for one in ODD]
    assert not [cell for row in rows for cell in row.values() if cell and cell[0] in "=+-@\t\r"]

    done(campaign("links", "hiring", "--format", "xlsx", "-o", "links.xlsx"))
    # A sheet of one's own: another order, columns of one's own, and somebody else in it.
    own = "Team;Mail;First name;Last name\n" + "".join(
        f"Red;{email};A;B\n" for email in [*reversed(urls), "zoe@people.test"]
    )
    (campaign.folder / "own.csv").write_text(own, "utf-8")
    done(campaign("links", "hiring", "--into", "own.csv", "-o", "results.xlsx"))
    for name in ("links.xlsx", "results.xlsx"):
        cells = sheet(campaign.folder / name)
        assert not [c.coordinate for row in cells for c in row if c.data_type == "f"]
        found = {}
        for row in cells.iter_rows(values_only=True):
            texts = [str(cell).lstrip("'") for cell in row]
            for email in {*urls, "zoe@people.test"} & {*texts}:
                found[email] = {text for text in texts if text in urls.values()}
        assert {email: each for email, each in found.items() if each} == {
            email: {url} for email, url in urls.items()
        }

    done(campaign("links", "hiring", "--format", "html", "-o", "pages"))
    pages = {path: path.read_text("utf-8") for path in (campaign.folder / "pages").rglob("*.html")}
    (index,) = [page for page in pages.values() if "<iframe" not in page]
    for email, url in urls.items():
        (path,) = [
            path for path, page in pages.items() if f'src="{url}"'.replace("&", "&amp;") in page
        ]
        (row,) = [row for row in index.split("<tr") if email in row]
        assert path.name in row
    assert not [page for page in pages.values() if "<script>alert" in page or "<img src=x" in page]


WRITES = {
    # what writes a file: the file, and the words of the command without it
    "links": ("links.csv", "links hiring --format csv -o"),
    "pages": ("pages", "links hiring --format html -o"),
    "into": ("copy.xlsx", "links hiring --into hiring.csv -o"),
    "report": ("report.html", "report hiring -o"),
    "doubts": ("doubts.csv", "settle hiring -o"),
    "mark": ("marked.xlsx", "check bad.yaml --mark"),
    "new": ("another.yaml", "new"),
}


def test_37_no_command_overwrites_a_file_that_is_not_ours(
    campaign: Campaign, sandbox: Sandbox
) -> None:
    """Unless `--force` says so; what it wrote itself it writes anew."""
    sandbox(invite=lost(2))
    campaign.write(people=3, in_a_table=True)
    assert campaign("run", "hiring.yaml", "--yes").code == 3
    campaign.write("bad", people=["no-address"], in_a_table=True)
    mine = b"First name,Email\nAda,ada@people.test\n"
    for what, (name, words) in WRITES.items():
        path = campaign.folder / name
        if what == "pages":
            path.mkdir()
            path = path / "index.html"
        path.write_bytes(mine)
        refused = campaign(*words.split(), name)
        assert refused.code != 0, (what, refused)
        assert path.name in refused.said
        assert path.read_bytes() == mine, what
        if what == "new":
            continue
        forced = campaign(*words.split(), name, "--force")
        assert path.read_bytes() != mine, (what, forced)
        again = campaign(*words.split(), name)
        assert (again.code, again.err) == (forced.code, forced.err), (what, again)


# -- 38: endings -------------------------------------------------------------------------------


def next_command(campaign: Campaign, answer: Answer) -> Answer:
    """Type the first command that an answer printed."""
    printed = PRINTED.search(answer.said)
    assert printed, answer.said
    return campaign.type(printed[0])


def test_38_every_ending_says_what_to_type_and_that_works(
    campaign: Campaign, sandbox: Sandbox
) -> None:
    """Exit codes: 0 done, 1 stopped, 2 bad input, 3 a person must look."""
    service = sandbox()
    campaign.write("other", people=["ada@people.test", "not-an-address"])
    bad = campaign("run", "other.yaml", "--yes")
    assert (bad.code, service.entries()) == (2, [])
    campaign.write("other", people=["ada@people.test"])
    done(next_command(campaign, bad))

    service.faults["problems"] = status(503, times=ALWAYS)
    campaign.write(people=["eve@people.test", "bob@people.test", "ann@people.test"])
    stopped = campaign("run", "hiring.yaml", "--yes")
    assert stopped.code == 1, stopped.said
    assert "503" in stopped.said
    service.faults["problems"] = None
    service.faults["invite"] = lost(2)
    looked = campaign.follow(stopped, "run")
    assert looked.code == 3, looked.said

    listed = campaign.follow(looked, "settle")
    (unsure,) = [email for email, state in campaign.states().items() if state == "unsure"]
    assert unsure in listed.said
    done(campaign("settle", "hiring", "--sent", unsure, "--why", "it has arrived"))
    finished = done(campaign("run", "hiring.yaml", "--yes"))
    done(next_command(campaign, finished))
    assert sorted(service.invited()) == sorted(service.added())


# -- 39, 40: what is kept ----------------------------------------------------------------------


def _everything(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_39_forget_removes_one_person_and_nobody_else(campaign: Campaign, sandbox: Sandbox) -> None:
    """From ledger, links, pages and outputs; it names the rest, and the same sheet is safe."""
    service = sandbox()
    people = [
        {"first_name": "An", "last_name": "Li", "email1": "adalbertine@people.test"},
        {"first_name": "Mary-An", "last_name": "Li", "email1": "gr.adalbertine@people.test"},
    ]
    campaign.write(people=people, in_a_table=True)
    done(campaign("run", "hiring.yaml", "--yes"))
    done(campaign("links", "hiring", "--format", "html", "-o", campaign.outputs / "pages"))
    done(campaign("links", "hiring", "--format", "csv", "-o", campaign.outputs / "more.csv"))
    done(campaign("report", "hiring", "-o", campaign.outputs / "report.html"))
    for folder in ("pages", "."):
        done(campaign("links", "hiring", "--format", "html", "-o", folder))
    done(campaign("links", "hiring", "--into", "hiring.csv", "-o", "results.csv"))
    done(campaign("links", "hiring", "-o", "edited.csv"))
    done(campaign("links", "hiring", "-o", "read.csv"))
    campaign.write("later", people=0, problem=44, candidates={"file": "read.csv"})
    edited = (campaign.folder / "edited.csv").read_text().replace("5002", "5003")
    (campaign.folder / "edited.csv").write_text(edited)

    forgotten = done(campaign("forget", "adalbertine@people.test", "--why", "asked", "--yes"))
    for by_hand in ("hiring.csv", "edited.csv", "read.csv"):
        assert by_hand in forgotten.said
    assert (campaign.folder / "edited.csv").read_text() == edited
    ours = _everything(campaign.ledger.parent) | _everything(campaign.outputs)
    ours |= _everything(campaign.folder / "pages")
    assert not (campaign.folder / "results.csv").exists()
    ours |= {p: data for p, data in _everything(campaign.home).items() if "prefect" not in p.parts}
    for name in (rb"(?<!gr\.a)dalbertine", rb"(?<!-)\bAn\W+Li\b"):
        assert not [path for path, data in ours.items() if re.search(name, data)], name
    # Mary-An's page stays, in whose markup an and li are words.
    assert any(b"gr.a" in data for data in _everything(campaign.outputs / "pages").values())
    assert campaign.states() == {"gr.adalbertine@people.test": "done"}

    before = len(service.changes())
    assert campaign("run", "hiring.yaml", "--yes", "--accept-removed").code in (0, 3)
    campaign.write("second", people=people, problem=43)
    assert "1 candidate was forgotten on request" in campaign("run", "second.yaml", "--yes").said
    assert service.emails_to("adalbertine@people.test") == 1
    assert "'adalbertine@people.test" not in str(service.changes()[before:])
    assert service.emails_to("gr.adalbertine@people.test") == 2


def test_40_history_tells_every_request_and_decision(campaign: Campaign, sandbox: Sandbox) -> None:
    """In order, with who and why; the report is one page that opens without a network."""
    sandbox(invite=lost(1))
    campaign.write(people=["ada@people.test", "eve@people.test", "bob@people.test"])
    assert campaign("run", "hiring.yaml", "--yes").code == 3
    states = campaign.states()
    (unsure,) = [email for email, state in states.items() if state == "unsure"]
    left, fine = sorted({*states} - {unsure})
    whys = {
        "settle": ("settle", "hiring", "--sent", unsure, "--why", "she told me on the phone"),
        "withdraw": ("withdraw", "hiring", left, "--why", "took another job"),
        "undo": ("withdraw", "hiring", left, "--undo", "--why", "changed her mind"),
        "invite": ("invite", "hiring", fine, "--why", "it went to spam", "--yes"),
    }
    for words in whys.values():
        done(campaign(*words))
    done(campaign("run", "hiring.yaml", "--yes"))

    told = done(campaign("history", "hiring")).out
    order = [told.lower().find(word) for word in ("project", "problem", "invit")]
    reasons = [told.find(words[words.index("--why") + 1]) for words in whys.values()]
    assert -1 not in [*order, *reasons, told.find("add")]
    assert order == sorted(order)
    assert order[-1] < reasons[0]
    assert reasons == sorted(reasons)
    assert told.count(WHO) >= len(whys)
    of_one = done(campaign("history", "hiring", fine)).out
    assert "it went to spam" in of_one
    assert "another job" not in of_one

    done(campaign("report", "hiring", "-o", "report.html"))
    page = (campaign.folder / "report.html").read_text("utf-8")
    loads = r"""(?i)<script\s|<link\b|@import|url\(\s*["']?http|\bsrc\s*=\s*["']?(?!data:)"""
    assert re.findall(loads, page) == []


# -- 41: the page that candidates see ----------------------------------------------------------


@pytest.fixture
def host(campaign: Campaign) -> Iterator[str]:
    """A web server of one's own, at another origin than the service: localhost, not 127.0.0.1."""

    handler = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(campaign.folder)
    )
    with serving(handler) as port:
        yield f"http://localhost:{port}"


PERMISSIONS = {"fullscreen", "clipboard-read", "clipboard-write", "keyboard-map"}


def _log_in(page: Page, email: str) -> Page:
    with page.expect_popup() as popup:
        page.frame_locator("iframe").get_by_role("button", name="Log in").click()
    popup.value.get_by_label("Email").fill(email)
    popup.value.get_by_role("button", name="Log in").click()
    return popup.value


def _writes(page: Page, arena: FrameLocator) -> None:
    """Write a solution in the full editor, copy it into the other one, and hand it in."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    status, press = arena.get_by_role("status"), functools.partial(arena.get_by_role, "button")
    arena.get_by_role("textbox", name="full editor").fill("def two_sum():")
    expect(arena.locator(".ace_keyword")).to_have_text("def")  # it knows Python
    expect(status).to_have_text("Saved.")
    press(name="Copy").click()
    expect(status).to_have_text("Copied.")
    arena.get_by_role("radio", name="Lightweight").check()
    typed = arena.get_by_role("textbox", name="lightweight editor")
    typed.fill("")
    press(name="Paste").click()
    expect(typed).to_have_value("def two_sum():")
    press(name="Submit").click()
    expect(status).to_contain_text("Submitted.")
    press(name="Full screen").click()
    page.frames[1].wait_for_function("document.fullscreenElement !== null")


@pytest.mark.slow
@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("where", ["another origin", "the service's own origin"])
def test_41_the_embedded_page_works_in_a_browser(
    campaign: Campaign, sandbox: Sandbox, browser: Browser, host: str, where: str
) -> None:
    """With the four permissions of interface 4.7; whoever logs in with that address is in."""
    service = sandbox()
    campaign.write(people=["ada@people.test"])
    done(campaign("run", "hiring.yaml", "--yes"))
    done(campaign("links", "hiring", "--format", "html", "-o", "pages"))
    (link,) = done(campaign("links", "hiring", "--json")).json()
    (path,) = [p for p in (campaign.folder / "pages").rglob("*.html") if "<iframe" in p.read_text()]
    with browser.new_context() as context:
        page = context.new_page()
        if where == "another origin":
            page.goto(f"{host}/{path.relative_to(campaign.folder)}")
        else:
            own = f"{service.url}/host/{path.name}"
            page.route(own, lambda route: route.fulfill(path=path, content_type="text/html"))
            page.goto(own)
        iframe = page.locator("iframe")
        assert iframe.get_attribute("src") == link["embed_url"]
        allowed = (iframe.get_attribute("allow") or "").replace(",", ";").split(";")
        assert {each.split()[0] for each in allowed if each.strip()} == PERMISSIONS
        wrong = _log_in(page, "bob@people.test")
        expect(wrong.get_by_role("alert")).to_contain_text("not the address that was invited")
        wrong.close()
        _log_in(page, "ada@people.test")
        arena = page.frame_locator("iframe")
        expect(arena.get_by_role("button", name="Submit")).to_be_visible()
        _writes(page, arena)
