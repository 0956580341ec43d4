"""Mutants of the promise: each breaks one rule of it, and the tests above it have to fail.

`.venv/bin/python tests/mutants.py` tries all, and with a WORD those that have it. It changes copies
of this tree, never the tree itself. Each text must stand exactly once in the product.
"""

import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
AT_ONCE = 2
PYTEST = (sys.executable, "-m", "pytest", "-xq", "-n0", "--timeout=180", "-m", "not slow")
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", ".lock", "__pycache__", ".*_cache")

# Tests, and below them: what stands there => what stands there instead
MUTANTS = """
data/sending/test_moves data/eligibility data/decisions data/store/test_receipts
    (State.SENDING, State.DONE, State.UNSURE) => (State.SENDING, State.DONE)
    (State.WAITING,)  # where a step => (State.WAITING, State.REFUSED)  # where a step
    "again": Word((State.UNSURE, State.REFUSED) => "again": Word((State.UNSURE, State.DONE)
    State.UNSURE, State.DONE), State.GIVEN_UP) => State.UNSURE), State.GIVEN_UP)
    State.WAITING, again=True) => State.WAITING)
    of_id=Op.ADD, emails=True => of_id=Op.ADD
    .where(step.c.state == State.DONE) =>
    in mine if row.id not in kept] => in mine]
    STEP.c.state.in_(its.open), => STEP.c.state != State.DONE,
    OPERATIONS[op].emails else {} => False else {}
    facts.mark < mark or =>
    if row.step_id in strange: => if False:
    elif to is State.DONE and row.state is not State.DONE: => elif False:
    row.state is State.GIVEN_UP or row.again is not None: => row.state is State.GIVEN_UP:
    State.UNSURE, why=CUT_SHORT) => State.WAITING)
    if facts.paused == "pause": => if False:
    if State.UNSURE in (facts.creation, facts.attachment): => if False:
    if facts.whose_project is not None: => if False:
    not is_still_approved(facts, code): => facts.answer != APPROVE:
    if said == APPROVE: => if said != REJECT:
    if (evidence.LISTING, row.mailbox) in found: => if False:
    if (evidence.ERASED, digest) in found: => if False:
    invited.setdefault(row.mailbox, row.email1) => pass
    (step.state = 'given up' OR => (
    AND part.problem = :problem => AND part.problem != :problem
    in waiting if person not in held} => in waiting}
    [: room(session, campaign, at)[0]] =>
    .where(DO_NOT_CONTACT.c.listed_by != LIFTED) =>
data/decisions
    if State.SENDING in (step.state for step in steps.values()): => if False:
    if _any_part(session, State.UNSURE, *steps.values()): => if False:
    if twice or shared(session, {doubt.step_id: number}): => if twice:
    .values(answer=None, evidence=None)) => .values(evidence=None))
    if so_far - holds(session, campaign).keys(): => if False:
data/campaigns data/decisions/test_privacy
    if after and campaign.account != settings.account: => if False:
    and not allowed.removed: => and False:
    _refuse_another(session, campaign, read, allowed) => pass
    if key not in forgotten} => }
    if key in names and row.state not in added and row => if key in names and row
data/store
    file.stat().st_nlink > 1 => False
    if identity(path) != identity(number): => if False:
    if receipt.mark > mark else None => if False else None
    receipt.ledger != session.exec(select(LedgerId.uuid)).one() => False
    != before and not behind => != before
    os.pread(self._lock, SIGN, 0) != self._sign: => False:
tasks/service/test_verdict
    if seen.phase > Phase.NOTHING: => if seen.phase >= Phase.SENT:
    len(before) < BELIEVED: => True:
    if number and len(owners[number]) == 1 => if number
    if says_no(entry) or ( => if (
tasks/sending/test_sending
    self._doubt = True => pass
    elif self._unsure >= IN_A_ROW: => elif False:
    old = any(clock - then > LATEST for clock, then in pairs) => old = False
    await self._running.still_ours() => pass
    if len(everybody) < IN_A_ROW: => if True:
tasks/test_plan flows/cli/test_settle
    if digest not in (None, read.digest): => if False:
    if any(row.is_invited for row in here): => if False:
config/test_emails config/test_timetable
    local.partition("+")[0] or local => local
    and day not in invites.holidays =>
config/sheets/test_left_out config/sheets/test_tables config/sheets/test_corpora
    "hidden": dict.fromkeys(table.grid.hidden, ""), => "hidden": {},
    return [value for value in filled if not is_not_so(value)] => return []
    elif namesake is not each: => elif False:
"""


class Mutant(NamedTuple):
    """What stands in a file, what stands there instead, and the tests that have to fail."""

    file: Path
    old: str
    new: str
    tests: list[str]


def lives(mutant: Mutant, copies: "queue.SimpleQueue[Path]") -> bool:
    """Whether its tests pass in one of the copies. Raises if they cannot even run."""
    copy, began = copies.get(), time.monotonic()
    file, whole = copy / mutant.file, (copy / mutant.file).read_text()
    file.write_text(whole.replace(mutant.old, mutant.new, 1))
    # Python would take compiled code of the same size and second for this text's.
    env = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    typed = [*PYTEST, *mutant.tests]
    ran = subprocess.run(typed, cwd=copy, env=env, capture_output=True, text=True, check=False)
    file.write_text(whole)
    copies.put(copy)
    if ran.returncode > bool(mutant.old):
        raise RuntimeError(f"{mutant}\n{ran.stdout}")
    how = "killed" if ran.returncode else "passed"
    print(f"{how} {time.monotonic() - began:4.0f} s  {mutant.file}: {mutant.old}", flush=True)
    return not ran.returncode


def chosen(word: str) -> list[Mutant]:
    """The mutants with this word. The first changes nothing: the tests of all have to pass."""
    files = [
        file for floor in ("config", "data", "tasks") for file in ROOT.glob(f"{floor}/**/*.py")
    ]
    texts = {file.relative_to(ROOT): file.read_text() for file in files}
    found, tests = [Mutant(Path("README.md"), "", "", [])], [""]
    for line in MUTANTS.strip().splitlines():
        if not line.startswith(" "):
            tests = [f"tests/{each}{'.py' * ('test_' in each)}" for each in line.split()]
            continue
        old, _, new = f"{line.strip()} ".partition(" => ")
        places = [file for file, text in texts.items() for _ in range(text.count(old))]
        if len(places) != 1:
            sys.exit(f"This stands in {len(places)} places, not in one: {old}")
        if word in f"{places[0]}{line}":
            found.append(Mutant(places[0], old, new.strip(), tests))
    found[0].tests.extend(dict.fromkeys(test for each in found for test in each.tests))
    return found


def main() -> None:
    mutants = chosen(" ".join(sys.argv[1:]))
    copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        for number in range(AT_ONCE):
            copies.put(Path(shutil.copytree(ROOT, f"{folder}/{number}", ignore=NOT_COPIED)))
        results = pool.map(lambda each: lives(each, copies), mutants)
        _, *left = (each for each, lived in zip(mutants, results, strict=True) if lived)
    print(f"{len(left)} of {len(mutants) - 1} live", *left, sep="\n")
    sys.exit(bool(left))


if __name__ == "__main__":
    main()
