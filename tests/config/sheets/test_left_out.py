"""Whom a sheet calls out: which words say so, which do not, and that the printed line works."""

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from config.sheets.headers import is_consent, is_not_so, is_status, says_out
from tests.config.sheets.conftest import Read, said, sent

# Headers of columns: whoever has a value there is out.
OUT_TITLES = """
Disqualified | Disqualified at | Disqualification reason | Rejected | Rejected at | Rejected by
Rejection Reason | Reason for rejection | rejection_email_sent_at | Archived | Archived at (GMT)
Archive Reason | Declined | Decline reason | Withdrawn | Withdrawn At | Withdrawal reason | Hired
Hired at | Hire date | Do not contact | Don't contact | Don’t email | DNC | Blacklisted | Opt-out
Opted out of email | Unsubscribed | isRejected | Not selected
Abgelehnt | Abgelehnt am | Ablehnungsgrund | Absage | Absagegrund | Zurückgezogen am | Eingestellt
Kontaktsperre | Nicht kontaktieren | Gesperrt | Archiviert
Refusé | Refusé le | Motif de refus | Rejeté | Désisté | Ne pas contacter | Embauché | Archivé
Rechazado | Motivo de rechazo | Descartado | Retirado | No contactar | Contratado | Lista negra
Rifiutato | Scartato | Ritirato | Non contattare | Assunto
Rejeitado | Reprovado | Desistência | Não contatar | Contratado
Afgewezen | Afwijzingsreden | Teruggetrokken | Niet benaderen
Odrzucony | Powód odrzucenia | Wycofany | Nie kontaktować | Zatrudniony
不採用 | 不採用理由 | 辞退 | 辞退日 | 連絡不可 | 入社日 | 見送り理由
"""
# Headers that say nothing of the kind.
OTHER_TITLES = """
Hiring manager | Hiring team | Recruiter | Job | Location | Applied at | Archer | Reference | Offer
Email opt in | Contact | Phone | Recruteur | Vertragsart | Contratante | 採用担当 | 応募日
Contact after | Interviewer | First name | Rating | Last contacted | Subscribed
"""
# Values under a header such as Status or Stage: this person is out.
OUT_VALUES = """
Rejected | rejected | Rejected - after interview | Application rejected | 5. Rejected | Not selected
Archived | Hired | Withdrawn | Candidate withdrew | Declined offer | Offer declined | Disqualified
Do not contact | DNC | Unsubscribed | Not moving forward | Unsuccessful | Offer accepted | Inactive
Abgelehnt | Absage erteilt | Zurückgezogen | Eingestellt | Nicht berücksichtigt | Archiviert
Refusé | Refusée | Désistement | Embauchée | Non retenue | Rejeté
Rechazada | Descartado | Contratada | Retirado | No seleccionado
Scartata | Rifiutato | Assunta | Ritirato | Non idoneo | Respinto
Reprovada | Desistente | Contratado | Não aprovado | Recusado
Afgewezen | Teruggetrokken | Aangenomen | Niet geselecteerd
Odrzucona | Wycofany | Zatrudniona | Rezygnacja
不採用 | 書類不採用 | 辞退 | 内定辞退 | 採用 | お見送り | 不合格
"""
OTHER_VALUES = """
Active | New | In review | Offer | Offer pending | Take-home test | Hiring manager interview
To be contacted | On hold | I decline to self-identify | Not rejected | Phone screen | Interview 2
In Bearbeitung | En cours | En proceso | In corso | Em andamento | In behandeling | W toku | 選考中
"""
STATUS_TITLES = """
Status | Application Status | applicationStatus | Candidate_Stage | Stage | State | Disposition
Current Workflow Stage | Final phase | Outcome | Decision | Tags | Statut | Étape | Estado | Stato
Esito | Situação | Etap | Wynik | ステータス | 選考状況 | 選考結果 | Ergebnis | Bewerbungsstatus
Bewerbungsphase | Prozessschritt | Stand der Bewerbung | Sollicitatiefase
"""
NO_STATUS = (
    "Veteran status | Disability Status | Estimate | United States | Marital status | Statue | "
    "Familienstand | Verständnis | Standort"
)
# Headers under which a no says that a person is out.
CONSENT = """
GDPR consent | Consent to contact | May we contact | May we contact you? | OK to email | Opt-in
Okay to contact | Email permission | Contactable | Email opt in | optIn | Permission to contact
Einwilligung | DSGVO-Einwilligung | Einverständnis | Zustimmung | Consentement RGPD
Contact autorisé | Consentimiento | Consenso privacy | Consentimento | Contacto autorizado
Toestemming | AVG-toestemming | Zgoda na kontakt | 個人情報同意 | 連絡可否
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
        (lambda text: says_out(text, title=True), OUT_TITLES, True),
        (lambda text: says_out(text, title=True), OTHER_TITLES, False),
        (says_out, OUT_VALUES, True),
        (says_out, OTHER_VALUES, False),
        (is_status, STATUS_TITLES, True),
        (is_status, NO_STATUS, False),
        (is_consent, CONSENT, True),
        (is_consent, NO_CONSENT, False),
        (
            is_not_so,
            "No | no | FALSE | 0 | n/a | - | – | Nein | non | não | nee | いいえ | ☐",
            True,
        ),
        (is_not_so, "Yes | x | TRUE | 2026-11-02 | ✓ | Ja | はい | Too senior", False),
    ],
)
def test_words_of_a_header_or_value(said_of: object, them: str, so: bool) -> None:
    """In nine languages, whatever the ending of the word."""
    assert callable(said_of)
    assert [each for each in words(them) if bool(said_of(each)) != so] == []


OUT = """First name,Last name,Email,Job,Status,Rejected at,Recruiter's tag
Ada,Lovelace,ada@people.test,Backend,Active,,
Grace,Hopper,grace@people.test,Backend,Rejected,,
Alan,Turing,alan@people.test,Backend,Active,2026-11-02,
Mary,Somerville,mary@people.test,Data,"In review, ""no"" yet",-,
Total,4 candidates,,,,,
"""


def test_one_question_names_the_rows_and_prints_a_line_that_works(
    read: Read, tmp_path: Path
) -> None:
    """Written into the definition as printed, with what stood there before."""
    people = read(OUT, where={"Job": ["Backend", "Data"]})
    (question,) = said(people, tmp_path)
    assert question == (
        'people.csv:3: 2 of 4 people look as if out. Status "Rejected": row 3 (Grace Hopper); '
        'Rejected at "2026-11-02": row 4 (Alan Turing). Decide under candidates; to leave them '
        'out:  where: {Job: [Backend, Data], Status: [Active, "In review, \\"no\\" yet"], '
        'Rejected at: ["", "-"]}'
    )
    line = question.partition("leave them out:  ")[2]
    again = read(OUT, **YAML(typ="safe").load(line))
    assert said(again, tmp_path) == []
    assert [first for first, *_ in sent(again)] == ["Ada", "Mary"]
    assert again.left_out == {
        'Status is "Rejected"': ["Grace Hopper"],
        'Rejected at is "2026-11-02"': ["Alan Turing"],
    }


def test_whoever_where_leaves_out_anyway_is_no_question(read: Read, tmp_path: Path) -> None:
    """Nor is a column that `where` names, whatever it keeps: somebody has decided."""
    assert said(read(OUT, where={"Job": "Data"}), tmp_path) == []
    keeps = {"Status": ["Active", "Rejected"], "Rejected at": ""}
    assert [first for first, *_ in sent(read(OUT, where=keeps))] == ["Ada", "Grace"]


@pytest.mark.parametrize(
    ("name", "out"),
    [
        ("Grace Hopper (withdrawn)", True),
        ("Grace Hopper [do not contact]", True),
        ("REJECTED - Grace Hopper", True),
        ("Grace Hopper – declined 3 Nov", True),
        ("Grace Hopper (abgelehnt)", True),
        ("山田太郎（辞退）", True),
        ("Grace Rejected", False),
        ("Grace Hopper-Declined", False),
        ("Hired Archer", False),
        ("Grace (Amazing) Hopper", False),
        ("Grace Hopper - Berlin", False),
    ],
)
def test_a_remark_beside_a_name(read: Read, tmp_path: Path, name: str, out: bool) -> None:
    """In brackets or behind a dash; a surname is no remark."""
    people = read(f"Name,Email\n{name},g@people.test\nAda Byron,a@people.test\n", split_name=True)
    assert any("as if out. Name: row 2" in each for each in said(people, tmp_path)) == out


@pytest.mark.parametrize(
    ("header", "cell", "out"),
    [
        ("", "withdrawn", True),
        ("Notes", "Rejected", True),
        ("Notes", "rejected our first offer, ask again", False),
        ("", "likes Rust", False),
        ("Source", "Rejected", False),
        ("Rejected", "#N/A", True),
        ("Status", "#N/A", True),
        ("Status", "Nicht mehr interessiert", True),
        ("Consent", "not given", True),
        ("GDPR consent", "No", True),
        ("Opt-in", "withdrawn", True),
        ("Opt-in", "Yes", False),
        ("Opt-in", "", False),
    ],
)
def test_a_word_alone_beside_a_person(
    read: Read, tmp_path: Path, header: str, cell: str, out: bool
) -> None:
    """In a column without a header, or of remarks, it counts if it says nothing else."""
    people = read(f"First name,Last name,Email,{header}\nAda,Byron,a@people.test,{cell}\n")
    assert any("1 of 1 people looks as if out" in each for each in said(people, tmp_path)) == out
