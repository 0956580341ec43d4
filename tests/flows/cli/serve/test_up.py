"""`campaign up`: one command, one address, and a clean stop of everything it started."""

import json
import os
import signal
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import httpx
import psutil
import pytest
from playwright.sync_api import Page

from flows.cli.serve.up import instead_of
from flows.inbox import LEFT
from flows.run.interrupts import INTERRUPTED
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from sandbox.service.record import Record
from tests.support.browsers.page_elsewhere import attack, browser_led_astray, rebound
from tests.support.ports import free_port
from tests.support.prefects.prefect_home import (
    CAMPAIGN,
    QUICK,
    Desk,
    PrefectServer,
    Standing,
    answer,
    kept,
    knows_nobody,
)
from tests.support.prefects.prefect_tables import furnish
from tests.support.prefects.workers import runs_of, wait_until
from tests.support.session import PATIENCE
from tests.support.trapped_folder import trapped
from tests.support.webhook import webhook

pytestmark = pytest.mark.xdist_group("up")

PEOPLE = 300
# So many a second: the run is amid them for over a minute, and no answer has long to come.
PACE = {"CAMPAIGN_INVITES_PER_SECOND": "4"}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    (tmp_path / "hiring").mkdir()
    furnish(tmp_path / ".prefect")
    with Sandbox() as service:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PREFECT_HOME": str(tmp_path / ".prefect"),
            "CAMPAIGN_DATABASE_URL": f"sqlite:///{tmp_path / 'ledger.db'}",
            "CAMPAIGN_OUTPUT_DIR": str(tmp_path / "out"),
            # A run that is told to stop while it loads has so long to say how it ended.
            "CAMPAIGN_REQUEST_DEADLINE": str(PATIENCE),
            **service.environment(),
            **QUICK,
        }
        yield Desk(tmp_path / "hiring", service, environment)


@contextmanager
def up(
    desk: Desk, port: int, cwd: Path | None = None, **more: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """`campaign up` in a terminal of its own, once it says that it is ready."""
    log = desk.folder.parent / "up.log"
    with log.open("wb") as words:
        process = subprocess.Popen(
            [CAMPAIGN, "up", str(desk.folder), "--port", str(port)],
            env=desk.environment | more,
            cwd=cwd or desk.folder.parent,
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=words,
            start_new_session=True,
        )
    try:
        wait_until(lambda: "Ctrl-C stops it" in log.read_text() or process.poll(), log)
        assert process.poll() is None, log.read_text()
        yield process
    finally:
        if process.poll() is None:
            cut_power(process)


def cut_power(process: "subprocess.Popen[bytes]") -> None:
    """Kill it with all that it started; some of that may end as soon as its parent has."""
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    for child in children:
        with suppress(psutil.NoSuchProcess):
            child.kill()
    process.wait(timeout=PATIENCE)
    psutil.wait_procs(children, timeout=PATIENCE)  # until then, the server's port is taken


def is_server(child: psutil.Process) -> bool:
    """Whether a child is the server; a run that has just ended has no words any more."""
    with suppress(psutil.Error):
        return "flows.engine.child_process" in child.cmdline()
    return False


def login_at(desk: Desk, port: int) -> Path:
    """Where the login of `campaign up` is kept."""
    return desk.folder.parent / ".local" / "share" / "hiring-campaigns" / "logins" / str(port)


def server_of(desk: Desk, port: int) -> PrefectServer:
    """The server of `campaign up`, to whoever has its login, which is made before it starts."""
    login = f"campaign:{'n0t-a-5ecret_' * 2}123456"
    file = login_at(desk, port)
    file.parent.mkdir(parents=True)
    file.write_text(login)
    file.chmod(0o600)
    home = desk.folder.parent / ".prefect"
    return PrefectServer(f"http://127.0.0.1:{port}/api", home, login)


def invitations(desk: Desk) -> Counter[str]:
    return Counter(sent.email for sent in desk.service.record.invitations)


def test_up_runs_stops_and_comes_up_again(desk: Desk) -> None:
    """Its pages are at the address it names; Ctrl-C in the terminal lets a run under way end by
    itself, leaves no process and no doubt, nor a stack trace of a run that was about to begin; the
    next start goes on with it by itself. Where it is killed, the server ends as well, and
    the port is free. Prefect knows nobody by name."""
    morning = desk.campaign("morning", PEOPLE).read_text()
    evening = morning.replace("morning", "evening") + "invites: {send: false}\n"
    (desk.folder / "evening.yaml").write_text(evening)
    (desk.folder / "bad.yaml").write_text("campaign: bad\n")
    desk.service.faults.add(Fault("slow", "invite", count=None, seconds=1.0))
    port = free_port()
    server = server_of(desk, port)
    log = desk.folder.parent / "up.log"
    with up(desk, port, **PACE) as process:
        assert "<title>" in httpx.get(f"http://127.0.0.1:{port}/").text
        assert "bad.yaml" in log.read_text()
        server.start("campaign/morning")
        desk.service.wait_for(lambda record: len(record.invitations) >= 20, timeout=PATIENCE)
        before = set(psutil.Process(process.pid).children())
        server.start("campaign/evening")
        wait_until(lambda: set(psutil.Process(process.pid).children()) - before, log)
        started = [process, *psutil.Process(process.pid).children(recursive=True)]
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == 0, log.read_text()
        assert [one for one in started[1:] if psutil.pid_exists(one.pid)] == []
    assert "Traceback" not in log.read_text()
    counts = json.loads(desk.type("status", "morning", "--json").out)["counts"]
    assert counts["unsure"] == counts["sending"] == 0
    assert 0 < counts["waiting"] < PEOPLE
    desk.service.faults.clear()

    with up(desk, port) as process:
        wait_until(lambda: len(invitations(desk)) == PEOPLE, log)
        first, second = wait_until(partial(all_ended, server), log)
        assert "interrupted" in first["state"]["message"]
        assert (first["state_name"], second["state_name"]) == ("Stopped", "Completed")
        started = psutil.Process(process.pid).children()
        [pages] = filter(is_server, started)
        process.kill()
        pages.wait(timeout=PATIENCE)
    assert set(invitations(desk).values()) == {1}
    knows_nobody(server)
    assert "person1@" not in log.read_text()


def test_ctrl_c_while_it_looks_into_the_inbox_ends_gently(desk: Desk) -> None:
    """In our words: nothing crashed, nothing was begun, and the next look finds what lies there."""
    inbox = desk.folder / "inbox"
    inbox.mkdir()
    port, log = free_port(), desk.folder.parent / "up.log"
    server = server_of(desk, port)
    with up(desk, port) as process:
        # Else one that its schedule begins may be loading when this one looks.
        server.call("PATCH", f"deployments/{server.deployment('inbox/inbox')}", {"paused": True})
        desk.campaign("laid", 2).rename(inbox / "laid.yaml")
        (desk.folder / "people.csv").rename(inbox / "people.csv")
        # It waits for the files to rest, for longer than it takes to see it at work.
        server.start("inbox/inbox", quiet_for=600)
        at_work = {"type": {"any_": ["RUNNING"]}}
        look = {"name": {"any_": ["look into the folder"]}, "state": at_work}
        wait_until(lambda: server.ask("task_runs", task_runs=look), log)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == 0, log.read_text()
    words = log.read_text()
    for strange in ("Crash", "Traceback", "termination signal", "Aborted"):
        assert strange not in words, words
    assert f"{INTERRUPTED} {LEFT}" in words
    assert not invitations(desk)


def test_ctrl_c_while_a_run_is_still_loading_ends_gently(desk: Desk) -> None:
    """As in the midst of it: nothing crashed, nobody is invited or unsure, and what Prefect shows
    of the run is in our words."""
    desk.campaign("morning", 2)
    port, log = free_port(), desk.folder.parent / "up.log"
    server = server_of(desk, port)
    with up(desk, port) as process:
        server.call("PATCH", f"deployments/{server.deployment('inbox/inbox')}", {"paused": True})
        before = set(psutil.Process(process.pid).children())
        server.start("campaign/morning")
        wait_until(lambda: set(psutil.Process(process.pid).children()) - before, log)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=PATIENCE) == 0, log.read_text()
    words = log.read_text()
    for strange in ("rash", "Traceback", "termination signal", "status code"):
        assert strange not in words, words
    assert f"Stopped('0 of 2 invited. {INTERRUPTED}', type=FAILED)" in words, words
    assert not invitations(desk)
    assert json.loads(desk.type("status", "morning", "--json").out)["counts"]["unsure"] == 0


def test_after_a_power_cut_it_goes_on_by_itself(desk: Desk) -> None:
    """Everything is killed amid the invitations, and once more amid those of the next run: each
    time the run is marked and told once, and the next start of `campaign up` goes on. Nobody has
    two emails, and no more are unsure than were in flight."""
    desk.campaign("morning", PEOPLE)
    desk.service.faults.add(Fault("slow", "invite", count=None, seconds=1.0))
    port, log = free_port(), desk.folder.parent / "up.log"
    server = server_of(desk, port)
    with webhook() as hook:
        desk.environment["CAMPAIGN_NOTIFY_URL"] = hook.url
        for cut in range(2):
            with up(desk, port, **PACE) as process:
                if cut == 0:
                    server.start("campaign/morning")
                desk.service.wait_for(partial(at_least, 40 * (cut + 1)), timeout=PATIENCE)
                cut_power(process)
        desk.service.faults.clear()
        with up(desk, port):
            ended = {"type": {"any_": ["FAILED", "COMPLETED"]}}
            mine = {"tags": {"any_": ["campaign:morning"]}, "state": ended}
            wait_until(lambda: server.ask("flow_runs", flow_runs=mine), log)
            wait_until(lambda: len(hook.told) == 3, log)
            runs = runs_of(server, "campaign:morning")
    told = [text for text in hook.told if text.startswith("morning 20")]
    assert [run["state_name"] for run in runs] == ["Gone", "Gone", "NeedsAttention"]
    assert len({text.split()[-1] for text in told}) == len(told) == 3
    assert set(invitations(desk).values()) == {1}
    counts = json.loads(desk.type("status", "morning", "--json").out)["counts"]
    assert counts["invited"] + counts["unsure"] == PEOPLE
    assert counts["unsure"] <= 16


def at_least(number: int, record: Record) -> bool:
    return len(record.invitations) >= number


def test_it_follows_the_files_of_its_folder(desk: Desk) -> None:
    """What comes is served, what breaks is told on the folder's page with what is wrong, and what
    goes has no deployment any more, nor a run that would come due; what was switched off stays."""
    daily = "schedule: {every: 1 day}\n"
    first = desk.campaign("first", 2)
    port, log = free_port(), desk.folder.parent / "up.log"
    server = server_of(desk, port)

    def deployed() -> set[str]:
        every = server.ask("deployments", flows={"name": {"any_": ["campaign"]}})
        return {deployment["name"] for deployment in every}

    def page() -> str:
        pages = {"key": {"any_": ["folder-hiring"]}}
        return str(server.ask("artifacts/latest", artifacts=pages)[0]["data"])

    with up(desk, port):
        wait_until(lambda: deployed() == {"first"}, log)
        text = first.read_text()
        second = desk.folder / "second.yaml"
        second.write_text(text.replace("first", "second") + daily)
        third = desk.folder / "third.yaml"
        third.write_text(text.replace("first", "third") + daily)
        wait_until(lambda: deployed() == {"first", "second", "third"}, log)
        wait_until(lambda: "| second | second.yaml | every 1 day |" in page(), log)
        server.call("PATCH", f"deployments/{server.deployment('campaign/third')}", {"paused": True})
        due = {"deployments": {"name": {"any_": ["second"]}}}
        wait_until(lambda: server.ask("flow_runs", **due), log)
        first.write_text(text.replace("problem: 42", "problem: forty-two"))
        second.unlink()
        third.unlink()
        wait_until(lambda: deployed() == {"first", "third"}, log)
        wait_until(lambda: "**first.yaml**" in page(), log)
        assert 'problem: found "forty-two"' in page()
        assert server.ask("flow_runs", **due) == []
        first.write_text(text)
        wait_until(lambda: "first.yaml**" not in page(), log)
    assert "No longer served: campaign/second" in log.read_text()


def all_ended(server: PrefectServer) -> list[dict[str, object]]:
    runs = runs_of(server, "campaign:morning")
    ended = all(run["state_type"] in {"COMPLETED", "FAILED"} for run in runs)
    return runs if ended and len(runs) == 2 else []


def test_the_folder_where_up_and_serve_are_typed_is_never_executed(desk: Desk) -> None:
    """Neither by them, nor by their server, nor by the runs that they start. Its .env is read."""
    executed = trapped(desk.folder)
    own = desk.service.environment()
    (desk.folder / ".env").write_text("".join(f"{name}={own[name]}\n" for name in own))
    (desk.folder / ".env").chmod(0o600)
    for name in own:
        del desk.environment[name]
    file = desk.campaign("ours", 2)
    port = free_port()
    server = server_of(desk, port)
    with up(desk, port, desk.folder):
        server.start("campaign/ours")
        desk.service.wait_for(lambda record: len(record.invitations) == 2, timeout=PATIENCE)
        serving = desk.start("serve", file, PREFECT_API_URL=server.api, PYTHONUNBUFFERED="1")
        assert serving.stdout is not None
        assert "Ctrl-C stops it" in serving.stdout.readline()
        serving.send_signal(signal.SIGINT)
        assert answer(serving).code == 0
    assert not executed.exists(), executed.read_text()


def test_nobody_else_reaches_its_server(desk: Desk, plain: Standing) -> None:
    """No page of another host, no other user of the machine: nothing is read, nothing is made.
    Whoever pastes the login sees the pages; commands in another terminal find it by themselves."""
    file = desk.campaign("ours", 2)
    port = free_port()
    server = server_of(desk, port)
    with up(desk, port) as _, browser_led_astray() as browser:
        assert server.login in (desk.folder.parent / "up.log").read_text()
        page, before = browser.new_page(), flows_of(plain.server)
        # The attack succeeds where a server is open, so that it says something where it does not.
        assert attack(page, plain.server.api) == ["201", "opaque", "200"]
        assert attack(page, server.api) == ["blocked", "opaque", "blocked"]
        answer = page.goto(rebound(server.api))
        assert answer is not None and answer.status == 400
        made = Counter(flows_of(plain.server)) - Counter(before)  # others' tests have theirs there
        assert made == {"made-elsewhere": 1}
        assert "made-elsewhere" not in flows_of(server)
        for path in ("block_documents/filter", "deployments/filter", "admin/settings"):
            method = "GET" if path == "admin/settings" else "POST"
            met = httpx.request(method, f"{server.api}/{path}", json={"include_secrets": True})
            assert met.status_code in (401, 403) and "ours" not in met.text
        enter_by_login(page, server)
        api = {"PREFECT_API_URL": server.api}
        for words in (("deploy", file), ("doctor",), ("run", file)):
            end = desk.type(*words, **api)
            assert end.code == 0, end.err + end.out
            refused = desk.type(*words, **api, PREFECT_API_AUTH_STRING="campaign:wrong")
            assert (refused.code, "Traceback" in refused.err) == (1, False)
            assert "Prefect server refuses this login" in refused.err + refused.out
    assert desk.type("doctor", **api).code == 1  # the login is nobody's any more
    assert server.login.encode() not in b"".join(kept(server).values())


def enter_by_login(page: Page, server: PrefectServer) -> None:
    """Paste the login as a person does, and see what is deployed."""
    page.goto(server.api.removesuffix("/api"))
    page.locator("input[type=password]").fill(server.login)
    page.keyboard.press("Enter")
    page.wait_for_url("**/dashboard*")
    page.goto(server.api.removesuffix("api") + "deployments")
    page.get_by_text("ours", exact=True).first.wait_for()


def flows_of(server: PrefectServer) -> list[str]:
    return sorted(one["name"] for one in server.ask("flows"))


def test_a_taken_port_is_told(desk: Desk) -> None:
    """Nothing is started, and the message says what to type."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        end = desk.type("up", desk.folder, "--port", port)
    assert end.code == 1
    assert f"The port {port} is taken" in end.err
    assert f"campaign up {desk.folder} --port {port + 1}" in end.err
    assert {one.name for one in (desk.folder.parent / ".prefect").iterdir()} == {"prefect.db"}


@pytest.mark.parametrize(
    ("laid", "typed"),
    [
        ("hiring/inbox", "Rename the file: mv {0}/inbox {0}/inbox-2, then campaign up {0}\n"),
        ("/proc/self", "campaign up FOLDER"),
    ],
)
def test_a_folder_that_cannot_hold_an_inbox_is_told(desk: Desk, laid: str, typed: str) -> None:
    """A file in its place, or a file system that takes none: nothing is started, and the message
    says what to type."""
    place = desk.folder.parent / laid
    if laid == "hiring/inbox":
        place.write_text("not a folder")
    folder = place.parent if place.name == "inbox" else place
    end = desk.type("up", folder)
    assert (end.code, "Traceback" in end.err) == (2, False), end.err
    assert f"{folder / 'inbox'} " in end.err
    assert typed.format(folder) in end.err
    assert {one.name for one in (desk.folder.parent / ".prefect").iterdir()} == {"prefect.db"}


def test_what_is_called_like_a_file_names_the_folder_around_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other command takes a file; this one says which folder fits, or is to be made."""
    monkeypatch.chdir(tmp_path)
    assert instead_of(Path("ours.yaml")).endswith(": campaign up .")
    assert instead_of(Path("new/ours.yaml")).endswith(": mkdir new, then campaign up new")


def test_serving_needs_a_server(desk: Desk) -> None:
    """Without an address, or with one where nobody answers, the command says so and ends."""
    file = desk.campaign("alone", 1)
    nowhere = desk.type("serve", file)
    assert (nowhere.code, "campaign up" in nowhere.err) == (2, True)
    silent = desk.type("serve", file, PREFECT_API_URL="http://127.0.0.1:9/api")
    assert (silent.code, "does not answer" in silent.err) == (1, True)
    assert "Traceback" not in nowhere.err + silent.err
