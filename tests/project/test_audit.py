"""What the project is made of: every locked package is told, with a licence that was agreed to."""

import json
import shutil
import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def audit(tmp_path: Path) -> ModuleType:
    """The audit, of a project elsewhere."""
    spec = spec_from_file_location("audit", ROOT / ".ci" / "audit.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    project = "[project]\nname = 'hiring-campaigns'\nversion = '1'\n"
    (tmp_path / "pyproject.toml").write_text(project)
    module.ROOT = tmp_path  # type: ignore[attr-defined]
    module.BILL = tmp_path / "dist" / "sbom.cdx.json"  # type: ignore[attr-defined]
    return module


def judged(audit: ModuleType, lock: str) -> int:
    (audit.ROOT / "requirements.lock").write_text(lock)
    return int(audit.main())


def test_what_is_installed_is_agreed_to(audit: ModuleType) -> None:
    """Today's packages, and a bill of materials that says the same each time."""
    lock = (ROOT / "requirements.lock").read_text()
    written = []
    for _ in range(2):
        assert judged(audit, lock) == 0
        written.append(audit.BILL.read_bytes())
    assert written[0] == written[1]
    components = {one["name"]: one for one in json.loads(written[0])["components"]}
    assert components["httpx"]["licenses"] == [{"expression": "BSD-3-Clause"}]
    assert (components["httpx"]["scope"], components["pytest"]["scope"]) == ("required", "excluded")


@pytest.mark.parametrize(
    ("expression", "agreed"),
    [
        ("MIT", True),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
        ("LicenseRef-Proprietary", False),
        ("", False),
    ],
)
def test_a_licence_is_agreed_to_by_name(audit: ModuleType, expression: str, agreed: bool) -> None:
    """Whatever nobody has agreed to is a person's decision, an unknown one as well."""
    assert audit.agreed("a", expression) is agreed


def test_an_exception_is_for_one_package(audit: ModuleType) -> None:
    """What was agreed to for one is not agreed to for the next."""
    assert audit.agreed("text-unidecode", "Artistic-1.0-Perl")
    assert not audit.agreed("another", "Artistic-1.0-Perl")


@pytest.mark.parametrize(
    ("lock", "said"),
    [
        ("nowhere-to-be-found==1.0 \\\n    --hash=sha256:00\n", "is locked and not installed"),
        ("httpx==0.1 \\\n    --hash=sha256:00\n", "is installed, 0.1 locked"),
        ("", "httpx is installed and not locked"),
    ],
)
def test_what_differs_from_the_lock_is_told(
    audit: ModuleType, capsys: pytest.CaptureFixture[str], lock: str, said: str
) -> None:
    """An audit of other packages than the locked ones would say nothing."""
    assert judged(audit, lock) == 1
    assert said in capsys.readouterr().out


def test_what_another_system_needs_is_left_out(
    audit: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lock is for every system; what this one has not is not missed."""
    judged(audit, "pywin32==1 ; sys_platform == 'win32' \\\n    --hash=sha256:00\n")
    assert "pywin32" not in capsys.readouterr().out
    assert json.loads(audit.BILL.read_text())["components"] == []


@pytest.mark.parametrize(
    ("answers", "code", "says"),
    [
        ("exit 0", 0, ""),
        ('echo "urllib3 1.0 CVE-1" > "${@: -1}"; exit 1', 1, "urllib3 1.0 CVE-1"),
        ("exit 1", 3, "Nothing is known to be safe"),
    ],
)
def test_an_index_that_does_not_answer_is_no_clean_bill(
    tmp_path: Path, answers: str, code: int, says: str
) -> None:
    """What was found ends with 1; where nobody could be asked that is said, and is neither."""
    program = tmp_path / ".advisories" / "bin" / "pip-audit"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/usr/bin/env bash\n{answers}\n")
    program.chmod(0o755)
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    end = subprocess.run(
        [tmp_path / ".ci" / "advisories"], capture_output=True, text=True, check=False
    )
    assert end.returncode == code
    assert says in end.stdout + end.stderr
