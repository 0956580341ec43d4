"""A text that is no Unicode is read as its definition or its page says, and never by a guess."""

from pathlib import Path

import pytest

from config.errors import BadInput
from config.sheets.files import read_file
from config.sheets.table import read_table
from tests.config.sheets.conftest import Read, said, sent

HEAD = "First name,Last name,Email\n"
PEOPLE = [
    ("windows-1252", "Jürgen", "Müller"),
    ("windows-1250", "Łukasz", "Żółć"),  # Polish
    ("windows-1251", "Сергей", "Щукин"),
    ("windows-1253", "Γιώργος", "Παπαδόπουλος"),
    ("windows-1254", "Şule", "Çağlar"),
    ("cp932", "花子", "佐々木"),
    ("cp949", "민준", "김"),
    ("gb18030", "小明", "王"),
    ("cp950", "大文", "陳"),
    ("mac_roman", "Jürgen", "Müller"),
    ("cp850", "Jürgen", "Müller"),
]


def one(encoding: str, first: str, last: str) -> bytes:
    return f"{HEAD}{first},{last},a@people.test\n".encode(encoding)


@pytest.mark.parametrize(("encoding", "first", "last"), PEOPLE)
def test_a_person_is_asked_how_its_words_read_right(
    read: Read, tmp_path: Path, encoding: str, first: str, last: str
) -> None:
    """The right encoding stands among at most six, with the words as they were written."""
    data = one(encoding, first, last)
    [question] = said(read(data), tmp_path)
    assert f'{encoding} "{first} {last}"' in question
    assert question.startswith("people.csv, encoding: this text is not in UTF-8. Its words, by en")
    assert question.endswith(
        ".  Save it as UTF-8, or write the right one under candidates:  encoding: …"
    )
    assert question.count('"; ') < 6
    people = read(data, encoding=encoding)
    assert (said(people, tmp_path), sent(people)) == ([], [(first, last, "a@people.test")])


def test_encodings_that_read_one_word_apart_are_both_shown(read: Read, tmp_path: Path) -> None:
    """However far down the only Turkish letter stands."""
    many = "".join(f"Jürgen,Müller,{number}@people.test\n" for number in range(50))
    data = f"{HEAD}{many}Jürgen,Şahin,s@people.test\n".encode("windows-1254")
    [question] = said(read(data), tmp_path)
    assert 'windows-1252 "Jürgen Müller Þahin"' in question
    assert 'windows-1254 "Jürgen Müller Şahin"' in question


def test_what_is_in_utf_8_needs_no_word(read: Read, tmp_path: Path) -> None:
    """Also the next export, if it is in UTF-8 at last."""
    people = read(one("utf-8", "Zoë", "Müller"), encoding="windows-1250")
    assert (said(people, tmp_path), sent(people)[0][:2]) == ([], ("Zoë", "Müller"))


@pytest.mark.parametrize("wrong", ["utf-8", "cp932", "iso-8859-1"])
def test_a_wrong_encoding_is_said(read: Read, tmp_path: Path, wrong: str) -> None:
    """ISO 8859-1 reads any byte: as what no text has in it."""
    data = one("windows-1252", "Zoë", "O’Brien")
    [question] = said(read(data, encoding=wrong), tmp_path)
    assert f"is not in UTF-8, nor in {wrong}. Its words" in question
    assert 'windows-1252 "Zoë O’Brien"' in question


PAGE = "<html><head>{}</head><table><tr>{}</table></html>"
CELLS = "<td>First name<td>Last name<td>Email<tr><td>Łukasz<td>Żółć<td>a@people.test"


@pytest.mark.parametrize(
    "says",
    [
        "<meta charset=windows-1250>",
        '<META http-equiv="Content-Type" content="text/html; charset=windows-1250">',
    ],
)
def test_a_page_says_its_encoding_itself(read: Read, tmp_path: Path, says: str) -> None:
    people = read(PAGE.format(says, CELLS).encode("windows-1250"), "people.xls")
    assert (said(people, tmp_path), sent(people)[0][:2]) == ([], ("Łukasz", "Żółć"))


@pytest.mark.parametrize("says", ["", "<meta charset=iso-8859-1>", "<meta charset=none-such>"])
def test_a_page_that_says_none_or_a_wrong_one_is_asked_about(
    read: Read, tmp_path: Path, says: str
) -> None:
    data = PAGE.format(says, CELLS.replace("Żółć", "Śmiały")).encode("windows-1250")
    [question] = said(read(data, "people.xls"), tmp_path)
    assert 'windows-1250 "' in question
    people = read(data, "people.xls", encoding="windows-1250")
    assert (said(people, tmp_path), sent(people)[0][:2]) == ([], ("Łukasz", "Śmiały"))


def test_a_table_without_a_definition_is_to_be_saved_as_utf_8(tmp_path: Path) -> None:
    """As a do-not-contact list is: there is no place to write an encoding."""
    file = tmp_path / "list.csv"
    file.write_bytes("Müller,m@people.test\n".encode("windows-1252"))
    with pytest.raises(BadInput) as refused:
        read_table(read_file(file))
    assert refused.value.mistakes[0].message.endswith(".  Save it as UTF-8")
