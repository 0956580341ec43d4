"""A key that is used again: nobody is sent another campaign's test, judged by the service."""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from config.errors import BadInput
from config.settings import LocalSettings, ServiceSettings
from data.campaigns import queries
from data.sending import runs
from data.store.ledger import Ledger
from data.store.states import Ending
from flows.run.ending import Finish
from flows.run.order import CampaignSource, RunContext, conduct
from sandbox.server import Sandbox
from sandbox.service.problems import SAMPLE_PROBLEMS
from tasks.plan.target import intent_of, look_up
from tests.flows.cli.test_cli import Typed, clean_environment, typed
from tests.promise.crashes.small_campaigns import credentials
from tests.support.ledgers.databases import ledger_at

__all__ = ["clean_environment", "typed"]

FIRST = "{name: Backend engineer}", "42"
PEOPLE = "  - {first_name: Ada, last_name: L, email1: ada@mail.test}\n"
OTHERS = "  - {first_name: Bo, last_name: Two, email1: bo@mail.test}\n"


def written(file: Path, project: str, problem: str | None, people: str = PEOPLE) -> Path:
    """Write a definition under the key that all of them have."""
    of = f"problem: {problem}\n" if problem else ""
    file.write_text(f"campaign: my-trap\nproject: {project}\n{of}candidates:\n{people}")
    return file


class Bench:
    """A ledger and a service for runs in this process."""

    def __init__(self, folder: Path, service: Sandbox, ledger: Ledger) -> None:
        self.folder, self.service, self.ledger = folder, service, ledger
        self.local = LocalSettings.model_construct(
            database_url=ledger_at(folder),
            output_dir=folder / "out",
            candidates_per_request=100,
            invites_in_flight=2,
            invites_per_second=None,
            request_deadline=45.0,
        )
        self.settings = ServiceSettings(**credentials(service))

    def run(self, file: Path, *, keep_project: bool = False, **more: Any) -> Finish:
        asked = CampaignSource(file, "my-trap", keep_project=keep_project)
        return asyncio.run(
            conduct(asked, RunContext(self.ledger, self.settings, self.local, **more))
        )

    @property
    def invited(self) -> list[tuple[str, int]]:
        """Who was invited to which project, as the service has it."""
        return [(mail.email, mail.project_id) for mail in self.service.record.invitations]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Sandbox() as service, Ledger.open(ledger_at(tmp_path)) as ledger:
        yield Bench(tmp_path, service, ledger)


def title_of(problem: int) -> str:
    return next(str(each["title"]) for each in SAMPLE_PROBLEMS if each["id"] == problem)


ANOTHER = [
    ("{name: Data scientist Berlin}", "61"),
    ("{name: Data scientist Berlin}", "42"),
    ("{name: Backend engineer}", "61"),
    ("{name: Backend engineer}", '{title: "Another problem"}'),
    ("{id: 9876}", "42"),
    ("{id: 9876}", None),
]


@pytest.mark.parametrize(("project", "problem"), ANOTHER)
def test_another_project_or_problem_is_refused_before_anything_is_sent(
    bench: Bench, project: str, problem: str | None
) -> None:
    """The people of another campaign are not invited to this one, nor taken over."""
    first = written(bench.folder / "backend.yaml", *FIRST)
    bench.run(first)
    before = bench.service.api_requests()
    second = written(bench.folder / "data.yaml", project, problem, OTHERS)
    with pytest.raises(BadInput) as refused:
        bench.run(second)
    [problem_told] = refused.value.problems
    message = str(problem_told)
    assert ' "Backend engineer", problem 42 (from backend.yaml)' in message
    assert "  campaign: my-trap  in data.yaml" in message
    assert f"campaign run {second} --keep-project" in message
    assert bench.service.api_requests() == before
    assert [mail for mail, _ in bench.invited] == ["ada@mail.test"]
    known = bench.ledger.read(queries.find_campaign, "my-trap")
    assert known is not None and known.definition == str(first)
    assert [row.email1 for row in queries.candidates(bench.ledger, known.id)] == ["ada@mail.test"]


def test_the_same_campaign_goes_on_where_somebody_says_so(bench: Bench) -> None:
    """With --keep-project the people of the new file come into the project that there is; the
    same bytes are not asked about again, other ones are.
    """
    bench.run(written(bench.folder / "backend.yaml", *FIRST))
    second = written(bench.folder / "data.yaml", *ANOTHER[0], PEOPLE + OTHERS)
    assert (bench.run(second, keep_project=True)).ending is Ending.COMPLETED
    [project] = bench.service.record.projects
    assert (project.name, project.problem_ids) == ("Backend engineer", [42])
    assert bench.invited == [("ada@mail.test", project.id), ("bo@mail.test", project.id)]
    assert (bench.run(second)).ending is Ending.COMPLETED
    written(second, *ANOTHER[0], OTHERS)
    with pytest.raises(BadInput):
        bench.run(second)


SAME = [
    ("{name: '  backend   Engineer '}", "42"),
    ("{name: Backend engineer, description: New words, state: closed}", "42"),
    ("{name: Backend engineer}", "{id: 42}"),
    ("{id: PROJECT}", "42"),
    ("{id: PROJECT}", None),
]


@pytest.mark.parametrize(("project", "problem"), SAME)
def test_the_same_in_other_words_goes_on(bench: Bench, project: str, problem: str | None) -> None:
    """Blanks, capitals, other details of the project, and its id instead of its name."""
    bench.run(written(bench.folder / "backend.yaml", *FIRST))
    [made] = bench.service.record.projects
    people = PEOPLE + OTHERS
    same = written(
        bench.folder / "new.yaml", project.replace("PROJECT", str(made.id)), problem, people
    )
    assert (bench.run(same)).ending is Ending.COMPLETED
    assert bench.invited == [("ada@mail.test", made.id), ("bo@mail.test", made.id)]


def test_a_title_and_the_id_it_stood_for_are_the_same_problem(bench: Bench) -> None:
    """What a title was found to mean is kept; another title or id is another problem."""
    title = title_of(42)
    file = written(bench.folder / "a.yaml", FIRST[0], f'{{title: "{title}"}}')
    bench.run(file)
    assert (bench.run(written(file, FIRST[0], "42"))).ending is Ending.COMPLETED
    by_title = written(file, FIRST[0], f'{{title: " {title.upper()}"}}')
    assert (bench.run(by_title)).ending is Ending.COMPLETED
    with pytest.raises(BadInput, match="nothing was sent"):
        bench.run(written(file, FIRST[0], "61"))


def test_what_the_service_does_not_have_yet_may_change(bench: Bench) -> None:
    """Before the project is created a definition may name another one: nobody was promised it."""
    first = written(bench.folder / "backend.yaml", *FIRST)
    wanted = look_up(CampaignSource(first), bench.ledger, bench.settings)
    assert wanted.definition is not None
    intent = intent_of(wanted, CampaignSource(first), bench.settings, None)
    bench.ledger.write_beside(runs.take_over, wanted.definition, intent)
    title = title_of(61)
    second = written(bench.folder / "data.yaml", "{name: Data}", f'{{title: "{title}"}}', OTHERS)
    assert (bench.run(second)).ending is Ending.COMPLETED
    [project] = bench.service.record.projects
    assert (project.name, bench.invited) == ("Data", [("bo@mail.test", project.id)])


def test_two_new_files_that_begin_at_once_do_not_share_a_project(bench: Bench) -> None:
    """A definition that was read before the key was taken is refused when it is taken over."""
    second = written(bench.folder / "data.yaml", *ANOTHER[0], OTHERS)
    wanted = look_up(CampaignSource(second), bench.ledger, bench.settings)
    assert wanted.definition is not None and wanted.known is None
    bench.run(written(bench.folder / "backend.yaml", *FIRST))
    intent = intent_of(wanted, CampaignSource(second), bench.settings, None)
    for take in (
        partial(bench.ledger.write_beside, runs.take_over),
        partial(runs.begin, bench.ledger, "my-trap"),
    ):
        with pytest.raises(BadInput, match="nothing was sent"):
            take(wanted.definition, intent)


def test_the_command_line_says_what_to_type(
    typed: Typed, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plan and run end alike with 2, name both campaigns, and what they say to type works."""
    for name, value in bench.service.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CAMPAIGN_DATABASE_URL", ledger_at(bench.folder))
    bench.run(written(bench.folder / "backend.yaml", *FIRST))
    written(bench.folder / "data.yaml", *ANOTHER[0], PEOPLE + OTHERS)
    for command in ("plan", "run"):
        answer = typed(command, "data.yaml")
        assert (answer.code, answer.out) == (2, ""), command
        told = answer.err.splitlines()[0]
        assert told.startswith("data.yaml:1:1, campaign: my-trap ")
        assert ' "Backend engineer", problem 42 (from backend.yaml)' in told
        assert ' "Data scientist Berlin", problem 61' in told
        assert told.endswith(" campaign run data.yaml --keep-project")
    [shown] = typed("plan", "data.yaml", "--json").object["problems"]
    assert shown["field"] == "campaign"
    kept = typed("plan", "data.yaml", "--keep-project")
    assert kept.code == 0
    assert kept.out.splitlines()[-1] == "Next: campaign run data.yaml --keep-project"
    assert typed("run", ".", "--keep-project").code == 2
    assert [mail for mail, _ in bench.invited] == ["ada@mail.test"]
