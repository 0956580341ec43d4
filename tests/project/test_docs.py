"""What the documents show is what happens: their commands are typed, their tables compared."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from typer.main import get_command

from config.definition.building import MODELS
from config.definition.editor_schema import schema
from config.definition.fields import CandidateFields
from config.reading.reading import read_campaigns
from config.settings import ServiceSettings, load_service
from flows.cli.commands import application
from flows.words.closing import TOLD
from sandbox.faults.faults import faults_from_json
from tests.project import references
from tests.support.documents import (
    ROOT,
    Block,
    Command,
    Shell,
    blocks,
    commands,
    documents,
    fits,
    mistakes,
)
from tests.support.prefects.prefect_home import Standing
from tests.support.prefects.prefect_tables import furnish

README = ROOT / "README.md"
DOCUMENTS = [pytest.param(one, id=one.name) for one in documents()]

# console: typed, and compared. yaml: read as a definition. ini: read as settings.
# json: read as faults of the sandbox. sh: commands for a checkout, compared with the Makefile.
# text: pictures of folders.
# The picture of the rooms is compared elsewhere (tests/project/test_architecture.py).
LANGUAGES = {"console", "yaml", "ini", "json", "sh", "text", "mermaid"}


def codes(cell: str) -> list[str]:
    """What stands in `backticks` in a cell."""
    return re.findall(r"`([^`]+)`", cell)


def of(language: str) -> list[Block]:
    return [one for file in documents() for one in blocks(file) if one.language == language]


# -- what is typed ----------------------------------------------------------------------------


@pytest.mark.xdist_group("demo")
def test_what_the_readme_shows_is_what_happens(tmp_path: Path) -> None:
    """Its commands, typed in their order by a newcomer, print what it shows and end as it says."""
    furnish(tmp_path / "home" / ".local" / "share" / "hiring-campaigns" / "prefect")
    wrong = list(mistakes(README, tmp_path))
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.xdist_group("prefect")
@pytest.mark.parametrize("document", DOCUMENTS[1:])
def test_what_a_document_shows_is_what_happens(
    document: Path, tmp_path: Path, standing: Standing
) -> None:
    """Who reads on has a Prefect server by then; every command does there what is shown, too."""
    server = standing.server.api
    wrong = list(mistakes(document, tmp_path, standing.warm, PREFECT_API_URL=server))
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_block_is_of_a_kind_that_nobody_looks_at(document: Path) -> None:
    """A block in another language, or indented out of sight, would be compared with nothing."""
    text = document.read_text("utf-8")
    found = blocks(document)
    assert {one.language for one in found} <= LANGUAGES
    assert text.count("```") == 2 * len(found)
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert not re.search(r"^( {4}|\t)\S", outside, re.MULTILINE)


def test_every_word_for_where_people_stand_is_explained() -> None:
    """Each that a summary counts and that is no success has a row in the README's table."""
    rows = re.findall(r"^\| (\w+) \|", README.read_text("utf-8"), re.MULTILINE)
    assert {*TOLD} - {"invited", "added"} <= set(rows)


def test_every_console_block_of_the_readme_is_typed() -> None:
    """Counted by hand, so that a block that is lost on the way is seen."""
    typed = [one for one in blocks(README) if one.language == "console"]
    assert len(typed) == README.read_text("utf-8").count("\n```console\n") == 6
    assert sum(len(commands(one)) for one in typed) == 10


@pytest.mark.parametrize("block", of("sh"), ids=str)
def test_what_make_is_asked_for_exists(block: Block) -> None:
    """Commands that need a checkout of their own are not typed here; their targets exist."""
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    asked = [line.split()[1] for line in block.text.splitlines() if line.startswith("make ")]
    assert set(asked) <= set(targets)


def test_what_may_be_relied_on_is_there() -> None:
    """Each name that other programs are told to import."""
    text = (ROOT / "docs" / "health.md").read_text("utf-8")
    names = re.findall(r"`((?:sandbox|tasks)(?:\.\w+)+)`", text)
    assert len(names) == 4
    for name in names:
        module, _, what = name.rpartition(".")
        assert callable(getattr(import_module(module), what)), name


@pytest.mark.parametrize("block", of("yaml"), ids=str)
def test_a_definition_that_is_shown_passes_check(block: Block, tmp_path: Path) -> None:
    """Whoever copies it can run it, with the files that stand before it."""
    for shown in blocks(block.file):
        if shown.language == "text" and (name := shown.prepared.get("file")):
            (tmp_path / name).write_text(shown.text + "\n", encoding="utf-8")
    file = tmp_path / "shown.yaml"
    file.write_text(block.text, encoding="utf-8")
    assert len(read_campaigns(file).definitions) == 1


@pytest.mark.parametrize("block", of("json"), ids=str)
def test_faults_that_are_shown_are_understood(block: Block) -> None:
    """Whoever copies the list can start the sandbox with it."""
    assert faults_from_json(block.text)


# -- what is listed ---------------------------------------------------------------------------


def test_the_settings_that_are_shown_are_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The .env of the README, as it stands there, is read without a complaint."""
    for name in ServiceSettings.model_fields:
        monkeypatch.delenv(f"ASSESSMENT_{name.upper()}", raising=False)
    monkeypatch.setattr("config.folders.home", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)
    [shown] = [block for block in blocks(README) if block.language == "ini"]
    (tmp_path / ".env").write_text(shown.text, encoding="utf-8")
    (tmp_path / ".env").chmod(0o600)  # as the README says
    assert load_service().base_url == "https://api.example.com"


@pytest.mark.parametrize("page", references.PAGES)
def test_a_reference_is_what_the_program_says(page: str) -> None:
    """`make references` makes it anew."""
    assert references.written(page) == references.PAGES[page]()


def test_every_command_that_answers_programs_is_named() -> None:
    """The sentence names the commands that do not take --json, and no other."""
    every = get_command(application()).commands  # type: ignore[attr-defined]
    text = (ROOT / "docs" / "commands.md").read_text("utf-8")
    [said] = re.findall(r"^All commands but (.*) take `--json`", text, re.MULTILINE)
    assert set(codes(said)) == {
        name
        for name, command in every.items()
        if not any("--json" in parameter.opts for parameter in command.params)
        and not hasattr(command, "commands")
    }


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_command_in_the_text_can_be_typed(document: Path) -> None:
    """A command in the middle of a sentence is no block, and its name and options exist as well."""
    group = get_command(application())
    known = {
        name: {option for parameter in one.params for option in parameter.opts}
        for name, one in group.commands.items()  # type: ignore[attr-defined]
    }
    known |= {option: {option} for parameter in group.params for option in parameter.opts}
    for typed in re.findall(r"`campaign ([^`]+)`", document.read_text("utf-8")):
        name, *words = typed.split()
        options = {word for word in words if re.match(r"-\w|--\w", word)}
        assert name in {"COMMAND", "--help", "--version", *known}, typed
        assert options <= known.get(name, set()) | {"--help"}, typed


def test_every_field_of_a_definition_says_what_it_is_for() -> None:
    """The reference and the editor show these words beside each field."""
    without = [
        f"{model.__name__}.{name}"
        for model in (*MODELS.values(), CandidateFields)
        for name, field in model.model_fields.items()
        if not (field.title and field.description)
    ]
    assert without == []
    parts = schema()["$defs"]
    assert parts["ProjectFields"]["properties"]["id"]["description"] == (
        "A project made in the web application, used as it is. Give a whole number above 0."
    )


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    """A file or folder of this checkout, from where the document lies."""
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text("utf-8"))
    assert [one for one in targets if not (document.parent / one).exists()] == []


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_a_page_begins_with_whom_it_is_for(page: Path) -> None:
    """Whoever opened the wrong one sees it at once."""
    title, _, first = page.read_text("utf-8").splitlines()[:3]
    assert title.startswith("# ")
    assert first.startswith("For ")


def test_the_documents_stay_short() -> None:
    """Every word costs each reader; what commands make, and nobody reads through, is free."""
    made = {*references.PAGES, "matrix.md"}
    pages = [page for page in (ROOT / "docs").glob("*.md") if page.name not in made]
    words = sum(len(page.read_text("utf-8").split()) for page in pages)
    assert words <= 14_000, f"shorten a page of docs by {words - 14_000} words"
    assert len(README.read_text("utf-8").split()) <= 1_500


# -- the typing itself ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("one\ntwo", "one\ntwo\n", True),
        ("one\ntwo", "one  \ntwo\n\n", True),
        ("one", "one\ntwo", False),
        ("one\ntwo", "one", False),
        ("", "one", False),
        ("", "", True),
        ("at http://h:… now", "at http://h:8701 now", True),
        ("at … now", "at a\nb now", False),
        ("one\n…\nfour", "one\ntwo\nthree\nfour", True),
        ("one\n…\nfour", "one\nfour", True),
        ("one\n…", "two\none", False),
        ("a.c", "abc", False),
    ],
)
def test_shown_and_printed_are_compared_strictly(shown: str, printed: str, same: bool) -> None:
    """Only the wildcard is lenient, and spaces where nobody sees them."""
    assert fits(shown, printed) is same


@pytest.mark.parametrize(
    ("command", "right"),
    [
        (Command("echo one", "one", 0), True),
        (Command("echo one", "two", 0), False),
        (Command("exit 3", "", 3), True),
        (Command("exit 3", "", 0), False),
        (Command("echo one >&2", "one", 0), True),
        (Command("campaign nothing", "…", 2), True),
        (Command("campaign nothing", "…", 0), False),
    ],
)
def test_a_command_that_does_otherwise_is_noticed(
    command: Command, right: bool, tmp_path: Path
) -> None:
    """Other output or another exit code than shown is a mistake of the document."""
    with Shell(tmp_path) as shell:
        assert (shell.type(command) is None) is right


def test_a_block_without_an_end_is_noticed(tmp_path: Path) -> None:
    """Everything after it would not be looked at."""
    file = tmp_path / "open.md"
    file.write_text("```console\n$ true\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"open\.md:1: this block is never closed"):
        blocks(file)


def test_an_exit_code_is_read_from_what_is_shown(tmp_path: Path) -> None:
    """`$ echo $?` belongs to the command before it."""
    block = Block(tmp_path, 1, "console", "$ false\n$ echo $?\n1\n$ echo a\na", {})
    assert commands(block) == [Command("false", "", 1), Command("echo a", "a", 0)]
