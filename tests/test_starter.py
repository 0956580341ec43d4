"""Starters: what `campaign new` writes passes `check`, and nothing is ever overwritten."""

from pathlib import Path

import pytest

from config.errors import BadInput
from config.reading import read_campaigns
from config.starter import write_starter


@pytest.mark.parametrize("name", ["new.yaml", "new.yml", "new.xlsx"])
def test_a_starter_is_a_good_sample(tmp_path: Path, name: str) -> None:
    """Sample people at example.com, every field shown, nothing left to mend."""
    write_starter(tmp_path / name)
    (definition,) = read_campaigns(tmp_path / name).definitions
    assert definition.campaign == "my-campaign"
    assert [p.key for p in definition.candidates] == ["ada@example.com", "grace@example.com"]
    assert definition.project.timezone == "Europe/Paris"


@pytest.mark.parametrize("name", ["new.yaml", "new.xlsx"])
def test_a_starter_never_overwrites(tmp_path: Path, name: str) -> None:
    """Somebody's campaign may be in the file of that name."""
    (tmp_path / name).write_bytes(b"mine")
    with pytest.raises(BadInput) as raised:
        write_starter(tmp_path / name)
    assert "exists already" in str(raised.value.problems[0])
    assert (tmp_path / name).read_bytes() == b"mine"


def test_a_starter_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder that is missing, or another kind of file, is a sentence."""
    for path, said in [
        (tmp_path / "missing" / "new.yaml", "cannot be written"),
        (tmp_path / "new.csv", "wanted a name that ends in .yaml or .xlsx"),
    ]:
        with pytest.raises(BadInput) as raised:
            write_starter(path)
        assert said in str(raised.value.problems[0])
        assert not path.exists()
