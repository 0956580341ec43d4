"""Whom a sheet calls out: which words say so, which do not, and that the printed line works."""

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from config.sheets.files import read_file
from config.sheets.headers import calls_out, is_not_so, is_titled, says
from config.sheets.left_out import to_decide
from config.sheets.table import read_table
from tests.config.sheets.conftest import Read, said, sent, short

# Headers of columns: whoever has a value there is out.
OUT_TITLES = """
Disqualified at | Rejection Reason | rejection_email_sent_at | Archived at (GMT) | Withdrawn At
Hire date | Do not contact | Don’t email | DNC | Opted out of email | isRejected | No show | Failed
Ablehnungsgrund | Zurückgezogen am | Refusé le | Non contattare | Odrzucony | 不採用理由
"""
# Headers that say nothing of the kind.
OTHER_TITLES = """
Hiring manager | Hiring team | Recruiter | Job | Location | Applied at | Archer | Reference | Offer
Email opt in | Contact | Phone | Recruteur | Vertragsart | Contratante | 採用担当 | 応募日
Contact after | Interviewer | First name | Rating | Last contacted | Subscribed
"""
OUT_SHEETS = "Inactive | Opt-outs | Suppression list | No show | Out | No | Hired 2026 | Failed"
OTHER_SHEETS = (
    "Assessment 2026-12-01 | Old | Sheet2 | Lookup | Overview | Interested | Notes | N | People"
)
# Values under a header such as Status or Stage: this person is out.
OUT_VALUES = """
Rejected | Rejected - after interview | 5. Rejected | Candidate withdrew | Offer declined | Fail
Do not contact | DNC | Strong no | Offer accepted | Inactive | Abgelehnt | Scartata | 書類不採用
"""
OTHER_VALUES = """
Active | New | In review | Offer | Offer pending | Take-home test | Hiring manager interview
To be contacted | On hold | I decline to self-identify | Not rejected | Phone screen | Interview 2
In Bearbeitung | En cours | En proceso | In corso | Em andamento | In behandeling | W toku | 選考中
"""
STATUS_TITLES = """
Status | applicationStatus | Candidate_Stage | Current Workflow Stage | Decision | Tags | Étape
選考状況 | Bewerbungsstatus | Stand der Bewerbung | Sollicitatiefase
"""
NO_STATUS = (
    "Veteran status | Disability Status | Estimate | United States | Marital status | Statue | "
    "Familienstand | Verständnis | Standort"
)
# Headers under which a no says that a person is out.
CONSENT = """
GDPR consent | May we contact you? | OK to email | optIn | DSGVO-Einwilligung | Contact autorisé
"""
NO_CONSENT = """
Marketing consent | Background check consent | Newsletter opt-in | Contact | Option | Email
Permission to work | Consultant | Future consent | Contact person | Kontakt | Contatto
"""


def words(listed: str) -> list[str]:
    return [each.strip() for each in re.split(r"[|\n]", listed) if each.strip()]


@pytest.mark.parametrize(
    ("said_of", "them", "so"),
    [
        (lambda text: says("out", text, title=True), OUT_TITLES, True),
        (lambda text: says("out", text, title=True), OTHER_TITLES, False),
        (calls_out, OUT_SHEETS, True),
        (calls_out, OTHER_SHEETS, False),
        (lambda text: says("out", text), OUT_VALUES, True),
        (lambda text: says("out", text), OTHER_VALUES, False),
        (lambda text: is_titled(text, "status"), STATUS_TITLES + CONSENT, True),
        (lambda text: is_titled(text, "status"), f"{NO_STATUS}|{NO_CONSENT}", False),
        (is_not_so, "No | FALSE | 0 | n/a | - | – | Nein | non | não | nee | いいえ | ☐", True),
        (is_not_so, "Yes | x | TRUE | 2026-11-02 | ✓ | Ja | はい | Too senior", False),
    ],
)
def test_words_of_a_header_or_value(said_of: object, them: str, so: bool) -> None:
    """In nine languages, whatever the ending of the word."""
    assert callable(said_of)
    assert [each for each in words(them) if bool(said_of(each)) != so] == []


OUT = """First name,Last name,Email,Job,Status,Rejected at,Invite?
Ada,Lovelace,ada@people.test,Backend,Active,,yes
Grace,Hopper,grace@people.test,Backend,Rejected,,Yes
Alan,Turing,alan@people.test,Backend,Active,2026-11-02,yes
Mary,Somerville,mary@people.test,Data,"In review, ""no"" yet",-,hold
Total,4 candidates,,,,,
"""
STATUSES = ["Active", "Rejected", 'In review, "no" yet']


def test_one_question_lists_what_could_decide_and_prints_lines_that_work(
    read: Read, tmp_path: Path
) -> None:
    """With what stood in the definition before; where words leave a choice, a blank is printed."""
    before = {"where": {"Job": ["Backend", "Data"]}, "ignore": ["Email"]}
    (question,) = said(read(OUT, **before), tmp_path)
    head, choose, nothing = question.split("\n    ")
    assert head == (
        "people.csv:1: Decide who is invited. Status has Active 2, Rejected 1, "
        '\\"In review, \\"no\\" yet\\" 1; Rejected at has empty 2, "2026-11-02" 1, - 1; '
        "Invite? has yes 3, hold 1. Write one of these lines under candidates:"
    ).replace("\\", "")
    blank = "<keep which? Active 2, Rejected 1, 'In review, 'no' yet' 1>"
    assert choose == (
        f'To choose:  where: {{Job: [Backend, Data], Status: ["{blank}"], '
        'Rejected at: ["", "-"], Invite?: yes}'
    )
    line = "ignore: [Email, Status, Rejected at, Invite?]"
    assert nothing == f"If a column decides nothing:  {line}"
    typed = choose.partition("To choose:  ")[2]
    typed = typed.replace(blank, "Active")
    again = read(OUT, **YAML(typ="safe").load(typed))
    assert said(again, tmp_path) == []
    assert [first for first, *_ in sent(again)] == ["Ada"]
    assert again.left_out == {
        'Status is "Rejected"': ["Grace Hopper"],
        'Rejected at is "2026-11-02"': ["Alan Turing"],
        'Status is "In review, "no" yet"': ["Mary Somerville"],
    }
    everybody = read(OUT, where=before["where"], **YAML(typ="safe").load(line))
    assert (said(everybody, tmp_path), len(everybody.listed)) == ([], 4)
    assert everybody.ignored == ['Status ("Rejected")']  # the others decide nothing beside `where`


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"where": {"Job": "Data", "INVITE?": "hold"}}, "Mary"),
        (
            {"where": {"Status": STATUSES, "Rejected at": ["", "-"]}, "ignore": ["job", "invite?"]},
            "Ada Grace Mary",
        ),
    ],
)
def test_who_is_left_must_differ(
    read: Read, tmp_path: Path, options: dict[str, object], kept: str
) -> None:
    """Nor is a column a question that `where` names, whatever it keeps: somebody has decided."""
    people = read(OUT, **options)
    assert said(people, tmp_path) == []
    assert [first for first, *_ in sent(people)] == kept.split()


SAME = "Ada,D’Løve Lace,ada@home.test,backend"


@pytest.mark.parametrize(
    ("other", "title", "out", "kept", "asked"),
    [
        ("Ada,Lovelace,ada@people.test,Backend", "Status", "Rejected", "Test", True),
        ("Ada,L,ADA+jobs@people.test,Backend", "Status", "Rejected", "Test", True),
        (SAME, "Status", "Rejected (duplicate)", "Test", True),
        ("Ada,Lovelace,ada@people.test,Data", "Do not contact", "x", "", True),
        ("Ada,Lovelace,ada@people.test,Data", "Notes", "do NOT contact", "", True),
        (SAME, "Do not contact", "x", "calls only", True),
        (SAME, "Withdrawn on", "2026-11-02", "", True),
        (SAME, "Keen?", "Yes - but withdrew", "Yes", True),
        (SAME, "Notes", "withdrew on Tuesday", "", True),
        (SAME, "Assessment", "75 %", "", True),
        (SAME, "Decision", "No Hire", "Hire", True),
        ("Ada,Lovelace,ada@people.test,Data", "Status", "Rejected", "Test", False),
        (SAME, "Take the test?", "At the dentist", "Yes", True),
        (SAME, "RSVP", "At the dentist", "Going", True),
        (SAME, "Will attend the online test", "No", "Yes", True),
        (SAME, "Coding test", "Withdrew", "To send", True),
        (SAME, "Recommended", "Hire", "Yes", False),
        (SAME, "Status", "New", "Test", False),
        (SAME, "Keen?", "Yes 12/11", "Yes", False),
        (SAME, "Status", "Duplicate", "Test", False),
        (SAME, "Is duplicate", "Yes", "No", False),
        (SAME, "Rejected", "No", "", False),
        (SAME, "Assessment", "Python", "SQL", False),
        (SAME, "Test date", "2026-12-08", "2026-12-01", False),
    ],
)
def test_whoever_is_out_by_one_row_and_kept_by_another_is_a_question(
    read: Read, tmp_path: Path, other: str, title: str, out: str, kept: str, asked: bool
) -> None:
    """Unless the other row is a duplicate, of another job or test, or tells of an earlier step."""
    rows = f"{other},{out}\nAda,DLove-lace,ada@people.test,Backend,{kept}\n"
    table = f"First name,Last name,Email,Job,{title}\n{rows}"
    options: dict[str, object] = {"where": {title: kept}, "ignore": "Job"}
    if "Data" in other:
        options = {"where": {"Job": "Backend"}}
    people = read(table, **options)
    why = f'{title} is "{out}"), but row 3 is kept; delete'
    assert any(why in each for each in said(people, tmp_path)) == asked


def test_rows_of_two_teams_are_two_cases(read: Read, tmp_path: Path) -> None:
    rows = "Ada,L,a@x.test,Web,Test\nAda,L,a@x.test,Data,Rejected\n"
    people = read(f"First name,Last name,Email,Team,Stage\n{rows}", where={"Team": "Web"})
    assert said(people, tmp_path) == []
    table = "First name,Last name,Email,Result,Note\nA,L,a@x.test,good,sent\nA,L,a@x.test,,sent\n"
    assert len(said(read(table, where={"Result": "good"}), tmp_path)) == 1  # both rows say sent


def test_a_list_beside_the_people_is_no_answer_of_theirs(read: Read, tmp_path: Path) -> None:
    """No line to paste keeps exactly those whom the list names."""
    for who in ("bob@people.test", "Byron, Bob", "eve@people.test"):
        rows = f'Ada,Lovelace,ada@people.test,"{who}"\nBob,Byron,bob@people.test,\n'
        (question,) = said(read(f"First name,Last name,Email,Do not contact\n{rows}"), tmp_path)
        assert ("<keep which?" if "eve" in who else "Some cells name") in question


def test_what_is_wrong_with_ignore(read: Read, tmp_path: Path) -> None:
    (found,) = said(read(OUT, ignore=["Invite"]), tmp_path)
    assert 'candidates.ignore: there is no column "Invite"; the columns are "Invite?", ' in found


REMARKED = """
Grace Hopper (withdrawn) | Grace Hopper [do not contact] | REJECTED - Grace Hopper
Grace Hopper – declined 3 Nov | Grace Hopper (abgelehnt) | 山田太郎（辞退）| A Lee do not contact
Al Ray - on hold | A Ray – OUT | A Ray - NO | "A B - rejected, May" | "A B, rej" | "B, rej" | B; Rej
"""
NOT_REMARKED = """
A Rejected | tim drop | "A Hold, N" | "Ro, Assunta" | A L-Declined | A - Rome | A (Top) L
"""


@pytest.mark.parametrize(("names", "out"), [(REMARKED, True), (NOT_REMARKED, False)], ids=short)
def test_a_remark_beside_a_name(read: Read, names: str, out: bool) -> None:
    """In brackets or behind a dash; a surname is no remark."""
    wrong = []
    for name in words(names):
        people = read(f"Name,Email\n{name},g@people.test\n", split_name=True)
        if out != any("Name has a remark in row 2" in each.message for each in people.mistakes):
            wrong.append(name)
    assert wrong == []


DECIDES = """
Status: Active | Offer; Status: Rejected; Rejected: #N/A |; Status: #N/A
Stand: Nicht mehr interessiert; Consent: not given; GDPR consent: No | Yes; Opt-in: withdrawn
Anything: Archived | 3; : took another offer |; City: Hull - withdrew | York; City: Rom (abgesagt) |
Invite?: yes | no; Invite?: no | no; Interested?: y | n; Einladen?: ja | nein
Still interested?: Yes | No, thanks; Wants it: Yes | maybe; 参加: はい | いいえ
Avis: convient | ne convient pas; Go: 1 | 0; OK: ✓ |; Drop: x |; May we?: Yes | No | only by phone
Visa sponsorship needed: No | Yes; Marketing consent: no | yes; Eligible: t | f
Comment: strong | please do NOT contact, she withdrew; Recruiter remarks: withdrew on Tuesday |
Notes: already invited |; Job Name: Backend | Designer; jobReqId: 1 | 2; Stelle: Bäcker | Maler
Role: Staff |; Ticket Type: A | B; Test sent on: 2026-11-02 |; Invited: no | no; Applicant: y | n
Avis: Favorable | Défavorable | Favorable | En attente; Test date: 2026-10-21 |; Source: Rejected |
HR: sent 12/11 |; Mail: Invited | Paid; Attendance: Attending | Cancelled
Verdict: Hire | Strong Hire | No Hire; Fit: is fit | is Not fit; Go: go | no go; Send: checked |
Decision: Yes 12/11 | No 12/11; Verdict: Hire 4.5/5 | No hire 2.0/5; Chat: Yes,1/11 | 2 - No
Stage: 1 | 2; Stage: Call 12.11. | Onsite 14.11.; Invite?: yes | Hold until 12/12; Shortlist: ✔️ |
HM: fine | good | ❌; HM: fine | 👎; Go: fine | good | No\u200b; Use: I accept | I do not accept
Passed: attended | didn’t attend; Take-home: 2026-11-02 |; Eignung: gut passend | nicht gut passend
Withdrawn: out |; Invité le: 12/11 |; on_hold: May 1 |; Coding test: Completed | Not started
"""
NOTHING = """
Status: Active | Active; Status: |; Opt-in: Yes | yes; Opt-in: |; Invite?: yes | Yes
Job: Cook | cook; Source: Referral |; Notes: likes Rust |; : 1 | 2; Rejected: No |
Withdrawn at: - |; Hired: 0 | 0; Phone: +44 20 7946 0012 |; City: Oslo | Bergen; Years: 1 | 0 | 2
Score: 71 | 64; Salary: 50k |; CV link: https://cv.test/1 | https://cv.test/2; Gender: F | M
Size: S | M | D; Rating: 1.5 | 0.5; Status changed: 2026-11-01 | 2026-11-02
Current job title: Cook | Nurse; Job posted on: May | June; Test sent on: |; Invited: - | n/a
Degree: BSc | MSc; Position: a | b | c | d | e | f | g | h | i | j | k | l
Recruiter: J. Ortiz | L. Park; Race: Hispanic | Not Hispanic; Base: Oslo | Oslo, NO | not Rome
Why: no Java yet, but Go | Java | not everybody knows Go
"""


def columns(listed: str) -> list[tuple[str, list[str]]]:
    each = [part.partition(":") for part in re.split(r"[;\n]", listed) if part.strip()]
    return [(title.strip(), [v.strip() for v in cells.split("|")]) for title, _, cells in each]


@pytest.mark.parametrize(("listed", "asked"), [(DECIDES, True), (NOTHING, False)], ids=short)
def test_which_columns_can_decide(read: Read, tmp_path: Path, listed: str, asked: bool) -> None:
    """By their headers and the values of whoever is left; everything else is no question."""
    wrong = []
    for title, cells in columns(listed):
        rows = [f'A{n},L{n},a{n}@people.test,"{cell}"' for n, cell in enumerate(cells)]
        people = read("\n".join([f"First name,Last name,Email,{title}", *rows]))
        if asked != any("Decide who is invited" in each for each in said(people, tmp_path)):
            wrong.append((title, cells))
    assert wrong == []


def test_the_others_are_counted_by_what_tells_them_apart(read: Read) -> None:
    """Columns that choose or could choose come first; names, numbers and dates say nothing."""
    rows = ["Cook,Test,Oslo,no"] * 3 + [
        "cook,Test,Oslo,yes",
        "COOK,Test,Rome,yes",
        "Cook,Offer,Rome,",
    ]
    rows = [
        f"A{chr(97 + n)},B,c{n}@people.test,{n},2026-11-0{n + 1},{row}"
        for n, row in enumerate(rows)
    ]
    header = "First name,Last name,Email,Score,Applied,Job,Stage,City,Veteran"
    people = read("\n".join([header, *rows]), where={"Stage": "Test"}, ignore="Veteran")
    assert people.apart == {
        "Veteran": {"no": 3, "yes": 2},
        "City": {"Oslo": 4, "Rome": 1},
    }
    nothing = read("\n".join([header, *rows]), ignore=["Veteran", "Stage"])
    assert nothing.ignored == ["Stage", "Veteran"]  # where nothing decides, it is said


def test_new_asks_about_what_tells_people_apart_in_any_words(tmp_path: Path) -> None:
    """Of numbers and dates only what few have; never about what a header calls harmless."""
    file = tmp_path / "people.csv"
    rows = ["A,Rome,4,,,Ac,ka", "A,Rome,5,2026-11-02,sai muualta töitä,Ad,la", "B,Oslo,6,,,Ae,ma"]
    rows = [f"A{at},Lovelace,a{at}@people.test,{row}" for at, row in zip("cde", rows, strict=True)]
    file.write_text("\n".join(["First name,Last name,Email,Kat.,City,Score,Lepo,?,Nick,Ä", *rows]))
    blanks, _ = to_decide(read_table(read_file(file)), {})
    assert blanks == {
        "Kat.": "<keep which? A 2, B 1>",
        "Lepo": "<keep which? empty 2, '2026-11-02' 1>",
        "?": "<keep which? empty 2, sai muualta töitä 1>",
    }


def test_a_remark_that_nobody_looked_at_is_quoted(read: Read) -> None:
    """Unless words in it say that somebody is out: then it is a question."""
    table = "First name,Last name,Email,Notes\nAda,Lovelace,ada@people.test,likes tea\n"
    assert read(table).remarks == ['Notes says of row 2 (Ada Lovelace) "likes tea"']
    assert read(table, ignore="Notes").remarks == []
    (said_above,) = read(f"Filters: no archived ones\n{table}", ignore="Notes").remarks
    assert said_above == 'row 1 says "Filters: no archived ones"'
    for title, no in (("I agree " * 80, "No"), ("Status,Status", "Active,Rejected")):
        asked = read(f"First name,Last name,Email,{title}\nAda,Lovelace,ada@people.test,{no}\n")
        assert re.match(r"(?s)(?!.*where:).*Write a short header", asked.mistakes[0].message)
