"""Whatever the program prints as a command is typed, in the situation in which it was printed.

Each situation is made with the sandbox; then every command that shows something is typed, then what
those printed, and what these printed. Which commands there are is read from the program's own
calls of `command`: none may be left that no situation prints, but for those in UNREACHED.
"""

import asyncio
import functools
import re
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from html import unescape
from io import StringIO
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from config.errors import BadInput, CampaignError
from config.reading.reading import read_campaigns
from config.settings import load_local, load_service
from data.sending import runs
from data.store.ledger import Ledger
from flows import reports
from flows.cli.main import main
from flows.engine.credentials import KeptSettings
from flows.pages.final_states import state_of
from flows.pages.seen import _page
from flows.pages.wrong_places import to_look_at, where_wrong
from flows.run.order import RunContext, conduct
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from tasks.plan.target import CampaignSource, Target, intent_of
from tests.support.campaigns import people
from tests.support.printed_commands import Printed, commands, sites

KEY = "hiring"
FILE = "hiring.yaml"
ADA, GRACE, NEW = "ada@example.com", "grace@example.com", "new@example.com"
HEAD = "project: {name: Engineers}\nproblem: 42\ncandidates: {file: people.csv}\n"
ZONED = HEAD.replace("}", ", timezone: UTC}", 1)
# They stay open, or need a server: what is typed for them is only looked at.
OPEN = {"up", "serve", "deploy", "demo", "sandbox", "rehearse", "credentials", "worker"}
DEPTH = 2
TICK = 10_000_000  # nanoseconds; by so much the time of a file may be behind the clock
REHEARSED = {"flows/cli/run/rehearse.py"}  # what would be typed for real, without a run for real


class Place:
    """A folder with a campaign in it, and a person who types there, with yes to each question."""

    def __init__(self, folder: Path, service: Sandbox, fixtures: tuple[Any, Any]) -> None:
        self.folder, self.service = folder, service
        self.monkeypatch, self._capsys = fixtures
        self.patch = self.monkeypatch.setattr
        self.mend: Callable[[], object] = lambda: None  # what a person does before typing again
        Path("list.csv").write_text(f"email,id\n{ADA},5001\n{GRACE},5002\n")
        self.kept = folder.with_name(f"{folder.name}-kept")

    def write(self, *names: str, more: str = "", key: str = KEY, head: str = HEAD) -> None:
        Path("people.csv").write_text("first_name,last_name,email1\n" + people(*names))
        Path(f"{key}.yaml").write_text(f"campaign: {key}\n{head}{more}")

    def fault(self, *words: Any, **more: Any) -> None:
        self.service.faults.clear()
        if words:
            self.service.faults.add(Fault(*words, **more))

    def type(self, *words: object, answer: str = "y\nyes\n") -> tuple[int, str]:
        """Answers the exit code, and all that was printed or written for people to read.

        Without an `answer` there is no terminal.
        """
        keys, since = StringIO(answer), time.time_ns() - TICK
        streams = (keys, sys.stdout) if answer.startswith("y") else (keys, sys.stdout, sys.stderr)
        for stream in streams:
            self.patch(stream, "isatty", lambda: bool(answer), raising=False)
        self.patch(sys, "stdin", keys)
        self.patch(sys, "argv", ["campaign", *map(str, words)])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        pages = (
            unescape(re.sub(r"<[^>]*>", "", path.read_text()))
            for path in self.folder.rglob("*")
            if path.suffix in (".html", ".txt", ".yaml") and path.stat().st_mtime_ns > since
        )
        return int(ended.value.code or 0), "\n".join([*self._capsys.readouterr(), *pages])

    def keep(self) -> None:
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.folder, self.kept)

    def put_back(self, kept: Path) -> None:
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(kept, self.folder, dirs_exist_ok=True)


def run_here(runs: Sequence[Any], shown: Any) -> None:
    """In the place of Prefect, which would take longer than all the rest; its pages are printed."""
    for run in runs:
        observer, local = shown(run), load_local()
        with Ledger.open(local.database_url) as ledger:
            rightly = "ada" if run.typed.accept_removed else None
            context = RunContext(
                ledger, load_service(), local, observer=observer, accept_removed=rightly
            )
            typed = run.typed
            source = CampaignSource(typed.file, run.key, typed.campaign, typed.keep_project)
            try:
                run.end = asyncio.run(conduct(source, context))
            except CampaignError as error:
                observer.on_failure(error)
                if isinstance(error, BadInput):
                    print(where_wrong(error.problems, typed.file))
            else:
                print(state_of(run.end).message, *(_page(ledger, local, run.end, {}) or ()))


@pytest.fixture
def places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[[str], Place]]:
    """Answers a new place by its name, and stands in it."""
    monkeypatch.setattr("flows.cli.run.sending.through_prefect", lambda _, __, send: send())
    monkeypatch.setattr("flows.cli.run.sending._one_after_another", run_here)
    monkeypatch.setattr(
        "flows.cli.run.sending._side_by_side",
        lambda _, observer: run_here(list(observer._runs.values()), observer._shown),
    )
    monkeypatch.setattr("flows.engine.temporary_server.temporary_server", ExitStack)
    monkeypatch.setattr("flows.cli.run.sending.temporary_server", ExitStack)
    monkeypatch.setattr("config.folders.home", lambda: tmp_path / "home")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # the doctor looks into it
    with Sandbox() as service:
        for name, value in service.environment().items():
            monkeypatch.setenv(name, value)

        def place(name: str) -> Place:
            folder = tmp_path / name
            folder.mkdir()
            monkeypatch.chdir(folder)
            monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"sqlite:///{folder}/ledger.db")
            monkeypatch.setenv("CAMPAIGN_OUTPUT_DIR", str(folder / "out"))
            monkeypatch.setenv("XDG_DATA_HOME", str(folder / "data"))
            service.faults.clear()
            return Place(folder, service, (monkeypatch, capsys))

        yield place


# -- the situations -----------------------------------------------------------------------------

LOOKS = (
    *(f"{name} {KEY}" for name in ("status", "settle", "links", "history", "report", "clean-up")),
    *("status", f"plan {FILE}", f"check {FILE}"),
)
First = str | Callable[[], str]  # what is typed, or another place where commands are printed
SITUATIONS: dict[str, Callable[[Place], Sequence[First]]] = {}


def situation(make: Callable[[Place], Sequence[First]]) -> Callable[[Place], Sequence[First]]:
    """A function that makes it, and answers what is typed in it first."""
    SITUATIONS[make.__name__] = make
    return make


@situation
def nothing_yet(place: Place) -> Sequence[First]:
    place.write("ada", key="other")
    return ["status", f"status {KEY}", f"links {KEY}", "export ada@example.com"]


@situation
def written(place: Place) -> Sequence[First]:
    place.write("ada", "grace")
    Path("bad.yaml").write_text("campaign: bad\n")
    place.mend = lambda: place.write("ada", "grace", key="bad")
    Path("letter.doc").write_text("Dear")
    port = place.service.url.rpartition(":")[2]
    return [
        *(f"check {FILE}", "new hiring.yaml", "new x.txt", "new 'a file.yaml'", "new a.xlsx"),
        *("check people.csv", "plan .", "check people.csv --campaign people.csv", "check bad.yaml"),
        *(f"check {FILE} --campaign {FILE}", "problems nosuch", "run .", f"no: run {FILE}"),
        *("up nothere", f"up {FILE}", "serve .", "credentials 'Not A Name'", f"up . --port {port}"),
        *("run nothere.yaml", "plan hirign.yaml", f"run {FILE} bda.yaml", "deploy ."),
        *("rehearse hiring.yaml --faults", f"sandbox --port {port}", "plan letter.doc"),
        *("new y.yaml --from people.csv --sheet People", f"plan {FILE} --only hirign"),
        f"sandbox --folder {FILE}",
    ]


@situation
def ended(place: Place) -> Sequence[First]:
    place.write("ada", "grace")
    place.type("run", FILE)
    return [
        *LOOKS,
        *("doctor", "links hiring --into people.csv -o back.xlsx", "status hirin", "history x y"),
        *(f"history {KEY} nobody@example.com", f"correct {KEY} {ADA} {GRACE} --why x"),
        *(f"withdraw {KEY} {ADA} --why x", f"pause {KEY}", f"confirm {KEY}", f"approve {KEY}"),
        *(f"allow {KEY} {ADA} --why x", "forget x@example.com --why x --yes"),
        *("ledger backup postgresql://x/y", f"forget {ADA} --why x --yes"),
        *(f"settle {KEY} --from no.csv", f"links {KEY} --into poeple.csv -o back.xlsx"),
        *("ledger move ledger.db new.db", f"links {KEY} --format json -o l.csv"),
        *(f"links {KEY} -o l.html", f"correct {KEY} {ADA} ada+2@example.com --why x"),
    ]


def broken(
    *words: Any, names: Sequence[str] = ("ada", "grace"), **more: Any
) -> Callable[[Place], Sequence[First]]:
    def make(place: Place) -> Sequence[First]:
        place.write(*names)
        place.fault(*words, count=None, **more)
        place.type("run", FILE)
        place.fault()
        into = "--into people.csv --failed-only -o back.csv"
        return [*LOOKS, "doctor", f"links {KEY} {into}", f"settle {KEY} --export -o doubts.csv"]

    return make


for operation in ("create_project", "attach_problem", "add_candidates", "invite"):
    SITUATIONS[f"{operation} lost"] = broken("lost", operation)
    for status in (422, 403):
        SITUATIONS[f"{operation} {status}"] = broken("status", operation, status=status)


@situation
def refused_and_unsure(place: Place) -> Sequence[First]:
    place.write("ada", "grace")
    place.service.faults.add(
        Fault("status", "add_candidates", status=422, email=ADA, count=None),
        Fault("lost", "add_candidates", email=GRACE),
    )
    place.type("run", FILE)
    place.fault()
    return [*LOOKS, f"settle {KEY} --candidates again --why x"]


@situation
def paused(place: Place) -> Sequence[First]:
    place.write("ada", "grace", more="invites: {not_before: 2030-01-01 09:00}\n", head=ZONED)
    place.type("run", FILE)
    place.type("pause", KEY)
    return [*LOOKS, f"run {FILE}"]


@situation
def pilot(place: Place) -> Sequence[First]:
    place.write("ada", "grace", more=f"invites: {{pilot: {ADA}}}\n")
    place.type("run", FILE)
    return [*LOOKS, f"run {FILE}"]


@situation
def pilot_lost(place: Place) -> Sequence[First]:
    place.fault("lost", "invite")
    pilot(place)
    return [f"confirm {KEY}"]


@situation
def pilot_refused(place: Place) -> Sequence[First]:
    place.fault("status", "invite", status=422)
    pilot(place)
    place.fault()
    return [f"confirm {KEY}", f"run {FILE}"]


@situation
def pilot_not_added(place: Place) -> Sequence[First]:
    place.fault("status", "add_candidates", status=422, email=ADA, count=None)
    pilot(place)
    place.fault()
    return [f"confirm {KEY}", f"run {FILE}"]


@situation
def pilot_blocked(place: Place) -> Sequence[First]:
    place.type("block", ADA, "--why", "x")
    pilot(place)
    return [f"confirm {KEY}", f"run {FILE}", f"history {KEY} {ADA}"]


@situation
def pilot_withdrawn(place: Place) -> Sequence[First]:
    pilot(place)
    place.type("withdraw", KEY, ADA, "--why", "x")
    return [f"confirm {KEY}", f"run {FILE}"]


@situation
def approval(place: Place) -> Sequence[First]:
    place.write("ada", "grace", more="invites: {approval: required}\n")
    place.type("run", FILE)
    rejected = f"approve {KEY} --reject --why x"
    return [*LOOKS[:2], f"run {FILE}", f"approve {KEY} --plan nosuch", rejected]


@situation
def rejected(place: Place) -> Sequence[First]:
    approval(place)
    place.type("approve", KEY, "--reject", "--why", "x")
    return [f"run {FILE}"]


@situation
def void(place: Place) -> Sequence[First]:
    approval(place)
    place.write("ada", "grace", "new", more="invites: {approval: required}\n")
    return [f"approve {KEY}"]


@situation
def carried_out(place: Place) -> Sequence[First]:
    approval(place)
    place.type("approve", KEY)
    place.type("run", FILE)
    return [f"approve {KEY}"]


@situation
def held(place: Place) -> Sequence[First]:
    place.write("ada", key="other")
    place.type("run", "other.yaml")
    place.write("ada", "grace")
    place.mend = lambda: place.type("run", FILE)  # "after it, by name"
    return [*LOOKS[6:], f"run {FILE}"]


@situation
def second_address(place: Place) -> Sequence[First]:
    place.write("ada")
    place.type("run", FILE)
    place.write("ada")
    people = Path("people.csv")
    people.write_text(people.read_text().replace(ADA, NEW))
    place.mend = lambda: place.type("run", FILE)
    return [*LOOKS[6:], f"run {FILE}"]


@situation
def reason_of_a_hold(place: Place) -> Sequence[First]:
    second_address(place)
    place.type("run", FILE)
    return [f"forget {ADA} --why x --yes"]


@situation
def do_not_contact(place: Place) -> Sequence[First]:
    place.write("ada", "grace")
    place.type("run", FILE)
    place.type("block", ADA, NEW, "--why", "x")
    place.write("ada", "grace", "new")
    again = f"resend {KEY} {ADA} --why x --yes"
    return [again, f"run {FILE}", f"status {KEY}", "block", f"block {GRACE} --why x"]


@situation
def nobody_to_ask(place: Place) -> Sequence[First]:
    place.write("ada")
    place.type("run", FILE)
    typed = [("resend", KEY, ADA, "--why", "it was lost"), ("forget", ADA, "--why", "she asked")]
    return [lambda words=words: place.type(*words, answer="")[1] for words in typed]


@situation
def forgotten(place: Place) -> Sequence[First]:
    place.write("ada", "grace", "new")
    place.type("run", FILE)
    place.type("forget", NEW, "x@example.com", "--why", "x", "--yes")
    corrections = (f"correct {KEY} {ADA} {email} --why x" for email in (NEW, "x@example.com"))
    return [*LOOKS, *corrections, f"run {FILE}"]


@situation
def one_mailbox(place: Place) -> Sequence[First]:
    place.write("ada", "ada+2", "ada+3")
    place.type("run", FILE)
    place.type("block", ADA, "ada+3@example.com", "--why", "x")
    more = f"correct {KEY} ada+2@example.com ada+4@example.com --why x"
    return [f"forget {ADA} --why x --yes", "block ada+3@example.com --lift --why x", more]


@situation
def forgotten_mailbox(place: Place) -> Sequence[First]:
    place.write("ada+2", "grace")
    place.type("run", FILE)
    place.type("forget", "ada+2@example.com", "--why", "x", "--yes")
    place.write("ada", "grace")
    place.type("run", FILE)
    return [*LOOKS, f"run {FILE}", f"forget {ADA} --allow-again --why x"]


@situation
def many_gone(place: Place) -> Sequence[First]:
    place.write(*MANY)
    place.type("run", FILE)
    place.write("paa", more="guard: {removed: 20%}\n")
    return [*LOOKS, f"run {FILE}"]


MANY = [f"p{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(60)]
SITUATIONS["many unsure"] = broken("lost", "add_candidates", names=MANY)


@situation
def half_moved(place: Place) -> Sequence[First]:
    """The move was killed: the copy has no rows yet, and the setting names it already."""
    ended(place)
    with pytest.MonkeyPatch.context() as killing:
        killing.delattr("data.moving.ledger_copy._carry")
        place.type("ledger", "move", "ledger.db", "new.db")
    place.monkeypatch.setenv("CAMPAIGN_DATABASE_URL", f"sqlite:///{place.folder}/new.db")
    return [*LOOKS[:4], "doctor", f"plan {FILE}", f"run {FILE}"]


@situation
def key_used_again(place: Place) -> Sequence[First]:
    ended(place)
    place.mend = lambda: place.write("ada", "grace")
    place.write("ada", head=HEAD.replace("42", "61").replace("Engineers", "Designers"))
    return [f"{word} {FILE}" for word in ("check", "plan", "run")]


@situation
def another_ledger(place: Place) -> Sequence[First]:
    ended(place)
    for path in Path().glob("ledger.db*"):
        path.unlink()
    return [f"plan {FILE}", f"run {FILE}"]


@situation
def an_old_copy(place: Place) -> Sequence[First]:
    place.write("ada")
    place.type("run", FILE)
    place.type("ledger", "backup", "before.bak")
    place.write("ada", "grace")
    place.type("run", FILE)
    for path in Path().glob("ledger.db*"):
        path.unlink()
    shutil.copy("before.bak", "ledger.db")
    return [f"plan {FILE}", f"run {FILE}", "doctor"]


@situation
def wrong_ids(place: Place) -> Sequence[First]:
    broken("lost", "add_candidates")(place)
    for person in (ADA, GRACE):
        place.type("settle", KEY, "--candidate", f"{person}=77777")
    return [f"run {FILE}"]


@situation
def wrong_project(place: Place) -> Sequence[First]:
    broken("lost", "create_project")(place)
    place.type("settle", KEY, "--project", "77777")
    return [f"run {FILE}"]


@situation
def mistakes(place: Place) -> Sequence[First]:
    place.write("ada", "grace")
    people = Path("people.csv")
    right = people.read_text()
    people.write_text(right.replace(ADA, "ada@"))

    def mend() -> None:
        people.write_text(right)
        if Path("marked.xlsx").exists():
            book = openpyxl.load_workbook("marked.xlsx")
            book.worksheets[0]["C2"] = ADA
            book.save("marked.xlsx")

    def in_the_inbox() -> str:
        with pytest.raises(BadInput) as wrong:
            read_campaigns(Path(FILE))
        reports.tell(Path(FILE), "digest", wrong.value.problems)
        return reports.report_of(Path(FILE)).read_text() + where_wrong(wrong.value.problems, FILE)

    place.mend = mend
    marked = f"check {FILE} --mark marked.xlsx"
    return [f"check {FILE}", f"plan {FILE}", f"run {FILE}", marked, in_the_inbox]


@situation
def doubtful(place: Place) -> Sequence[First]:
    place.write("ada", "ada+2")
    return [lambda: to_look_at(1, FILE), f"plan {FILE}"]


@situation
def definition_gone(place: Place) -> Sequence[First]:
    broken("status", "add_candidates", status=422)(place)
    moved = Path(FILE).rename("moved.yaml")
    place.mend = lambda: moved.rename(FILE)

    def served() -> str:
        with pytest.raises(BadInput) as gone:
            read_campaigns(Path(FILE))
        return where_wrong(gone.value.problems, FILE)

    return [served, f"links {KEY} --into people.csv --failed-only -o back.csv", f"status {KEY}"]


@situation
def kept_credentials_refused(place: Place) -> Sequence[First]:
    place.write("ada")
    place.fault("status", "token", status=401, count=None)

    def problems() -> str:
        kept = KeptSettings(**dict(load_service()), kept_as="production")
        with place.monkeypatch.context() as patch:
            patch.setattr("flows.cli.serve.serve.service_here", lambda: kept)
            return place.type("problems")[1]

    return [problems]


@situation
def at_work(place: Place) -> Sequence[First]:
    ended(place)
    [definition] = read_campaigns(Path(FILE)).definitions
    with Ledger.open(load_local().database_url) as ledger:
        source = CampaignSource(Path(FILE))
        target = Target(KEY, "digest", definition, None)
        runs.begin(ledger, KEY, definition, intent_of(target, source, load_service(), None))
    return [f"status {KEY}"]


# -- typing -------------------------------------------------------------------------------------

# Why no situation here prints them. Whoever adds one here can as well add a situation.
UNREACHED = {
    "config/reading/own_tables.py: command(TYPED, '--help')": "a help is examples of other files",
    "data/moving/ledger_copy.py: command('status', moving)": "the run that sends has just died",
    "flows/cli/run/demo.py: command(*words)": "a demo of its own, tests/flows/cli/run/test_demo.py",
    "flows/cli/run/sandbox.py: command('sandbox', '--folder', 'FOLDER', '--port', 0)": "in use",
    "flows/cli/see/findings.py: command('up')": "messages that nobody took",
    "flows/cli/serve/deploy.py: command('deploy', *(places or []), '--prune')": "a Prefect server",
    "flows/cli/serve/deploy.py: command('worker', '--pool', pool)": "a Prefect server",
    "flows/engine/sharing.py: command('deploy')": "a Prefect server without wave runs",
    "flows/engine/worker_files.py: command('credentials', 'NAME')": "what a worker has written",
    "flows/run/context.py: command('resume', key)": "a pause in the very moment of sending",
}


def fillings(place: Place, words: Sequence[str]) -> Iterator[list[str]]:
    """What a person may type for the words in capitals, each of the people in turn."""
    everyone = dict.fromkeys(re.findall(r"[\w.]+@[\w.]+", Path("people.csv").read_text()))
    keys = (KEY, *(path.stem for path in Path().glob("*.yaml")))
    for email, key in product([*everyone, ADA], dict.fromkeys(keys)):
        fill = {
            "EMAIL": email,
            "OLD": email,
            "NEW": "new@example.com",
            "TEXT": "because",
            "KEY": key,
            "ID": "101",
            "NAME": "production",
            "FOLDER": ".",
            "FILE": next(map(str, Path().glob("*.yaml")), FILE),
            "DEFINITION": "moved.yaml" if Path("moved.yaml").exists() else FILE,
            "FROM": "ledger.db",
            "TO": "new.db",
            "LIST": "list.csv",
        }
        put_in = functools.partial(re.sub, r"\b[A-Z]{2,}\b", lambda m, to=fill: to.get(m[0], m[0]))
        new = {
            word: f"new{Path(word).suffix}" for before, word in pairwise(words) if before == "-o"
        }
        yield [new.get(word, put_in(word)) for word in words]
        if not any(re.search(r"\b(EMAIL|OLD|KEY)\b", word) for word in words):
            return


def visit(
    place: Place, kept: Path, first: First, depth: int, printed: Printed, typed: set[str]
) -> Iterator[str]:
    """Type a command in a situation that is kept, and what it prints; yields what goes wrong."""
    if isinstance(first, str):
        output = ""
        for filled in fillings(place, shlex.split(first)):
            place.put_back(kept)
            if depth < DEPTH and (filled[0] in OPEN or printed.files(first) == REHEARSED):
                commands()[filled[0]].make_context(filled[0], filled[1:])
                return
            no = filled[0] == "no:"
            code, output = place.type(*filled[no:], answer="n\n" if no else "y\nyes\n")
            if code == 2 and depth < DEPTH:
                place.mend()
                code, output = place.type(*filled)
            assert "A mistake in this program" not in output, output
            if code != 2 or " --no-wait" in output:  # until then, as its list says
                break
        else:
            if depth < DEPTH:
                yield f"{first}: {output}"
    else:
        place.put_back(kept)
        output = first()
    new = [text for text in printed.inside(output) if text not in typed]
    typed.update(new)
    if depth and new:
        after = kept.with_name(f"{kept.name}-{depth}")
        shutil.rmtree(after, ignore_errors=True)
        shutil.copytree(place.folder, after)
        for text in new:
            yield from visit(
                place, after, text.removeprefix("campaign "), depth - 1, printed, typed
            )


@pytest.mark.xdist_group("next_steps")
def test_whatever_is_printed_works_as_it_is_typed(
    places: Callable[[str], Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And every command that the program can print is printed in one of the situations."""
    printed = Printed(monkeypatch)
    wrong: list[str] = []
    for name, make in SITUATIONS.items():
        place = places(name)
        first = [*make(place)]
        place.keep()
        typed: set[str] = set()
        for words in first:
            found = visit(place, place.kept, words, DEPTH, printed, typed)
            wrong += [f"{name}: after {words}: {line}" for line in found]
    assert wrong == []
    unreached = {str(site) for site in sites()} - {str(site) for site in printed.reached}
    assert unreached - UNREACHED.keys() == set(), "print them in a situation, such as LOOKS"
    assert UNREACHED.keys() - unreached == set(), "take them out of UNREACHED: they are printed"
