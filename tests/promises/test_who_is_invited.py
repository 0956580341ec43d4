"""Promises 22 to 35: who is invited, and who never is."""

import itertools
import json
import re
import resource
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.promises.support import corpora
from tests.promises.support.commands import Answer, Campaign, wait_for
from tests.promises.support.corpora import place, text, wanted
from tests.promises.support.service import Service

Sandbox = Callable[..., Service]
Problems = list[dict[str, Any]]
HEAD = "first_name,last_name,email1"
ADA, GRACE = "Ada,Lovelace,ada@people.test", "Grace,Hopper,grace@people.test"


def refused(answer: Answer) -> Problems:
    """The mistakes of a `check --json` that found some."""
    told = answer.json()
    assert (answer.code, told["ok"]) == (2, False), answer.said
    problems: Problems = told["problems"]
    return problems


def by_file(problems: Problems) -> dict[str, Problems]:
    """Mistakes by the campaign they belong to: the definition, or the folder of its table."""
    found: dict[str, Problems] = {}
    for problem in problems:
        file = Path(problem["file"])
        key = file.stem if file.suffix == ".yaml" else file.parent.name
        found.setdefault(key, []).append(problem)
    return found


def table(campaign: Campaign, *rows: str, name: str = "people.csv") -> str:
    (campaign.folder / name).write_text("\n".join([HEAD, *rows]) + "\n", "utf-8")
    return name


def somebody(number: int) -> str:
    """A row of a table; everybody has another name."""
    name = "".join(chr(97 + int(digit)) for digit in str(number)).capitalize()
    return f"Ann,Of{name},{name}@people.test"


def numbered(corpus: str, *files: str) -> dict[str, corpora.Case]:
    """The cases of a corpus, each with a key for its campaign."""
    return {f"case-{n}": case for n, case in enumerate(corpora.cases(corpus, *files))}


def defined(campaign: Campaign, cases: dict[str, corpora.Case]) -> list[Path]:
    return [corpora.define(campaign, key, c["path"], c.get("options")) for key, c in cases.items()]


# -- 22, 23: definitions -----------------------------------------------------------------------


def test_22_every_mistake_of_all_files_at_once(campaign: Campaign, sandbox: Sandbox) -> None:
    """In reading order, each at line and column or sheet and cell; exit 2, and not one request."""
    service = sandbox()
    book = {"file": "book/bad-people.xlsx", "sheet": "Candidates"}
    files = [
        corpora.define(
            campaign, "text", "sheets/bad-people.csv", stage_id="none", problem={"id": 0}
        ),
        corpora.define(
            campaign, "book", "sheets/bad-people.xlsx", book, project={"name": "", "state": "open"}
        ),
    ]
    problems = refused(campaign("check", *(file.name for file in files), "--json"))
    assert sorted(map(place, by_file(problems)["book"]), key=len) == [
        "book.yaml:2:19",
        *(f"bad-people.xlsx, Candidates!{c}" for c in ["A2", "A4", "B5", "D5", "A6", "D6", "A7"]),
    ]
    assert [place(problem) for problem in by_file(problems)["text"]] == [
        *("text.yaml:3:17", "text.yaml:6:11"),
        *(f"bad-people.csv:{line}" for line in (2, 2, 3, 4, 5, 6)),
    ]
    assert campaign("run", "text.yaml", "--yes").code == 2
    assert service.entries() == []


UNKNOWN = {
    # what the definition says besides, where that stands, and what is offered instead
    "misspelt": ({"project": {"name": "A", "descripton": "x"}}, "2:24", "description"),
    "elsewhere": ({"starttime": "2030-12-01 09:00"}, "6:1", "project.starttime"),
    "person": ({"candidates": [{"frist_name": "A"}]}, "5:15", "first_name"),
    "dropped": ({"cooldown": "30 days"}, "6:1", "cooldown"),  # of an earlier version
}


def test_23_an_unknown_field_is_a_mistake_with_the_nearest_name(campaign: Campaign) -> None:
    """A field written twice names both places; a dropped option is refused, never ignored."""
    people = {"candidates": {"file": table(campaign, ADA)}}
    for key, (fields, _, _) in UNKNOWN.items():
        corpora.write(campaign, key, **{**people, **fields})
    twice = corpora.write(campaign, "twice", **people)
    twice.write_text(twice.read_text() + "problem: 43\n")
    files = sorted(file.name for file in campaign.folder.glob("*.yaml"))
    problems = by_file(refused(campaign("check", *files, "--json")))
    assert problems.keys() == {*UNKNOWN, "twice"}
    for key, (_, where, nearest) in UNKNOWN.items():
        at = {place(problem): text(problem) for problem in problems[key]}
        assert nearest in at[f"{key}.yaml:{where}"], at
    (second,) = problems["twice"]
    assert second["line"] == 6
    assert "3" in text(second)


# -- 24, 25: addresses and persons -------------------------------------------------------------

ADDRESSES = [json.loads(line) for line in corpora.lines("addresses.jsonl")]


def test_24_addresses_are_sent_as_typed_and_compared_by_key(
    campaign: Campaign, sandbox: Sandbox
) -> None:
    """What is no single address is a mistake; display names are read in sheets alone."""
    service = sandbox()
    typed = [each for each in ADDRESSES if "@people.test" not in each["typed"]]

    def people(of: list[dict[str, Any]]) -> list[dict[str, str]]:
        names = [(f"{chr(65 + n // 26)}nn", f"{chr(65 + n % 26)}ee") for n in range(len(of))]
        return [
            {"first_name": first, "last_name": last, "email1": each["typed"]}
            for (first, last), each in zip(names, of, strict=True)
        ]

    by_key = {each["key"]: each for each in typed if each["sent"]}
    again = [each for each in typed if each["sent"] and each not in by_key.values()]
    bad = [each for each in typed if not each["sent"]]
    corpora.write(campaign, "good", candidates=people([*by_key.values()]))
    corpora.write(campaign, "twice", candidates=people([*by_key.values(), *again]))
    corpora.write(campaign, "bad", candidates=people(bad))
    problems = by_file(refused(campaign("check", "good.yaml", "twice.yaml", "bad.yaml", "--json")))
    assert "good" not in problems
    assert len(problems["twice"]) == len(again)
    assert [problem["field"] for problem in problems["bad"]] == ["email1"] * len(bad)
    (campaign.folder / "twice.yaml").unlink()
    (campaign.folder / "bad.yaml").unlink()

    named, several = corpora.cases("exports", "teamtailor-excel.csv", "recruitee-several.csv")
    for key, case in {"named": named, "several": several}.items():
        corpora.define(campaign, key, case["path"], case["options"])
    answer = campaign("run", ".", "--yes")
    assert answer.code == 0, answer.said
    rows = corpora.sent(service)
    assert [row["email1"] for row in rows["good"]] == [each["sent"] for each in by_key.values()]
    assert rows["named"] == wanted(named)
    assert rows["several"] == wanted(several)


def test_25_identical_rows_are_one_person(campaign: Campaign) -> None:
    """Rows that differ in what is sent name each other, and what differs; a name twice is asked."""
    files = ("twice.csv", "capitals.csv", "two-addresses.csv", "differs.csv")
    cases = numbered("sheets", *files)
    answer = campaign("check", *(file.name for file in defined(campaign, cases)), "--json")
    problems = by_file(refused(answer))
    for key, case in cases.items():
        told = problems.get(key, [])
        assert [str(problem["line"]) for problem in told] == [
            at for at, _ in case.get("mistakes", [])
        ]
        for part in case.get("says", []):
            assert part in text(told[0]) or part in told[0]["field"]


# -- 26, 27: who is out, and whom a campaign is for --------------------------------------------

LINE = re.compile(r"(where: ?\{[^{}]*\}|hidden_rows: ?skip)")
RUN = ("workable.csv", "ashby.csv", "japanese.csv", "marked.xlsx")  # to the service, as well


def test_26_whoever_the_sheet_calls_out_is_out_until_somebody_decides(
    campaign: Campaign, sandbox: Sandbox
) -> None:
    """The line that is printed leaves exactly them out; nobody else is stopped."""
    service = sandbox()
    every = corpora.cases("left_out")
    cases = {f"case-{n}": case for n, case in enumerate(every) if "out" in case}
    answer = campaign("check", *(file.name for file in defined(campaign, cases)), "--json")
    problems = by_file(refused(answer))
    kept: dict[str, corpora.Case] = {}
    for key, case in cases.items():
        (problem,) = problems[key]
        for what, those in case["out"].items():
            parts = [those] if isinstance(those, str) else map(str, those)
            assert all(part in text(problem) for part in (what, *parts)), problem
        after = [other for other in every if "people" in other and _same_table(case, other)]
        if after:
            _as_printed(campaign.folder / f"{key}.yaml", case, problem, after[0])
            kept[key] = after[0]
    (kept["free"],) = corpora.cases("left_out", "nobody-is-out.csv")
    corpora.define(campaign, "free", kept["free"]["path"], kept["free"]["options"])
    assert len(kept) >= 19
    done = campaign("check", *(f"{key}.yaml" for key in kept))
    assert done.code == 0, done.said
    sent = {key: case for key, case in kept.items() if case["file"] in RUN or key == "free"}
    for key in cases.keys() - sent.keys():
        (campaign.folder / f"{key}.yaml").unlink()
    answer = campaign("run", ".", "--yes")
    assert answer.code == 0, answer.said
    assert corpora.sent(service) == {key: wanted(case) for key, case in sent.items()}


def _same_table(case: corpora.Case, other: corpora.Case) -> bool:
    sheets = [each.get("options", {}).get("sheet") for each in (case, other)]
    return bool(case["file"] == other["file"] and sheets[0] == sheets[1])


def _as_printed(
    definition: Path, case: corpora.Case, problem: dict[str, Any], after: corpora.Case
) -> None:
    """Type the line that a mistake prints into the definition, in place of a `where` there; where
    it leaves a blank, what the case keeps afterwards."""
    found = LINE.search(text(problem))
    assert found, problem
    typed = found[0]
    for title, values in after["options"].get("where", {}).items():
        chosen = json.dumps({title: values}, ensure_ascii=False)[1:-1]
        typed = re.sub(rf'(?<=[{{ ]){re.escape(title)}: \["<keep which[^"]*"\]', chosen, typed)
    options = {name: v for name, v in case.get("options", {}).items() if name != "where"}
    lines = [f"{name}: {json.dumps(value)}" for name, value in options.items()]
    kept = [line for line in definition.read_text().splitlines() if "candidates" not in line]
    people = ["candidates:", f"  file: {definition.stem}/{case['file']}"]
    definition.write_text("\n".join([*kept, *people, *(f"  {each}" for each in [*lines, typed])]))


def test_27_where_keeps_exactly_who_it_names(campaign: Campaign, sandbox: Sandbox) -> None:
    """An unknown column is a mistake; a value that nobody has is said, and stops only nobody."""
    service = sandbox()
    cases = numbered("exports", "lever-candidates.csv", "sap-integration.csv", "google-form.csv")
    cases |= {f"stage-{n}": case for n, case in enumerate(corpora.cases("sheets", "stages.csv"))}
    files = defined(campaign, cases)
    problems = by_file(refused(campaign("check", *(file.name for file in files), "--json")))
    bad = {key: case for key, case in cases.items() if "mistakes" in case}
    assert problems.keys() == bad.keys()
    for key, case in bad.items():
        (problem,) = problems[key]
        assert all(part in text(problem) for part in case["says"])
        (campaign.folder / f"{key}.yaml").unlink()
    good = {key: case for key, case in cases.items() if "people" in case}
    nobody_has = campaign("check", "stage-1.yaml")
    assert (nobody_has.code, "Onsite" in nobody_has.said) == (0, True)
    assert campaign("run", ".", "--yes").code == 0
    assert corpora.sent(service) == {key: wanted(case) for key, case in good.items()}


# -- 28 to 31: cells, columns, files -----------------------------------------------------------


def test_28_errors_are_mistakes_and_digits_are_kept(campaign: Campaign, sandbox: Sandbox) -> None:
    """`#N/A`, `Err:502`, formulas never calculated; numbers of more than 15 digits as they are."""
    service = sandbox()
    cases = numbered("sheets", "errors.csv", "errors.xlsx", "never-calculated.xlsx")
    files = defined(campaign, cases)
    problems = by_file(refused(campaign("check", *(file.name for file in files), "--json")))
    for key, case in cases.items():
        found = [(str(p["cell"] or p["line"]), p["field"]) for p in problems[key]]
        assert found == [(at, field) for at, field in case["mistakes"]]
        (campaign.folder / f"{key}.yaml").unlink()

    book = openpyxl.Workbook()
    for row in ([*HEAD.split(","), "source"], [*ADA.split(","), 9007199254740992]):
        book.active.append(row)
    book.save(campaign.folder / "digits.xlsx")
    corpora.write(campaign, "digits", candidates={"file": "digits.xlsx"})
    (long,) = corpora.cases("sheets", "long-numbers.csv")
    corpora.define(campaign, "long", long["path"])
    assert campaign("run", ".", "--yes").code == 0
    rows = corpora.sent(service)
    assert [row["source"] for row in rows["digits"]] == ["9007199254740992"]
    assert rows["long"] == wanted(long)


def test_29_a_column_that_is_not_known_is_named_and_not_sent(
    campaign: Campaign, sandbox: Sandbox
) -> None:
    """Remarks are sent only if the definition maps them."""
    service = sandbox()
    files = ("notes.csv", "remarks-german.csv", "recruiter.csv")
    cases = numbered("sheets", *files)
    said = campaign("check", *(file.name for file in defined(campaign, cases)))
    assert said.code == 0, said.said
    assert all(part in said.said for case in cases.values() for part in case.get("says", []))
    assert campaign("run", ".", "--yes").code == 0
    assert corpora.sent(service) == {key: wanted(case) for key, case in cases.items()}


LOST = """below-totals.csv sorted-in-header.csv second-table.csv blank-lines.csv unclosed-quote.csv
swallowed.csv header-twice.csv totals.csv footer.csv recruiter-only.csv no-address.csv"""


def test_30_nobody_is_lost_without_a_word(campaign: Campaign, sandbox: Sandbox) -> None:
    """People in odd places are read or pointed at; a file that cannot be read stops nobody else."""
    service = sandbox()
    cases = numbered("sheets", *LOST.split())
    said = campaign("check", *(file.name for file in defined(campaign, cases)), "--json")
    problems = by_file(refused(said))
    for key, case in cases.items():
        told = [str(problem["line"]) for problem in problems.get(key, [])]
        assert set(told) == {at for at, _ in case.get("mistakes", [])}, (case, problems.get(key))
        if "mistakes" in case:
            (campaign.folder / f"{key}.yaml").unlink()
    good = {key: wanted(case) for key, case in cases.items() if "people" in case}
    (campaign.folder / "broken.xlsx").write_bytes(b"PK\x03\x04 not a workbook")
    corpora.write(campaign, "broken", candidates={"file": "broken.xlsx"})
    ran = campaign("run", ".", "--yes")
    assert ran.code == 2
    assert "broken.xlsx" in ran.said
    assert corpora.sent(service) == good


ANYTHING = {
    "bytes.csv": bytes(n * n * 7 % 251 for n in range(100_000)),
    "book.xlsx": b"PK\x03\x04 no book",
    "half.csv": b"\xff\xfeA\0B",
    "deep.xls": b"<table><tr><td>" * 5000 + b"a@people.test",
}


def test_31_any_content_ends_in_people_or_in_mistakes(campaign: Campaign) -> None:
    """Never in a stack trace, or as a bug of ours."""
    for name, content in ANYTHING.items():
        (campaign.folder / name).write_bytes(content)
        corpora.write(campaign, name[:4], candidates={"file": name, "split_name": True})
    answer = campaign("check", ".", "--json")
    assert {each["file"] for each in refused(answer)} == {*ANYTHING}
    assert not any(word in answer.said for word in ("Traceback", "bug in"))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_31_a_hundred_thousand_rows_are_people(campaign: Campaign) -> None:
    """All of them, in less than 1 GB."""
    rows = "\n".join([HEAD, *map(somebody, range(100_000))])
    (campaign.folder / "people.csv").write_text(rows, "utf-8")
    corpora.write(campaign, "many", candidates={"file": "people.csv"})
    answer = campaign("check", "many.yaml")
    assert answer.code == 0, answer.said
    assert "100,000" in answer.said
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1_000_000


# -- 32 to 35: before anything is sent ---------------------------------------------------------


CHOOSES = {
    "from.xlsx": {"where.Job", "where.Stage"},
    "from.yaml": {"where.Job", "where.Stage"},
    "jobs/backend-engineer.yaml": {"where.Stage"},
}


def test_32_what_new_writes_cannot_be_sent_as_it_is(campaign: Campaign, sandbox: Sandbox) -> None:
    """`check` refuses its blanks by name, apart from mistakes, and chooses nobody."""
    service = sandbox()
    export = campaign.folder / "export.csv"
    export.write_bytes((corpora.DATA / "exports" / "greenhouse-names.csv").read_bytes())
    assert campaign("new", "hiring.yaml").code == 0
    assert campaign("new", "book.xlsx").code == 0
    assert campaign("new", "from.xlsx", "--from", "export.csv").code == 0
    assert campaign("new", "from.yaml", "--from", "export.csv").code == 0
    assert campaign("new", "jobs", "--from", "export.csv", "--each", "Job", "--force").code == 0
    assert campaign("plan", "jobs").printed("check") == "campaign check jobs"
    written = ("jobs/backend-engineer.yaml", "jobs/data-scientist.yaml")
    for name in ("hiring.yaml", "book.xlsx", "from.xlsx", "from.yaml", *written):
        problems = refused(campaign("check", name, "--json"))
        fields = {problem["field"].removesuffix(".id") for problem in problems}
        assert {"project.name", "problem"} <= fields, name
        assert all(problem["line"] or problem["cell"] for problem in problems), problems
        chooses = {field for field in fields if field.startswith("where")}
        assert chooses == CHOOSES.get(name, set()), name
        blanks = f"{len(problems)} blanks to fill in; no mistakes in your sheet"
        assert blanks in campaign("check", name).said
        assert campaign("run", name, "--yes").code == 2
    assert service.entries() == []


def test_33_a_project_that_is_over_is_a_mistake(campaign: Campaign, sandbox: Sandbox) -> None:
    """So is one that ends before the first invitation may go out; the dates are in every answer."""
    service = sandbox()
    people = {"file": table(campaign, ADA)}
    over = {"name": "Over", "endtime": "2024-12-14 18:00", "timezone": "Europe/Paris"}
    ends = over | {"starttime": "2030-12-01 09:00", "endtime": "2030-12-14 18:00"}
    late = {"not_before": "2030-12-15 09:00"}
    corpora.write(campaign, "over", candidates=people, project=over)
    corpora.write(campaign, "late", candidates=people, project=ends, invites=late)
    problems = by_file(refused(campaign("check", "over.yaml", "late.yaml", "--json")))
    assert [problem["line"] for problem in problems["over"]] == [2]
    assert {problem["line"] for problem in problems["late"]} <= {2, 4}
    assert problems["late"]
    corpora.write(campaign, "good", candidates=people, project=ends)
    running = campaign.start("run", "good.yaml", terminal=True).until_shown("[y")
    running.type("n\n")
    running.end()
    shown = [campaign("check", "good.yaml").said, campaign("plan", "good.yaml").said]
    for said in (*shown, running.shown()):
        assert re.search(r"2030-12-01|Dec(ember)? 0?1,? 2030|0?1 Dec(ember)? 2030", said), said
        assert re.search(r"2030-12-14|Dec(ember)? 14,? 2030|14 Dec(ember)? 2030", said), said
    assert service.changes() == []


def test_34_what_is_sent_is_what_was_shown(campaign: Campaign, sandbox: Sandbox) -> None:
    """On a terminal the plan is asked for; a file that changed meanwhile is not sent."""
    service = sandbox()
    invites = {"invites": {"send": True}}
    corpora.write(campaign, "hiring", candidates={"file": table(campaign, ADA)}, **invites)
    jobs = [ADA + ",Backend,no", GRACE + ",Designer,yes", somebody(3) + ",Backend,yes"]
    (campaign.folder / "jobs.csv").write_text("\n".join([HEAD + ",Job Name,Decision", *jobs]))
    people = {"file": "jobs.csv", "ignore": ["Decision", "Job Name"]}
    corpora.write(campaign, "jobs", candidates=people, **invites)
    shown = [campaign(word, "jobs.yaml") for word in ("check", "plan")]
    running = campaign.start("run", "jobs.yaml", terminal=True).until_shown("[y")
    running.type("n\n")
    assert ([each.code for each in shown], running.end().code) == ([0, 0], 1)
    for said in (*(each.said for each in shown), running.shown()):
        assert "Job Name: Backend 2, Designer 1" in said
        assert "All 3 are invited, whatever Job Name, Decision say." in " ".join(said.split())
    assert service.entries() == []

    def asked(answer: str) -> int:
        running = campaign.start("run", "hiring.yaml", terminal=True).until_shown("[y")
        if answer == "changed":
            table(campaign, ADA, GRACE)
        running.type("n\n" if answer == "no" else "y\n")
        return running.end().code

    assert asked("no") == 1
    assert asked("changed") != 0
    assert service.changes() == []
    assert asked("yes") == 0
    assert service.invited() == ["ada@people.test", "grace@people.test"]
    table(campaign, ADA, GRACE, somebody(3))
    said = campaign("plan", "hiring.yaml").said  # of whoever gets something now
    assert "  people    Ann OfD\n" in said


def test_35_a_table_that_is_still_being_written_is_not_read(campaign: Campaign) -> None:
    """As long as rows are added it is refused; at rest it is read."""
    corpora.write(campaign, "hiring", candidates={"file": table(campaign, ADA)})
    over = threading.Event()

    def write() -> None:
        with (campaign.folder / "people.csv").open("a", buffering=1) as file:
            rows = map(somebody, itertools.count())
            while not over.wait(0.005):
                file.write(f"{next(rows)}\n")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        problems = wait_for(lambda: campaign("check", "hiring.yaml", "--json").json()["problems"])
    finally:
        over.set()
        writer.join()
    assert "people.csv" in " ".join([text(problems[0]), problems[0]["file"]])
    assert campaign("check", "hiring.yaml").code == 0
