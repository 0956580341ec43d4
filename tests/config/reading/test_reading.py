"""Reading: the same bytes once, any change seen, and nothing imported that is not needed."""

import subprocess
import sys
from pathlib import Path

import pytest

from config.email_key import email_key
from config.errors import BadInput
from config.progress import follower
from config.reading import reading as reading_module
from config.reading.reading import read_campaigns
from config.reading.sources import sources_of
from tests.support import yaml_definition as sample

EXAMPLES = Path(reading_module.__file__).parents[1] / "examples"
TABLE = "first_name,last_name,email1\nAda,Lovelace,ada@example.com\n"


def digest_of(path: Path, campaign: Path | None = None) -> str:
    return sources_of(path, campaign).digest


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A definition that names a table."""
    monkeypatch.chdir(tmp_path)
    Path("c.yaml").write_text(sample.HEAD + "candidates: {file: p.csv}\n")
    Path("p.csv").write_text(TABLE)


def test_the_digest_follows_the_definition_and_its_table() -> None:
    """A changed byte in either file is a changed definition; the same bytes are the same."""
    path = Path("c.yaml")
    seen = {digest_of(path)}
    assert digest_of(path) in seen
    assert read_campaigns(path).digest in seen
    Path("p.csv").write_text(TABLE.replace("Ada", "Adah"))
    seen.add(digest_of(path))
    path.write_text(path.read_text() + "\n")
    seen.add(digest_of(path))
    path.write_text(sample.MINIMAL)
    seen.add(digest_of(path))
    seen.add(digest_of(Path("p.csv"), path))
    assert len(seen) == 5
    assert read_campaigns(path).digest == digest_of(path)


@pytest.mark.parametrize("named", ["file: p.csv", '"\\x66ile": p.csv', "? file\n  : p.csv"])
def test_no_spelling_hides_a_table_from_the_digest(named: str) -> None:
    """Were a changed table taken for unchanged, the people added to it would be forgotten."""
    Path("c.yaml").write_text(sample.HEAD + f"candidates:\n  {named}\n")
    before = digest_of(Path("c.yaml"))
    assert len(read_campaigns(Path("c.yaml")).definitions[0].candidates) == 1
    Path("p.csv").write_text(TABLE + "B,B,b@example.com\n")
    assert digest_of(Path("c.yaml")) != before
    assert len(read_campaigns(Path("c.yaml")).definitions[0].candidates) == 2


def test_the_same_bytes_are_judged_once() -> None:
    """A run reads its definition several times; judging 100,000 people takes seconds."""
    first = read_campaigns(Path("c.yaml"))
    assert read_campaigns(Path("c.yaml")) is first
    assert read_campaigns(Path("c.yaml").resolve()) is first
    Path("p.csv").write_text(TABLE + "B,B,b@example.com\n")
    assert len(read_campaigns(Path("c.yaml")).definitions[0].candidates) == 2


def test_the_same_bytes_elsewhere_are_judged_anew() -> None:
    """What is wrong, or to be looked at, is said with the name of the file that it is in."""
    Path("other").mkdir()
    for name in ("c.yaml", "p.csv"):
        Path("other", name).write_bytes(Path(name).read_bytes())
    read_campaigns(Path("c.yaml"))
    (there,) = read_campaigns(Path("other/c.yaml")).definitions
    assert there.candidates[0].place.file == "other/p.csv"


def test_a_long_reading_tells_how_far_it_has_come() -> None:
    """Every thousand rows, so that whoever waits sees that something happens."""
    rows = "".join(f"A,B,p{number}@example.com\n" for number in range(2500))
    Path("p.csv").write_text(TABLE.partition("\n")[0] + "\n" + rows)
    told: list[tuple[str, int]] = []
    token = follower.set(lambda doing, rows: told.append((doing, rows)))
    read_campaigns(Path("c.yaml"))
    follower.reset(token)
    assert told == [("checking", 1000), ("checking", 2000)]


def test_the_digest_of_what_cannot_be_read() -> None:
    """It is never that of something good, and each is refused."""
    seen = {digest_of(Path("c.yaml"))}
    Path("p.csv").unlink()
    Path("broken.yaml").write_text("candidates: {file: [")
    Path("empty.yaml").touch()
    for name in ("c.yaml", "nope.yaml", "broken.yaml", "empty.yaml"):
        seen.add(digest_of(Path(name)))
        with pytest.raises(BadInput):
            read_campaigns(Path(name))
    assert len(seen) == 5


def test_the_examples_are_good() -> None:
    """What is shipped as an example passes as it is."""
    (backend,) = read_campaigns(EXAMPLES / "backend.yaml").definitions
    assert len(backend.candidates) == 7
    with_table = read_campaigns(EXAMPLES / "people.csv", EXAMPLES / "backend.yaml")
    people = with_table.definitions[0].candidates
    assert len(people) == 5
    assert all(email_key(p.email1).endswith("@example.com") for p in (*people, *backend.candidates))


def test_a_check_without_workbooks_imports_no_heavy_library() -> None:
    """`check` of a YAML file, with people inline or in a CSV, starts at once."""
    script = f"""
import sys
from pathlib import Path
from config.definition import model as definition
from config import email_key, errors, mistakes
from config.tables import headers
from config.reading import reading, starter
reading.read_campaigns(Path({str(EXAMPLES / "backend.yaml")!r}))
reading.read_campaigns(Path("c.yaml"))
starter.write_starter(Path("new.yaml"))
heavy = {{"pandas", "numpy", "openpyxl", "prefect", "sqlmodel", "sqlalchemy", "xlsxwriter"}}
heavy |= {{"dns", "asyncio", "pydantic_settings", "python_calamine"}}
print(*sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")
