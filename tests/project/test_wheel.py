"""What is handed out when the project is built: its rooms, that they are typed, and its licence."""

import subprocess
import sys
import zipfile
from email import message_from_bytes

import pytest

from tests.project.test_dependencies import PROJECT, ROOMS, ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel as pip would build it, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    build = "import hatchling.build as b, sys; b.build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, folder], cwd=ROOT, check=True, capture_output=True)
    [file] = folder.iterdir()
    return zipfile.ZipFile(file)


def test_every_room_says_that_it_is_typed(wheel: zipfile.ZipFile) -> None:
    """Else a type checker takes whatever is imported from there for anything at all."""
    inside = set(wheel.namelist())
    assert {f"{room}/py.typed" for room in ROOMS} <= inside
    rooms = {name.partition("/")[0] for name in inside if ".dist-info/" not in name}
    assert rooms == set(ROOMS)


def test_what_is_no_python_goes_along(wheel: zipfile.ZipFile) -> None:
    """Templates, scripts and examples: every file of the rooms that git knows."""
    listed = subprocess.check_output(["git", "ls-files", *ROOMS], cwd=ROOT, text=True)
    assert set(listed.splitlines()) <= set(wheel.namelist())


def test_the_licence_goes_along_and_is_named(wheel: zipfile.ZipFile) -> None:
    """As an SPDX expression, which programs read, and as the text, which counts."""
    [text] = [name for name in wheel.namelist() if name.endswith("licenses/LICENSE")]
    assert wheel.read(text) == (ROOT / "LICENSE").read_bytes()
    [metadata] = [name for name in wheel.namelist() if name.endswith("dist-info/METADATA")]
    assert message_from_bytes(wheel.read(metadata))["License-Expression"] == "MIT"
    assert PROJECT["project"]["license"] == "MIT"
