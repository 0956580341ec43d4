"""What is written for its owner alone: whole or not at all, and nowhere but where it was said."""

import os
import stat
from pathlib import Path

import pytest

from data.own_files import CannotWrite, write_whole


def test_a_file_is_for_its_owner_alone_and_replaces_the_one_before(tmp_path: Path) -> None:
    """Links lead to a person's assessment: nobody else on the machine reads them, or sees who has
    any: the folders that are made for them are closed as well."""
    path = tmp_path / "out" / "new" / "links.csv"
    write_whole(path, b"first")
    path.chmod(0o644)
    write_whole(path, b"second")
    assert path.read_bytes() == b"second"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["links.csv"]
    assert [stat.S_IMODE(one.stat().st_mode) for one in list(path.parents)[:2]] == [0o700] * 2


def test_a_file_that_cannot_be_written_whole_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk costs nothing that was there, and leaves no rest behind."""
    path = tmp_path / "links.csv"
    path.write_bytes(b"before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CannotWrite, match="No space left"):
        write_whole(path, b"after")
    assert path.read_bytes() == b"before"
    assert [file.name for file in tmp_path.iterdir()] == ["links.csv"]


def test_only_a_file_is_ever_replaced(tmp_path: Path) -> None:
    """A folder or a device in the way is left as it is."""
    folder = tmp_path / "folder"
    folder.mkdir()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (folder, pipe):
        with pytest.raises(CannotWrite, match="not a file"):
            write_whole(place, b"links")
    assert folder.is_dir() and pipe.is_fifo()


def test_a_place_that_cannot_be_used_is_a_message(tmp_path: Path) -> None:
    """A file where a folder is needed is said in words, without a stack trace."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CannotWrite, match="cannot be written"):
        write_whole(tmp_path / "file" / "links.csv", b"links")


def test_what_others_may_read_is_reached_by_its_name_alone(tmp_path: Path) -> None:
    """A candidate's page has a name that nobody can guess: the folder does not list it."""
    page = tmp_path / "links" / "pages" / "page.html"
    write_whole(page, b"page", 0o644)
    assert stat.S_IMODE(page.stat().st_mode) == 0o644
    assert [stat.S_IMODE(one.stat().st_mode) for one in list(page.parents)[:2]] == [0o711] * 2


@pytest.mark.parametrize("leads", ["somewhere", "nowhere", "to a folder", "to a device"])
def test_nothing_is_written_through_a_link(tmp_path: Path, leads: str) -> None:
    """Whoever may lay a link into the results has nothing else of their owner's written over; and
    what the owner linked there is not cut off in silence."""
    (tmp_path / "own").write_text("mine")
    (tmp_path / "folder").mkdir()
    targets = {"somewhere": "own", "nowhere": "new", "to a folder": "folder"}
    link = tmp_path / "links.csv"
    link.symlink_to(tmp_path / targets[leads] if leads in targets else "/dev/null")
    with pytest.raises(CannotWrite) as refused:
        write_whole(link, b"links")
    assert "link" in refused.value.why
    assert link.is_symlink()
    assert (tmp_path / "own").read_text() == "mine"
    assert {one.name for one in tmp_path.iterdir()} == {"own", "folder", "links.csv"}
