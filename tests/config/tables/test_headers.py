"""Headers by their meaning: in several languages, with a mapping that wins, never by guessing."""

import csv
import re
from collections import defaultdict

import pytest

from config.definition.sent_fields import FIELDS
from config.tables.headers import (
    DO_NOT_CONTACT,
    FULL_NAME,
    NEEDED,
    REMARKS,
    WORDS,
    find_columns,
    spelling,
    wishes_of,
)
from tests.support.documents import fits

SPLIT = (FULL_NAME, "email1")


@pytest.mark.parametrize(
    ("header", "field"),
    [
        ("First Name", "first_name"),
        ("given-name", "first_name"),
        ("PRÉNOM", "first_name"),
        ("Imię", "first_name"),
        ("Voornaam (roepnaam)", "first_name"),
        ("Surname", "last_name"),
        ("Família name", None),
        ("Apellidos", "last_name"),
        ("E-Mail*", "email1"),
        ("Email\naddress", "email1"),
        ("Correo electrónico", "email1"),
        ("E-Mail-Adresse [privat]", "email1"),
        ("Email 2", None),
        ("Recruiter email", None),
        ("Stage", "stage_id"),
        ("Quelle", "source"),
        ("NOTES ", "notes"),
        ("Notes (internal)", None),
        ("Remarks", None),
        ("Bemerkungen", None),
        ("Name", None),
        ("", None),
    ],
)
def test_what_a_header_means(header: str, field: str | None) -> None:
    """Case, spaces, punctuation, accents and explanations in brackets do not matter."""
    found = find_columns([header], {}).by_field
    assert found == ({field: 0} if field else {})


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (["Vorname", "Name", "E-Mail"], {"first_name": 0, "last_name": 1, "email1": 2}),
        (["Nom", "Prénom", "Courriel"], {"last_name": 0, "first_name": 1, "email1": 2}),
        (["First name", "Name", "Email"], {"first_name": 0, "email1": 2}),
        (["Nom", "Email"], {"email1": 1}),
        (["Last", "First", "Mail"], {"last_name": 0, "first_name": 1, "email1": 2}),
        (["First name", "Surname", "Last", "Mail"], {"first_name": 0, "last_name": 1, "email1": 3}),
        (["Last", "Given name", "Mail"], {"first_name": 1, "email1": 2}),
    ],
)
def test_a_family_name_is_known_by_the_word_beside_it(
    header: list[str], found: dict[str, int]
) -> None:
    """Beside Vorname, Name is the family name; beside anything else it might be the whole one.

    First and Last are names only side by side: alone, Last may be somebody's last visit.
    """
    assert find_columns(header, {}).by_field == found


def test_a_mapping_wins_over_the_known_names() -> None:
    """The column it names, and no other; one that is not there is told by the name it was given."""
    header = ["First name", "Last name", "E-mail", "Work e-mail", "Login"]
    columns = find_columns(header, {"email1": "work E-MAIL"})
    assert columns.by_field == {"first_name": 0, "last_name": 1, "email1": 3}
    assert columns.unused == ("E-mail", "Login")
    (complaint,) = find_columns(header, {"email1": "Mail"}).complaints
    assert fits(f'… email1 … "Mail"; found {", ".join(header)}', complaint)


def test_a_null_says_that_a_field_has_no_column() -> None:
    """Whatever the header means; nothing complains of it, and no hint offers it."""
    header = ["First name", "Last name", "E-mail", "Stage"]
    columns = find_columns(header, {"stage_id": None, "source": None})
    assert (columns.unused, columns.complaints) == (("Stage",), ())
    named = find_columns(["Name", "E-mail"], {FULL_NAME: None}).complaints
    assert not any("split" in complaint for complaint in named)


def test_two_columns_for_one_field_are_listed() -> None:
    """Nobody guesses which address a candidate logs in with."""
    header = ["First name", "Last name", "E-mail", "Personal email"]
    (complaint,) = find_columns(header, {}).complaints
    assert fits('2 … email1: E-mail, Personal email; … {email1: "E-mail"}', complaint)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("Email,Email", "2 …: Email (column 3, C), Email (column 4, D); rename … one …"),
        ("E-mail,email ,Mail", '3 …: E-mail, email, Mail; … {email1: "Mail"}'),
        ("Mail,Work email,Mail", '3 …: Mail, Work email, Mail; … {email1: "Work email"}'),
    ],
)
def test_what_is_to_be_typed_chooses_one_column(columns: str, said: str) -> None:
    """A header that several columns have chooses none of them: then they are to be renamed."""
    header = ["First name", "Last name", *columns.split(",")]
    (complaint,) = find_columns(header, {}).complaints
    assert fits(said, complaint)
    for named in re.findall(r'{email1: "(.*)"}', complaint):
        assert find_columns(header, {"email1": named}).complaints == ()
    (again,) = find_columns(header, {"email1": header[2]}).complaints or ("rename",)
    assert "rename" in again


def test_a_full_name_is_split_only_when_told_to() -> None:
    """Untold, the column is a hint; told, it is one of the columns that are needed."""
    header = ["Candidate Name", "Email"]
    (hint,) = find_columns(header, {}).complaints
    assert fits('… "Candidate Name"; …  split_name: true  …', hint)
    assert find_columns(header, {}, SPLIT).by_field == {FULL_NAME: 0, "email1": 1}
    assert find_columns(header, {}, SPLIT).complaints == ()
    both = find_columns(["Name", "First name", "Email"], {}, SPLIT).complaints
    assert fits("split_name …, … first_name; … split_name", both[0])


@pytest.mark.parametrize(
    ("options", "split", "needed"),
    [
        ({}, False, NEEDED),
        ({"split_name": True}, True, SPLIT),
        ({"split_name": "yes"}, False, NEEDED),
        ({"columns": {FULL_NAME: "Who"}}, True, SPLIT),
        ({"columns": ["email1"]}, False, NEEDED),
    ],
)
def test_what_a_definition_wishes(
    options: dict[str, object], split: bool, needed: tuple[str, ...]
) -> None:
    """Whoever names the column of full names has told; a wish of a wrong kind is told elsewhere."""
    wishes = wishes_of(options)
    assert (wishes.split_name, wishes.needed) == (split, needed)


BOTH_NAMES = {
    "English": ("Given names", "Family name", "E-Mail Address"),
    "German": ("Vorname", "Name", "E-Mail-Adresse"),
    "French": ("Prénom", "Nom", "Adresse e-mail"),
    "Spanish": ("Nombre", "Apellidos", "Correo electrónico"),
    "Italian": ("Nome", "Cognome", "Indirizzo e-mail"),
    "Portuguese": ("Nome", "Sobrenome", "Endereço de e-mail"),
    "Dutch": ("Voornaam", "Naam", "E-mailadres"),
    "Catalan": ("Nom", "Cognoms", "Adreça de correu electrònic"),
    "Swedish": ("Förnamn", "Efternamn", "E-postadress"),
    "Danish": ("Fornavn", "Efternavn", "E-mailadresse"),
    "Norwegian": ("Fornavn", "Etternavn", "E-post"),
    "Finnish": ("Etunimi", "Sukunimi", "Sähköposti"),
    "Icelandic": ("Eiginnafn", "Eftirnafn", "Netfang"),
    "Polish": ("Imię", "Nazwisko", "Adres e-mail"),
    "Czech": ("Jméno", "Příjmení", "E-mailová adresa"),
    "Slovak": ("Meno", "Priezvisko", "E-mail"),
    "Hungarian": ("Keresztnév", "Vezetéknév", "E-mail cím"),
    "Romanian": ("Prenume", "Nume", "Adresă de e-mail"),
    "Croatian": ("Ime", "Prezime", "E-pošta"),
    "Slovenian": ("Ime", "Priimek", "E-poštni naslov"),
    "Lithuanian": ("Vardas", "Pavardė", "El. paštas"),
    "Latvian": ("Vārds", "Uzvārds", "E-pasts"),
    "Estonian": ("Eesnimi", "Perekonnanimi", "E-posti aadress"),
    "Greek": ("Όνομα", "Επώνυμο", "Διεύθυνση email"),
    "Turkish": ("ADI", "Soyadı", "E-posta"),
    "Russian": ("Имя", "Фамилия", "Электронная почта"),
    "Ukrainian": ("Ім'я", "Прізвище", "Ел. пошта"),
    "Bulgarian": ("Име", "Фамилия", "Имейл"),
    "Hebrew": ("שם פרטי", "שם משפחה", 'דוא"ל'),
    "Arabic": ("الاسم الأول", "اسم العائلة", "البريد الإلكتروني"),
    "Persian": ("نام", "نام خانوادگی", "ایمیل"),
    "Hindi": ("पहला नाम", "अंतिम नाम", "ईमेल"),
    "Thai": ("ชื่อ", "นามสกุล", "อีเมล"),
    "Vietnamese": ("Tên", "Họ", "Địa chỉ email"),
    "Indonesian": ("Nama depan", "Nama belakang", "Alamat email"),
    "Japanese": ("名", "姓", "メールアドレス（必須）"),
    "Chinese": ("名字", "姓氏", "电子邮箱"),
    "Korean": ("이름", "성", "이메일"),
}


@pytest.mark.parametrize("header", BOTH_NAMES.values(), ids=BOTH_NAMES)
def test_names_and_an_address_are_known_in_many_languages(header: tuple[str, str, str]) -> None:
    """In whatever order the columns stand, and typed in capitals."""
    first, last, email = header
    wanted = {"first_name": 0, "last_name": 1, "email1": 2}
    assert find_columns(header, {}).by_field == wanted
    assert find_columns([last, email, first], {}).by_field == {
        "last_name": 0,
        "email1": 1,
        "first_name": 2,
    }


EXPORTS = {
    "Greenhouse": ["Candidate Name", "Job", "Stage", "Email Addresses", "Source"],
    "Greenhouse import": ["First Name", "Last Name", "Email", "Job", "Source"],
    "Lever": ["Full name", "Email", "Stage", "Sources", "Origin"],
    "Ashby": ["Candidate Name", "Primary Email Address", "Current Interview Stage"],
    "Workable": ["Firstname", "Lastname", "Email", "Job", "Disqualified"],
    "Teamtailor": ["First name", "Last name", "Email", "Job title"],
    "SmartRecruiters": ["candidateFirstName", "candidateLastName", "candidateEmail"],
    "Recruitee": ["Name", "Jobs", "Emails", "Phones", "Tags", "Sources"],
    "Personio": ["Candidate ID", "Candidate name", "Gender", "Email address"],
    "Personio in German": ["Vorname", "Nachname", "E-Mail", "Status", "Jobname"],
    "BambooHR": ["Applicant Name", "Email", "Status", "Rating"],
    "Workday": ["Legal Name - First Name", "Legal Name - Last Name", "Primary Email"],
    "iCIMS": ["Person : System ID", "Person : Full Name: First Last", "Person : Email"],
    "SAP SuccessFactors": ["Candidate First Name", "Candidate Last Name", "primaryEmail"],
}


@pytest.mark.parametrize("header", EXPORTS.values(), ids=EXPORTS)
def test_the_export_of_an_applicant_tracking_system_is_known(header: list[str]) -> None:
    """As it is: at most a full name is to be split."""
    needed = SPLIT if "split_name: true" in str(find_columns(header, {})) else NEEDED
    found = find_columns(header, {}, needed)
    assert found.complaints == ()
    assert set(needed) <= found.by_field.keys() <= {*needed, "source", "stage_id"}


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (["Nome", "Email"], {"email1": 1}),
        (["Nome", "Apelido", "Email"], {"email1": 2}),
        (["Име", "Презиме", "Имейл"], {"email1": 2}),
        (["Ad", "E-posta"], {"email1": 1}),
        (["名字", "邮箱"], {"email1": 1}),
        (["名字", "名", "メール"], {"last_name": 0, "first_name": 1, "email1": 2}),
        (["名字", "姓", "邮箱"], {"first_name": 0, "last_name": 1, "email1": 2}),
        (["성", "이메일"], {"email1": 1}),
        (["Vorname", "Name", "Nachname"], {"first_name": 0, "last_name": 2}),
        (["Nom", "Prénom", "Cognoms"], {"first_name": 1, "last_name": 2}),
    ],
)
def test_a_word_that_may_be_two_fields_is_never_guessed(
    header: list[str], found: dict[str, int]
) -> None:
    """It counts only beside a word that decides it, and not where another column is certain."""
    assert find_columns(header, {}).by_field == found


def test_every_line_of_the_headers_can_be_kept() -> None:
    """A person may add lines: a field there is, where it was seen, and no contradiction."""
    fields = {*FIELDS, FULL_NAME, REMARKS, DO_NOT_CONTACT, "campaign"}
    certain = defaultdict(set)
    with WORDS.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    for line in lines:
        assert line["field"] in fields and line["of"] and line["source"], line
        for header in line["headers"].split("|"):
            assert spelling(header), line
            if not line["beside"]:
                certain[spelling(header)].add(line["field"])
    assert [header for header, of in certain.items() if len(of) > 1] == []
    covered = {word.strip() for line in lines for word in line["of"].split(",")}
    assert BOTH_NAMES.keys() <= covered
    assert {name.split(" i")[0] for name in EXPORTS} <= covered
