"""`make audit`: what is installed from requirements.lock, under which licences; no network needed.

Writes dist/sbom.cdx.json, a bill of materials (CycloneDX 1.6), the same for the same packages. Ends
with 1 where a locked package is missing, or bears a licence that nobody has agreed to, and where a
package is installed that the lock does not name.
"""

import json
import re
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
BILL = ROOT / "dist" / "sbom.cdx.json"
FOR_TESTS = "# tests and checks"

# What may be used, and given on unchanged beside this program, without asking anybody.
AGREED = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC"),
    *(
        "LGPL-2.1-or-later",
        "LGPL-3.0-only",
        "MIT",
        "MIT-0",
        "MPL-2.0",
        "PSF-2.0",
        "Unlicense",
        "Zlib",
    ),
}
# Read in the package itself: what its metadata says is missing, or a choice of several.
READ = {"axe-playwright-python": "MIT", "text-unidecode": "Artistic-1.0-Perl"}
AGREED_FOR = {"text-unidecode": "Artistic-1.0-Perl"}  # a choice beside the GPL
# The words of packages that do not speak SPDX yet.
SAID = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}


def licence(package: Distribution) -> str:
    """Say the licence of a package as an SPDX expression; empty where it tells none."""
    if read := READ.get(canonicalize_name(package.name)):
        return read
    if expression := package.metadata.get("License-Expression"):
        return str(expression)
    said = [
        line.rpartition(" :: ")[2]
        for line in package.metadata.get_all("Classifier") or ()
        if line.startswith("License :: OSI Approved :: ")
    ]
    if known := [SAID[one] for one in said if one in SAID]:
        return " AND ".join(known)
    return str(package.metadata.get("License") or "").strip().partition("\n")[0]


def agreed(name: str, expression: str) -> bool:
    """Whether every licence that is named in an expression may be used."""
    named = set(re.findall(r"[\w.+-]+", expression)) - {"AND", "OR", "WITH"}
    return bool(named) and named <= AGREED | {AGREED_FOR.get(name, "")}


def locked(text: str) -> dict[str, str]:
    """The packages of a lock that this Python on this system needs, with their versions."""
    found = {}
    for line in re.findall(r"(?m)^[A-Za-z0-9].*?(?=\s*\\?$)", text):
        wanted = Requirement(line)
        if wanted.marker is None or wanted.marker.evaluate():
            found[canonicalize_name(wanted.name)] = str(wanted.specifier).removeprefix("==")
    return found


def component(name: str, version: str, expression: str, *, runs: bool) -> dict[str, object]:
    purl = f"pkg:pypi/{name}@{version}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "scope": "required" if runs else "excluded",  # what only tests need goes nowhere
        "licenses": [{"expression": expression}],
        "purl": purl,
    }


def main() -> int:
    text = (ROOT / "requirements.lock").read_text()
    to_run = locked(text.partition(FOR_TESTS)[0])
    components, complaints = [], []
    for name, version in sorted(locked(text).items()):
        try:
            package = distribution(name)
        except PackageNotFoundError:
            complaints.append(f"{name} {version} is locked and not installed: make setup-tests")
            continue
        expression = licence(package)
        components.append(component(name, package.version, expression, runs=name in to_run))
        if package.version != version:
            complaints.append(f"{name} {package.version} is installed, {version} locked")
        if not agreed(name, expression):
            complaints.append(f"{name}: nobody has agreed to its licence ({expression or 'none'})")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    installed = {canonicalize_name(package.name) for package in distributions()}
    unlocked = sorted(installed - locked(text).keys() - {project["name"]})
    mend = "make clean setup-tests"
    complaints += [f"{name} is installed and not locked: {mend}" for name in unlocked]
    own = {"type": "application", "name": project["name"], "version": project["version"]}
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": components,
    }
    BILL.parent.mkdir(exist_ok=True)
    BILL.write_text(json.dumps(bill, indent=1) + "\n")
    print(*complaints, sep="\n", end="\n" if complaints else "")
    print(f"{len(components)} packages, {len(to_run)} of them to run: {BILL.relative_to(ROOT)}")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
