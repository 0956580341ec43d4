"""What the interface says, seen from the service: whole campaigns against the sandbox.

Each test is named in docs/interface.md beside the statement it shows.
"""

import asyncio
import re
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import count, groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from config.errors import BadInput
from config.settings import LocalSettings
from data.campaigns import queries
from data.campaigns.same_campaign import AnotherCampaign
from data.store.ledger import Ledger
from data.store.states import Ending
from flows.run.ending import Finish
from flows.run.order import RunContext, conduct
from sandbox.faults.faults import Fault
from sandbox.server import Sandbox
from sandbox.service.problems import SAMPLE_PROBLEMS, problem
from tasks.outputs.links import index_page, links_of
from tasks.plan.target import CampaignSource
from tasks.service.auth import Tokens
from tasks.service.client import Service
from tasks.service.messages import add_candidates, attach_problem, create_project
from tasks.status.standing import standing
from tests.support.campaigns import settings_of
from tests.support.wire_server import Line, Received, always, listening, settings_for

KEY = "backend-2026"
PROJECT = (
    "{name: Backend engineer, description: Take-home, state: open, timezone: Europe/Paris,"
    " starttime: 2026-12-01 09:00, endtime: 2026-12-14 18:30}"
)
ADA = "{first_name: Ada, last_name: Lovelace, email1: ada@example.com}"
GRACE = (
    "{first_name: Grace, last_name: Hopper, email1: Grace.Hopper@Example.com,"
    " source: careers page, notes: Prefers mornings, stage_id: 3}"
)
ZOE = "{first_name: Zoë, last_name: Müller, email1: zoe@example.com}"
PEOPLE = (ADA, GRACE, ZOE)
EMAILS = ["Grace.Hopper@Example.com", "ada@example.com", "zoe@example.com"]


class Hiring:
    """A definition, a ledger and an output folder; `run` is what `campaign run` does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "hiring.yaml"
        self.database = f"sqlite:///{folder}/ledger.db"

    def write(
        self, *people: str, project: str = PROJECT, problem: str = "problem: 42", more: str = ""
    ) -> None:
        rows = "\n".join(f"  - {person}" for person in people)
        text = f"campaign: {KEY}\nproject: {project}\n{problem}\ncandidates:\n{rows}\n{more}\n"
        self.file.write_text(text, encoding="utf-8")

    def run(self, service: Sandbox, *, keep_project: bool = False, **local: Any) -> Finish:
        here = LocalSettings(database_url=self.database, output_dir=self.folder / "out", **local)
        with Ledger.open(self.database) as ledger:
            desk = RunContext(ledger, settings_of(service), here)
            asked = CampaignSource(self.file, KEY, keep_project=keep_project)
            return asyncio.run(conduct(asked, desk))

    def seen(self, read: Callable[[Ledger, Any], Any]) -> Any:
        """Read something of the campaign from the ledger."""
        with Ledger.open(self.database) as ledger:
            return read(ledger, ledger.read(queries.find_campaign, KEY))


@pytest.fixture
def hiring(tmp_path: Path) -> Hiring:
    written = Hiring(tmp_path)
    written.write(*PEOPLE)
    return written


def operations(service: Sandbox) -> list[str]:
    """What the service was asked to do, in order, repetitions taken together."""
    return [name for name, _ in groupby(request.operation for request in service.record.requests)]


def invited(service: Sandbox) -> list[str]:
    return sorted(invitation.email for invitation in service.record.invitations)


def invitations(hiring: Hiring) -> list[str]:
    """Where each invitation stands in the ledger, in the definition's order."""
    return [one["invite"] for one in hiring.seen(standing)["candidates"]]


# -- part 1: what the service does ------------------------------------------------------------


def test_a_campaign_makes_the_six_calls_in_their_order(hiring: Hiring) -> None:
    """Interface 1, 4, 6: the six calls of the interface and no other."""
    with Sandbox() as service:
        assert hiring.run(service).ending is Ending.COMPLETED
        assert operations(service) == [
            "token",
            "list_problems",
            "create_project",
            "attach_problem",
            "add_candidates",
            "invite",
        ]
        assert len(service.record.requests) == 5 + len(PEOPLE)
        assert all(request.status in (200, 201) for request in service.record.requests)


def test_each_candidate_gets_one_email_however_often_it_is_run(hiring: Hiring) -> None:
    """Interface 1, 4.6, 6: inviting is the one thing that reaches a person; it happens once."""
    with Sandbox() as service:
        hiring.run(service)
        assert invited(service) == EMAILS
        before = service.api_requests()
        assert hiring.run(service).ending is Ending.COMPLETED
        assert service.api_requests() == before
        assert invited(service) == EMAILS


def test_without_invitations_nobody_gets_an_email(hiring: Hiring) -> None:
    """Interface 4.5, 4.6: adding and inviting are two steps; the first sends no email."""
    hiring.write(*PEOPLE, more="invites: {send: false}")
    with Sandbox() as service:
        assert hiring.run(service).ending is Ending.COMPLETED
        assert (len(service.candidates), invited(service)) == (3, [])


def test_a_project_of_the_web_application_is_used_and_not_created(hiring: Hiring) -> None:
    """Interface 1: an interview made in the web application is a project, here with its problem."""
    with Sandbox() as service:
        interview = service.create_interview("Backend interview", 43)
        hiring.write(*PEOPLE, project=f"{{id: {interview.id}}}", problem="")
        assert hiring.run(service).ending is Ending.COMPLETED
        assert operations(service) == ["token", "list_problems", "add_candidates", "invite"]
        assert [project.problem_ids for project in service.projects] == [[43]]
        assert {candidate.project_id for candidate in service.candidates} == {interview.id}


def test_a_project_of_the_web_application_gets_the_problem_that_is_named(hiring: Hiring) -> None:
    """Interface 1, 4.4: an interview without a problem can be given one, by id or by title."""
    with Sandbox() as service:
        interview = service.create_interview("Backend interview")
        named = "problem: {title: Rate limiter}"
        hiring.write(*PEOPLE, project=f"{{id: {interview.id}}}", problem=named)
        assert hiring.run(service).ending is Ending.COMPLETED
        assert [project.problem_ids for project in service.projects] == [[57]]


# -- part 2: fields ---------------------------------------------------------------------------


def test_a_project_is_created_as_it_was_written_down(hiring: Hiring) -> None:
    """Interface 2, 4.3: name, description, state and both times, each in the form it wants."""
    with Sandbox() as service:
        hiring.run(service)
        [created] = service.record.of("create_project")
    assert created.body == {
        "name": "Backend engineer",
        "description": "Take-home",
        "state": "open",
        "starttime": "Dec 1, 2026 9:00 am",
        "endtime": "Dec 14, 2026 6:30 pm",
    }


async def listed(service: Sandbox) -> list[dict[str, Any]]:
    """The problems as the client reads them, under the names of the interface."""
    async with Service(settings_of(service)) as client:
        return [one.model_dump(by_alias=True) for one in await client.problems()]


def test_a_listed_problem_reaches_the_reader_whole() -> None:
    """Interface 2, 4.2: what the service lists is what is read, field by field."""
    with Sandbox() as service:
        assert asyncio.run(listed(service)) == list(SAMPLE_PROBLEMS)


def test_what_the_problem_record_leaves_open_is_passed_on_as_it_is() -> None:
    """Interface 2, gaps: any difficulty, any time_limit, events and submissions of any shape."""
    odd = problem(
        7,
        "Odd",
        difficulty="fiendish",
        time_limit=86_400_000,
        open_events=[{"at": "2026-01-01", "by": [1]}, "opened", None],
        submissions=[[], 3],
    )
    with Sandbox(problems=[odd]) as service:
        assert asyncio.run(listed(service)) == [odd]


@pytest.mark.parametrize("state", ["open", "closed", "in review", "Entwurf"])
def test_any_state_of_a_project_is_sent_as_written(hiring: Hiring, state: str) -> None:
    """Interface 2, 3: values of state beyond open are not shown, so none is refused or changed."""
    hiring.write(ADA, project=f"{{name: A, state: {state}}}")
    with Sandbox() as service:
        assert hiring.run(service).ending is Ending.COMPLETED
        assert [project.state for project in service.projects] == [state]


def test_what_is_left_out_is_sent_as_its_type(hiring: Hiring) -> None:
    """Interface 2: which fields are required is not shown, so every field is always sent."""
    hiring.write(ADA, project="{name: A}", more="stage_id: 7")
    with Sandbox() as service:
        hiring.run(service)
        [created], [added] = (
            service.record.of("create_project"),
            service.record.of("add_candidates"),
        )
    assert created.body == {
        "name": "A",
        "description": "",
        "state": "open",
        "starttime": "",
        "endtime": "",
    }
    assert added.body == [
        {
            "first_name": "Ada",
            "last_name": "Lovelace",
            "email1": "ada@example.com",
            "source": "",
            "notes": "",
            "stage_id": 7,
        }
    ]


def test_a_candidate_is_sent_as_written_down(hiring: Hiring) -> None:
    """Interface 2, 4.5: six fields and no candidate_id, which only answers hold."""
    hiring.write(GRACE)
    with Sandbox() as service:
        hiring.run(service)
        [added] = service.record.of("add_candidates")
    assert added.body == [
        {
            "first_name": "Grace",
            "last_name": "Hopper",
            "email1": "Grace.Hopper@Example.com",
            "source": "careers page",
            "notes": "Prefers mornings",
            "stage_id": 3,
        }
    ]


def test_ids_of_answers_are_in_every_later_path(hiring: Hiring) -> None:
    """Interface 2, 4.3 to 4.6: the project's id and each candidate_id, as the service gave them."""
    with Sandbox() as service:
        service.create_interview("Somebody else's", 42)  # so that the next id is another
        hiring.run(service)
        paths = [request.path for request in service.record.requests[3:]]
        numbers = sorted(one.candidate_id for one in service.candidates)
    assert paths[:2] == ["/api/projects/102/problems", "/api/projects/102/candidates"]
    assert sorted(paths[2:]) == [
        f"/api/projects/102/candidates/{number}/invite" for number in numbers
    ]


def test_every_path_begins_with_api_and_names_no_version(hiring: Hiring) -> None:
    """Interface 4, 9: {base_url}/api/..., one slash and no version segment."""
    with Sandbox() as service:
        hiring.run(service)
        calls = [one.path for one in service.record.requests if one.operation != "token"]
    assert calls
    assert all(re.fullmatch(r"/api/(problems|projects(/[a-z0-9]+)*)", path) for path in calls)


# -- part 3: states ---------------------------------------------------------------------------


def test_where_a_candidate_stands_is_known_without_asking(hiring: Hiring) -> None:
    """Interface 3: the service names no states of candidates; the ledger keeps its own."""
    with Sandbox(refuse_invites=["zoe@example.com"]) as service:
        assert hiring.run(service).ending is Ending.NEEDS_ATTENTION
        before = service.api_requests()
        stand = hiring.seen(standing)
        assert service.api_requests() == before
    states = {one["email1"]: (one["add"], one["invite"]) for one in stand["candidates"]}
    assert states == {
        "ada@example.com": ("done", "done"),
        "Grace.Hopper@Example.com": ("done", "done"),
        "zoe@example.com": ("done", "refused"),
    }


def test_a_changed_project_is_never_applied_in_silence(hiring: Hiring) -> None:
    """Interface 3, 4: there is no transition and no update, so a change makes no second project."""
    with Sandbox() as service:
        hiring.run(service)
        hiring.write(*PEOPLE, project="{name: Frontend engineer, state: closed}")
        with pytest.raises(AnotherCampaign):
            hiring.run(service)
        hiring.run(service, keep_project=True)
        assert [(one.name, one.state) for one in service.projects] == [("Backend engineer", "open")]


# -- part 4: endpoints ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("problem: 999", "999"),
        ("problem: {title: Three sum}", "Two sum"),
        ("problem: {title: Twins}", "8, 9"),
    ],
)
def test_a_problem_that_is_not_listed_once_stops_before_any_change(
    hiring: Hiring, named: str, said: str
) -> None:
    """Interface 2, 4.2: the list is the only way to know a problem; paging is not shown."""
    hiring.write(*PEOPLE, problem=named)
    twins = [problem(42, "Two sum"), problem(8, "Twins"), problem(9, "Twins")]
    with Sandbox(problems=twins) as service:
        with pytest.raises(BadInput) as stopped:
            hiring.run(service)
        assert operations(service) == ["token", "list_problems"]
    assert said in str(stopped.value.problems[0])


def test_a_problem_that_is_not_listed_can_be_insisted_on(hiring: Hiring) -> None:
    """Interface 4.2: whether the list is whole is not shown, so a person may know better."""
    hiring.write(*PEOPLE, problem="problem: 43")
    with Sandbox(problems=[problem(42, "Two sum")]) as service:
        with pytest.raises(BadInput) as stopped:
            hiring.run(service)
        assert "problem: {id: 43, unlisted: true}" in str(stopped.value.problems[0])
        hiring.write(*PEOPLE, problem="problem: {id: 43, unlisted: true}")
        for times in (1, 2):  # the sandbox refuses it; the same bytes insist again
            hiring.run(service)
            asked = [each.body for each in service.record.requests]
            assert asked.count({"problemid": 43}) == times


def test_adding_and_inviting_are_two_steps(hiring: Hiring) -> None:
    """Interface 4.6: nobody is invited whom the service has not answered to have added."""
    with Sandbox(faults=[Fault("partial", "add_candidates")]) as service:
        hiring.run(service)
        assert len(service.candidates) == 3
        assert invited(service) == EMAILS[:2]
        assert [one.email1 for one in service.candidates][-1] == "zoe@example.com"
    stand = hiring.seen(standing)
    assert [one["add"] for one in stand["candidates"]] == ["done", "done", "unsure"]


def test_after_an_unclear_answer_the_list_is_asked_for_first(hiring: Hiring) -> None:
    """Interface 4.2: the array shows that the token and the API work, so doubt waits for it."""
    with Sandbox(faults=[Fault("lost", "invite")]) as service:
        hiring.run(service, invites_in_flight=1)
        asked = [request.operation for request in service.record.requests][5:]
    assert asked == ["invite", "list_problems", "invite", "invite"]


def test_every_body_is_said_to_be_json() -> None:
    """Interface 4.3 to 4.5: the header Content-Type: application/json with each of the bodies."""
    person = {
        "first_name": "Ada",
        "last_name": "Lovelace",
        "email1": "ada@example.com",
        "source": "",
        "notes": "",
        "stage_id": 1,
    }
    requests = [
        create_project("A", "", "open", "", ""),
        attach_problem(101, 42),
        add_candidates(101, [person]),
    ]

    async def reply(line: Line, received: Received) -> None:
        token = b'{"access_token": "abc", "expires_in": 60}'
        await line.answer(200, token if received.path == "/oauth/token" else b"[]")

    async def sent() -> list[Received]:
        async with listening(always(reply)) as there:
            async with Service(settings_for(there.url, there.url)) as client:
                for request in requests:
                    await client.call(request)
            return there.received[1:]

    for request, received in zip(requests, asyncio.run(sent()), strict=True):
        assert (received.method, received.path) == ("POST", request.path)
        assert received.headers["content-type"] == "application/json"
        assert received.body == request.body


@pytest.mark.parametrize("kind", ["no_ids", "bool_ids", "accepted"])
def test_a_project_without_an_id_is_left_to_a_person(hiring: Hiring, kind: str) -> None:
    """Interface 4.3: it was probably created, and no second one is made however often it is run."""
    with Sandbox(faults=[Fault(kind, "create_project")]) as service:
        assert hiring.run(service).ending is Ending.NEEDS_ATTENTION
        assert hiring.run(service).ending is Ending.NEEDS_ATTENTION
        assert (len(service.projects), len(service.candidates)) == (1, 0)
    assert hiring.seen(standing)["project"] == "unsure"


def test_a_web_page_invites_nobody_in_our_books(hiring: Hiring) -> None:
    """Interface 4, gaps: a log-in page answers 200 to everything; it stops the run as a doubt."""
    page = Fault("html", "invite", count=None, after_work=False)
    with Sandbox(faults=[page]) as service:
        assert hiring.run(service, invites_in_flight=1).ending is Ending.STOPPED
        assert len(service.record.of("invite")) == 1
    assert sorted(invitations(hiring)) == ["unsure", "waiting", "waiting"]


@pytest.mark.parametrize("kind", ["reordered", "lowered", "extra_keys", "string_ids"])
def test_each_candidate_gets_the_id_that_was_meant(hiring: Hiring, kind: str) -> None:
    """Interface 4.5: an answer names its candidates; their order and extra fields mean nothing."""
    with Sandbox(faults=[Fault(kind, "add_candidates")]) as service:
        assert hiring.run(service).ending is Ending.COMPLETED
        theirs = {one.email1: one.candidate_id for one in service.candidates}
    ours = {one.email1: one.candidate_id for one in hiring.seen(links_of)}
    assert ours == theirs


@pytest.mark.parametrize("stranger", [False, True])
def test_an_add_may_answer_with_everybody_in_the_project(hiring: Hiring, *, stranger: bool) -> None:
    """Interface 4.5: who was added before, under the same id, is no stranger; others stop."""
    hiring.write(*(ADA.replace("ada@", f"person{number}@") for number in range(4)))
    everybody = [
        {"email1": f"person{number}@example.com", "candidate_id": 5001 + number}
        for number in range(4)
    ]
    if stranger:
        everybody += [{"email1": "eve@example.com", "candidate_id": 5000}]
    answer = Fault("body", "add_candidates", skip=1, body=everybody)
    with Sandbox(faults=[answer]) as service:
        ending = hiring.run(service, candidates_per_request=2).ending
        assert ending is (Ending.STOPPED if stranger else Ending.COMPLETED)
        assert len(service.candidates) == 4
        assert len(invited(service)) == (0 if stranger else 4)


def test_ids_with_other_peoples_names_invite_nobody(hiring: Hiring) -> None:
    """Interface 4.5: the candidates are answered as sent; anything else is a person's to settle."""
    with Sandbox(faults=[Fault("shuffled", "add_candidates")]) as service:
        assert hiring.run(service).ending is Ending.NEEDS_ATTENTION
        assert hiring.run(service).ending is Ending.NEEDS_ATTENTION
        assert (len(service.candidates), invited(service)) == (3, [])
    reasons = {each["why"] for each in hiring.seen(standing)["candidates"]}
    assert all("another name" in reason for reason in reasons)


@pytest.mark.parametrize("operation", ["attach_problem", "invite"])
def test_an_empty_yes_is_enough_where_no_answer_is_shown(hiring: Hiring, operation: str) -> None:
    """Interface 4, gaps: status and body of add-a-problem and invite are open; any 2xx is a yes."""
    with Sandbox(faults=[Fault("accepted", operation, count=None)]) as service:
        assert hiring.run(service).ending is Ending.COMPLETED
        assert [project.problem_ids for project in service.projects] == [[42]]
        assert invited(service) == EMAILS


@pytest.mark.parametrize("status", [200, 201, 202, 203])
def test_any_success_status_with_its_ids_is_a_yes(hiring: Hiring, status: int) -> None:
    """Interface 4, gaps: the success statuses of create-a-project and add-candidates are open."""
    hiring.write(ADA)
    added = {"email1": "ada@example.com", "candidate_id": 5001}
    answers = [
        Fault("status", "create_project", status=status, body={"id": 101}, after_work=True),
        Fault("status", "add_candidates", status=status, body=[added], after_work=True),
    ]
    with Sandbox(faults=answers) as service:
        assert hiring.run(service).ending is Ending.COMPLETED
        assert [one.status for one in service.record.requests[2:5:2]] == [status, status]
        assert invited(service) == ["ada@example.com"]


def test_each_candidate_has_the_link_of_their_own(hiring: Hiring) -> None:
    """Interface 4.7: the embed URL holds the ids under which the service knows the candidate."""
    with Sandbox() as service:
        hiring.run(service)
        theirs = {one.email: one.link for one in service.record.invitations}
    assert {one.email1: one.embed_url for one in hiring.seen(links_of)} == theirs


class Snippets(HTMLParser):
    """The text of every <code>, and every tag that is on the page itself."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.snippets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "code" and data.startswith("<"):
            self.snippets.append(data)


def test_a_snippet_keeps_nothing_from_the_login(hiring: Hiring) -> None:
    """Interface 4.7, 5.5: the log-in opens a pop-up, which an iframe in a sandbox could not."""
    with Sandbox() as service:
        hiring.run(service)
        page = Snippets()
        page.feed(hiring.seen(lambda ledger, one: index_page(one, links_of(ledger, one))).decode())
    assert len(page.snippets) == len(PEOPLE)
    for snippet in page.snippets:
        names = re.findall(r' ([a-z-]+)="', snippet)
        assert names == ["src", "title", "allow"]
    assert "iframe" not in page.tags  # shown to be copied: looking at the list opens nothing


def test_the_address_is_sent_as_typed_and_shown_with_its_link(hiring: Hiring) -> None:
    """Interface 2, 4.7, 5.5: the log-in must equal what was added, so nothing is respelt."""
    hiring.write("{first_name: Ada, last_name: L, email1: ' Ada.L+Test@Example.COM '}")
    with Sandbox() as service:
        hiring.run(service)
        assert [one.email1 for one in service.candidates] == ["Ada.L+Test@Example.COM"]
    assert [one.email1 for one in hiring.seen(links_of)] == ["Ada.L+Test@Example.COM"]


def test_a_project_gets_one_problem_and_never_a_second(hiring: Hiring) -> None:
    """Interface 4.7, 8: a definition that names another problem later adds none."""
    with Sandbox() as service:
        hiring.run(service)
        hiring.write(*PEOPLE, ADA.replace("ada@", "alan@"), problem="problem: 43")
        with pytest.raises(AnotherCampaign):
            hiring.run(service)
        assert len(service.candidates) == 3
        hiring.run(service, keep_project=True)
        assert [project.problem_ids for project in service.projects] == [[42]]
        assert len(service.record.of("attach_problem")) == 1
        assert len(service.candidates) == 4


# -- part 5: authentication -------------------------------------------------------------------


def test_one_token_goes_with_every_call(hiring: Hiring) -> None:
    """Interface 5: whether each call requires the header is not shown, so each carries it."""
    with Sandbox() as service:
        hiring.run(service)
        assert len(service.record.of("token")) == 1
        calls = [one for one in service.record.requests if one.operation != "token"]
        assert all(one.authorized for one in calls)


def test_a_token_of_two_seconds_lasts_through_a_campaign(
    hiring: Hiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interface 5.3, 8: renewed before expires_in runs out, so that no call is refused.

    Each look at the clock takes a fifth of a second: the service's is later than the sender's.
    """
    looks = count()

    def clock() -> float:
        return next(looks) / 5

    monkeypatch.setattr("sandbox.service.tokens.time", SimpleNamespace(time=clock))
    monkeypatch.setitem(Tokens.__init__.__kwdefaults__ or {}, "clock", clock)
    with Sandbox(token_lifetime=2) as service:
        assert hiring.run(service, invites_in_flight=1).ending is Ending.COMPLETED
        assert 1 < len(service.record.of("token")) <= 3
        assert {one.status for one in service.record.requests} <= {200, 201}


@pytest.mark.parametrize(
    "operation", ["create_project", "attach_problem", "add_candidates", "invite"]
)
def test_a_token_that_ends_early_costs_one_repetition(hiring: Hiring, operation: str) -> None:
    """Interface 5.6: revocation is not shown; a 401 gets a new token and one more try."""
    with Sandbox(faults=[Fault("status", operation, status=401)]) as service:
        assert hiring.run(service).ending is Ending.COMPLETED
        assert len(service.record.of("token")) == 2
        assert len(service.projects) == 1
        assert invited(service) == EMAILS


def test_a_403_stops_the_campaign_with_everyone_waiting(hiring: Hiring) -> None:
    """Interface 5.6: what the credentials may do is not shown; mended, the same command goes on."""
    with Sandbox(faults=[Fault("status", "add_candidates", status=403)]) as service:
        stopped = hiring.run(service)
        assert stopped.ending is Ending.STOPPED
        assert "403" in str(stopped.reason)
        assert invited(service) == []
        assert hiring.run(service).ending is Ending.COMPLETED
        assert invited(service) == EMAILS


def test_links_hold_no_credential(hiring: Hiring) -> None:
    """Interface 5.5: candidates log in for themselves; a link holds two ids and nothing else."""
    with Sandbox() as service:
        hiring.run(service)
        secrets = (service.client_id, service.client_secret, service.audience, "earer")
    written = {file.name: file.read_text("utf-8") for file in hiring.folder.glob("out/*/links.*")}
    assert sorted(written) == ["links.csv", "links.json"]
    assert not [name for name, text in written.items() if any(one in text for one in secrets)]
    for link in hiring.seen(links_of):
        assert parse_qs(urlsplit(link.embed_url).query).keys() == {"projectId", "candidateId"}


# -- part 7: errors ---------------------------------------------------------------------------


ERROR_BODIES = [None, "", "<html>Bad gateway</html>", {"errors": [{"code": 7}]}, [], "{"]


@pytest.mark.parametrize("body", ERROR_BODIES)
def test_an_error_of_any_shape_is_judged_by_its_status(hiring: Hiring, body: Any) -> None:
    """Interface 7: no error body is shown, so none is read; what may be done is not redone."""
    ada = {"email": "ada@example.com", "body": body, "after_work": True}
    with Sandbox(faults=[Fault("status", "invite", status=502, **ada)]) as service:
        assert hiring.run(service).ending is Ending.NEEDS_ATTENTION
        assert hiring.run(service).ending is Ending.NEEDS_ATTENTION
        assert invited(service) == EMAILS
    assert invitations(hiring) == ["unsure", "done", "done"]


@pytest.mark.parametrize("body", ERROR_BODIES)
def test_a_refusal_of_any_shape_is_told_to_a_person(hiring: Hiring, body: Any) -> None:
    """Interface 7: a 422 is a no whatever else it says; the others are invited all the same."""
    fault = Fault("status", "invite", status=422, email="ada@example.com", body=body)
    with Sandbox(faults=[fault]) as service:
        assert hiring.run(service).ending is Ending.NEEDS_ATTENTION
        assert invited(service) == EMAILS[:1] + EMAILS[2:]
    assert invitations(hiring) == ["refused", "done", "done"]
    [why] = {one["why"] for one in hiring.seen(standing)["candidates"] if one["why"]}
    assert "422" in why


def test_a_row_that_the_service_will_not_have_keeps_nobody_else_out(hiring: Hiring) -> None:
    """Interface 4.5, 7: a refused add does not say whom it is about, so halves of it find out."""
    with Sandbox(refuse_emails=["grace.hopper@example.com"]) as service:
        assert hiring.run(service).ending is Ending.NEEDS_ATTENTION
        assert invited(service) == EMAILS[1:]
        assert len(service.candidates) == 2
    stand = hiring.seen(standing)
    assert [one["add"] for one in stand["candidates"]] == ["done", "refused", "done"]


@pytest.mark.parametrize("kind", ["lost", "reset"])
def test_a_lost_answer_is_shown_and_never_sent_again(hiring: Hiring, kind: str) -> None:
    """Interface 7: there is no way to ask what became of a request, so a person is asked."""
    fault = Fault(kind, "invite", email="ada@example.com", after_work=True)
    with Sandbox(faults=[fault]) as service:
        assert hiring.run(service).ending is Ending.NEEDS_ATTENTION
        assert hiring.run(service).ending is Ending.NEEDS_ATTENTION
        assert invited(service) == EMAILS
    assert invitations(hiring) == ["unsure", "done", "done"]


# -- part 8: limits ---------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 2, 4])
def test_an_unknown_limit_on_candidates_is_found(hiring: Hiring, most: int) -> None:
    """Interface 8: the maximum per request is not shown; what is too large is sent in halves."""
    hiring.write(*(ADA.replace("ada@", f"person{number}@") for number in range(7)))
    with Sandbox(max_candidates_per_request=most) as service:
        assert hiring.run(service).ending is Ending.COMPLETED
        sizes = [len(one.body) for one in service.record.of("add_candidates") if one.effect]
        assert sum(sizes) == len(service.candidates) == len(service.record.invitations) == 7
        assert max(sizes) <= most


def test_a_known_limit_on_candidates_is_kept(hiring: Hiring) -> None:
    """Interface 8: where the operator knows the maximum, no request is larger."""
    hiring.write(*(ADA.replace("ada@", f"person{number}@") for number in range(7)))
    with Sandbox(max_candidates_per_request=3) as service:
        assert hiring.run(service, candidates_per_request=3).ending is Ending.COMPLETED
        assert [len(one.body) for one in service.record.of("add_candidates")] == [3, 3, 1]


def test_a_rate_limit_pauses_and_loses_nobody(hiring: Hiring) -> None:
    """Interface 8: rate limits are not shown; a 429 is waited out as it asks."""
    limit = Fault("status", "invite", status=429, retry_after=1)
    with Sandbox(faults=[limit]) as service:
        assert hiring.run(service, invites_in_flight=1).ending is Ending.COMPLETED
        assert invited(service) == EMAILS
        refused, repeated = service.record.of("invite")[:2]
    assert refused.status == 429
    assert (repeated.at - refused.at).total_seconds() >= 1
