"""A full name in one cell, split because the definition says so.

nameparser knows titles, degrees, particles and scripts. If it cannot be sure, a person sees both
readings, because a name that was sent cannot be changed (interface 4).
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from config.mistakes import shown

if TYPE_CHECKING:
    from nameparser import ParsedName, Parser

# Longer than any name: not worth the time it would take.
LONGEST = 200
# Family names that many people write first, in Latin letters, and that are hardly ever first names.
FAMILY_FIRST = frozenset(
    (
        *("xi", "tô", "wang", "li", "zhang", "liu", "chen", "yang", "huang", "zhao"),
        *("wu", "zhou", "xu"),
        *("sun", "ma", "zhu", "hu", "guo", "lo", "gao", "lin", "luo", "zheng", "liang", "xie"),
        *("song", "tang", "han", "feng", "deng", "cao", "peng", "zeng", "xiao", "tian", "dong"),
        *("pan", "yuan", "cai", "jiang", "yu", "du", "ye", "cheng", "wei", "su", "lu", "ding"),
        *("ren", "mao", "bai", "meng", "qin", "qiu", "hou", "shao", "xiong", "lei", "dai", "hao"),
        *("gong", "qian", "kong", "cui", "jia", "zou", "shi", "duan", "gu", "yan", "tao", "fu"),
        *("he", "shen", "yao", "jin", "fang", "tan", "wong", "chan", "cheung", "leung", "lau"),
        *("ng", "kim", "lee", "yi", "park", "bak", "choi", "jung", "jeong", "kang", "cho", "bong"),
        *("yoon", "yun", "jang", "lim", "im", "shin", "seo", "kwon", "hwang", "ahn", "oh", "hong"),
        *("moon", "nguyen", "nguyễn", "tran", "trần", "le", "lê", "pham", "phạm", "huynh"),
        *("huỳnh", "vu", "vũ", "vo", "võ", "dang", "đặng", "bui", "bùi", "do", "đỗ", "ho", "hồ"),
        *("ngo", "ngô", "duong", "dương", "ly", "lý", "phan", "hoang", "hoàng", "dinh", "đinh"),
        *("mai", "truong", "sato", "suzuki", "takahashi", "tanaka", "watanabe", "ito", "yamamoto"),
        *("nakamura", "kobayashi", "kato", "yoshida", "yamada", "sasaki", "yamaguchi"),
        *("matsumoto", "inoue", "kimura", "hayashi", "shimizu", "saito", "mori", "abe", "ikeda"),
        *("hashimoto", "ishikawa", "nagy", "kovács", "kovacs", "tóth", "toth", "szabó", "szabo"),
        *("horváth", "horvath", "varga", "kiss", "molnár", "molnar", "németh", "nemeth", "farkas"),
        *("balogh", "papp"),
    )
)
# Words that come last in a name that begins with the family name, and are hardly ever family names.
GIVEN_LAST = frozenset(
    (
        *("viktor", "ernő", "béla", "ferenc", "jános"),
        *("istván", "lászló", "józsef", "sándor", "zoltán", "attila"),
        *("gábor", "péter", "tamás", "zsolt", "tibor", "andrás", "csaba", "imre", "lajos"),
        *("gyula", "györgy", "miklós", "károly", "katalin", "erzsébet", "ilona", "éva"),
        *("zsuzsanna", "ágnes"),
    )
)
# `Joon-ho` is a Korean given name; names with letters of Vietnamese mostly begin with the family
# name, and one with the ending of `Иванов` may be one before a word that ends otherwise.
_KOREAN = re.compile(r"[A-Z][a-z]+-[a-z]+")
_VIETNAMESE = re.compile("[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]", re.IGNORECASE)
_SLAVIC = re.compile(
    r".+(?:ов|ова|ев|ева|ёв|ёва|ин|ина|ский|ская|ський|ська|енко|ук|юк)", re.IGNORECASE
)
# Not the O of O Brien.
_INITIAL = re.compile(r"(?!O$)[^\W\d_]\.?(?:[^\W\d_]\.)*")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々]{2,}")
_HANGUL = re.compile(r"[\uac00-\ud7a3]{3,}")
# Two people, a number, an address: not a plain name.
_STRANGE = re.compile(r"[\d&/+@;<>=]|(?:^|\s)(?:and|und|et|y|e|och|og|en|-)\s", re.IGNORECASE)
_ROUND = re.compile(r"\([^()]*\)")
_ASIDE = re.compile(r"\[[^\[\]]*\]|<[^<>]*>")

Names = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Split:
    """First and last name; one of them is "" if there is only one name. `other` is the other
    possible reading, and `left_out` what does not count as a name, such as a title.
    """

    first: str
    last: str
    other: Names | None = None
    left_out: str = ""

    @property
    def doubt(self) -> str:
        """Say what a person should look at, as the end of a sentence; usually nothing."""
        without = f", without {shown(self.left_out)}" if self.left_out else ""
        if self.other is None:
            return without
        first, last = self.other
        if not last:
            return f"{without}; it may not be a first and last name at all"
        settled = f"{last}, {first}"
        again = split_name(settled)
        works = (again.first, again.last) == self.other
        do = f"write {shown(settled)}" if works else "put them into two columns"
        return f"{without}; if {shown(first)} and {shown(last)} are meant, {do}"


def split_name(full: str) -> Split:
    """Split a full name at the comma, or else before the last word and its particles."""
    text = " ".join(_ASIDE.sub(" ", full).split())
    aside = " ".join(_ASIDE.findall(full))
    if not text or len(text) > LONGEST:
        return _plain(text)
    if _HAN.fullmatch(text):
        return _han(text)
    name = _parser().parse(text)
    beside = (name.title, name.suffix, name.nickname, name.maiden, aside)
    left_out = ", ".join(filter(None, beside))
    bare = _bare(text, left_out)
    if "," not in text and (capitals := _capitals(bare.split())):
        return Split(*capitals, _other(capitals, bare), left_out)
    names = (name.given_names, name.family)
    if not all(names):
        return _one_name(name, text, left_out)
    if _is_certain(name, names, text, bare.split()):
        return Split(*names, left_out=left_out)
    return Split(*names, _other(names, text if "," in text else bare), left_out)


def _is_certain(name: "ParsedName", names: Names, text: str, words: list[str]) -> bool:
    if name.ambiguities or _STRANGE.search(_ROUND.sub("", text)):
        return False
    if len((name.family_base or name.family).split()) > 1:
        return False
    return "," in text or _order_is_certain(names, words)


def _order_is_certain(names: Names, words: list[str]) -> bool:
    """Whether a name without a comma has one given name, perhaps with initials, and then the
    family's; in scripts of East Asia the parser knows the order.
    """
    first, last = words[0], words[-1]
    if _HAN.search(first) or _HANGUL.search(first):
        return True
    if not all(_INITIAL.fullmatch(word) for word in names[0].split()[1:]):
        return False
    if first.casefold() in FAMILY_FIRST or last.casefold() in GIVEN_LAST:
        return False
    if _KOREAN.fullmatch(last) or _VIETNAMESE.search(f"{first} {last}"):
        return False
    family_first = _SLAVIC.fullmatch(first) and not _SLAVIC.fullmatch(last)
    return not family_first and last in names[1].split()


def _one_name(name: "ParsedName", text: str, left_out: str) -> Split:
    """A word that looks like a degree may be a name, as in `Jack MA`; a title never is a name."""
    words = _bare(text, " ".join((name.title, name.nickname))).split()
    if len(words) > 1 and name.suffix and "," not in text and not name.family_particles:
        return Split(" ".join(words[:-1]), words[-1], (words[0], ""))
    return Split(name.given_names, name.family, left_out=left_out)


def _bare(text: str, left_out: str) -> str:
    """Return the words of a name without those that do not count as a name."""
    gone = set(re.findall(r"[^\s,]+", left_out))
    words = (word for word in re.split(r"[\s,]+", text) if word)
    return " ".join(word for word in words if word.strip("()[]\"'“”„") not in gone)


def _other(names: Names, text: str) -> Names:
    """Return the likeliest of the other readings."""
    before, comma, after = text.partition(",")
    words, given = before.split(), names[0].split()
    western = (" ".join(words[:-1]), words[-1])
    eastern = (" ".join(words[1:]), words[0])
    two_surnames = (" ".join(given[:-1]), f"{given[-1]} {names[1]}")
    literal = (" ".join(after.replace(",", " ").split()), before.strip())
    likely = [western, literal] if comma else [two_surnames, western, eastern]
    if not comma and (words[0].casefold() in FAMILY_FIRST or len(words) == 2):
        likely.insert(0, eastern)
    elif _HANGUL.fullmatch(text):
        likely.insert(0, (text[1:], text[:1]))
    fitting = (each for each in likely if all(each) and each != names)
    return next(fitting, (text, ""))


def _capitals(words: list[str]) -> Names | None:
    """Read `DUPONT Jean` and `Jean DUPONT`, the form that is usual in France and elsewhere."""
    great = [len(word) > 1 and word.isupper() and "." not in word for word in words]
    count = sum(great)
    if count in (0, len(words)) or max(map(len, words)) < 3:
        return None
    first = great.index(True)
    family = words[first : first + count]
    if not all(great[first : first + count]) or first not in (0, len(words) - count):
        return None
    if not any(len(word) > 2 for word in family):
        return None
    return " ".join(words[:first] or words[count:]), " ".join(family)


def _han(text: str) -> Split:
    """A Chinese family name usually has one character, a Japanese one two."""
    if len(text) == 2:
        return Split(text[1:], text[:1])
    chinese, japanese = (text[1:], text[:1]), (text[2:], text[:2])
    parsed = _parser(chinese=True).parse(text)
    if parsed.family == text[:1]:
        return Split(*chinese, japanese)
    return Split(*japanese, chinese)


def _plain(text: str) -> Split:
    first, _, last = text.rpartition(" ")
    return Split(first or last, last if first else "", (last, first) if first else None)


@cache
def _parser(*, chinese: bool = False) -> "Parser":
    # Imported here: few tables have full names.
    from nameparser import locales, parser_for  # noqa: PLC0415

    return parser_for(locales.ZH) if chinese else parser_for(locales.RU, locales.TR_AZ)
