"""One page about a campaign: its numbers are the service's own, and it names nobody unasked."""

import re
import shlex
import stat
from datetime import timedelta
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from data.campaigns import queries
from data.campaigns.approvals import Answer
from data.history import records
from data.history.events import PlanAnswered, PlanShown
from data.privacy.masking import masked_text, words_of_names
from flows.report.discretion import discretion
from flows.report.report_sections import plans
from flows.report.story import Teller
from flows.words.doubts import HOW_FAR
from sandbox.faults.faults import Fault
from tasks.outputs.page_mark import MARKED_WITHIN, mark
from tasks.plan.pilot import confirm
from tests.support.doubtful_campaign import EMAILS, KEY, DoubtfulCampaign
from tests.support.doubtful_campaign import doubtful as campaign
from tests.support.ledgers.small_ledger import NOON

__all__ = ["campaign"]

ADA, ZOE, GRACE = EMAILS
HOSTILE = ("=cmd|' /C calc'!A1", "<script>alert(1)</script>", "x@example.com")


class Text(HTMLParser):
    """What a page says: its tags, and its words one after another."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []
        self._quiet = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._quiet = tag == "style"

    def handle_data(self, data: str) -> None:
        if data.strip() and not self._quiet:
            self.words.append(" ".join(data.split()))

    def __str__(self) -> str:
        return " | ".join(self.words)


def page(campaign: DoubtfulCampaign, *words: str) -> str:
    """The report as it is written now."""
    place = campaign.folder / "report.html"
    answer = campaign.type("report", KEY, "-o", place, *words)
    assert answer.code == 0, answer.err
    return place.read_text("utf-8")


def section(written: str, title: str) -> str:
    """What stands below the heading that begins so."""
    [below] = [part for part in written.split("<h2>")[1:] if part.startswith(title)]
    return str(Text(below.partition("</h2>")[2]))


def test_the_numbers_are_those_of_the_services_own_record(campaign: DoubtfulCampaign) -> None:
    """Counts, bars and waves, against what the sandbox received and the emails it sent."""
    campaign.run(Fault("lost", "invite", after_work=True, email=ZOE))
    campaign.settle("--invites", "sent", "--why", "she has it")
    campaign.type("resend", KEY, ADA, "--why", "deleted", "--yes")
    campaign.run()
    record, written = campaign.service.record, page(campaign)
    said = str(Text(written))
    people = len({one.email for one in record.invitations})
    for number, word in ((3, "candidates"), (len(record.candidates), "added"), (people, "invited")):
        assert f"| {number} | {word} |" in said
    bars = re.findall(r"<title>\d\d:\d\d:\d\d: ([^<]+)</title>", written)
    drawn = sum(int(number) for bar in bars for number in re.findall(r"(\d+) ", bar))
    assert drawn == campaign.requests().count("invite") == len(record.invitations) == 4
    waves = re.findall(r"\| (add|invite) \| (\d+) \| ([^|]+\w)", section(written, "Waves"))
    assert waves == [
        ("add", "3", "3 done"),
        ("invite", "3", "2 done, 1 unsure"),
        ("invite", "1", "1 done"),
    ]


def test_refusals_doubts_and_verdicts_are_told_with_their_reasons(
    campaign: DoubtfulCampaign,
) -> None:
    """Why each was refused, what is unsure now, and what a person decided on the rest."""
    campaign.run(
        Fault("status", "invite", status=422, email=ADA),
        Fault("lost", "invite", after_work=True, email=ZOE),
        Fault("lost", "invite", email=GRACE),
    )
    written = page(campaign, "--names")
    *_, refused, who = section(written, "Refused").split(" | 1 | invite | ")[1].split(" | ")
    assert ("status 422" in refused, who) == (True, f"Ada Lovelace <{ADA}>")
    doubts = section(written, "Unsure now")
    assert f"Zoë Müller <{ZOE}> | {HOW_FAR[2]}" in doubts and GRACE in doubts
    assert "rita" not in section(written, "Settled")
    campaign.settle("--invites", "sent", "--why", "both have it")
    written = page(campaign, "--names")
    assert "@" not in section(written, "Unsure now")
    assert "the invitation arrived | rita | both have it | " in section(written, "Settled")


def test_who_approved_is_told_with_the_waves(campaign: DoubtfulCampaign) -> None:
    """The plan that was shown, its answer, and the waves that went out under it."""
    with campaign.file.open("a", encoding="utf-8") as file:
        file.write("invites: {approval: required}\n")
    campaign.run()
    assert "(plan " not in section(page(campaign), "Waves")
    campaign.type("approve", KEY, "--why", "looks right")
    campaign.run()
    written = page(campaign)
    code = re.findall(r"rita \(plan ([0-9a-f]{8})\)", section(written, "Waves"))
    assert len(code) == 2 and len(set(code)) == 1
    plans = section(written, "Plans")
    assert f"{code[0]} | " in plans and "approved by rita" in plans and "looks right" in plans


def test_nobody_is_named_unasked(campaign: DoubtfulCampaign) -> None:
    """Not in a table, not in a reason that somebody typed, not in the name of a file."""
    campaign.run(Fault("lost", "invite", after_work=True, email=ZOE))
    campaign.settle("--invites", "sent", "--why", f"MÜLLER wrote from {ZOE} and zoe@home.org")
    campaign.type("pause", KEY, "--why", "Ada and Grace Hopper are on holiday, will resume")
    masked, named = page(campaign), page(campaign, "--names")
    for secret in ("Lovelace", "Müller", "MÜLLER", "Hopper", "Ada", *EMAILS, "zoe@home.org"):
        assert secret not in masked, secret
    assert str(campaign.folder) not in masked
    assert "M*** wrote from Z***@E***.com and z***@h***.org" in masked
    assert "A*** and G*** H*** are on holiday, will resume" in masked
    assert f"Zoë Müller &lt;{ZOE}&gt;" in named and "MÜLLER wrote" in named


def test_a_text_that_nobody_announced_is_masked_as_well(campaign: DoubtfulCampaign) -> None:
    """Texts are searched for names together; one that was left out is searched by itself."""
    campaign.run()
    with campaign.ledger() as ledger:
        row = ledger.read(queries.find_campaign, KEY).id  # type: ignore[union-attr]  # it has run
        of_it = ledger.read(records.read, row)
    how = discretion(of_it, ["Grace is away"], names=False)
    assert how.text("Grace is away") == "G*** is away"
    assert how.text("Ada and Grace are away") == "A*** and G*** are away"


@pytest.mark.parametrize(
    ("said", "masked"),
    [
        ("Mark said yes, mark it", "M*** said yes, mark it"),
        ("for (a.b+c@x.co.uk), now", "for (a***@x***.uk), now"),
        ("mary-ann O'Neil", "mary-ann O'N***"),
        ("nobody", "nobody"),
        ("Zoe\u0308 and ZOË, not zoë", "Z*** and Z***, not zoë"),
        ("李明已确认", "******已确认"),
        ("明月 agreed, so did Jo and J", "****** agreed, so did J*** and J"),
        ("小月亮已确认", "小***已确认"),
        ("", ""),
    ],
)
def test_what_people_typed_is_masked_by_word(said: str, masked: str) -> None:
    """Addresses always; names only where a word begins like one."""
    western = [("Mark", "O'Neil"), ("Mary-Ann", "X"), ("Zoë", "Y")]
    names = words_of_names([*western, ("明", "李"), ("明月", "Jo"), ("小月亮", "月")])
    assert masked_text(said, names) == masked


def test_what_others_wrote_has_no_power_in_the_page(campaign: DoubtfulCampaign) -> None:
    """Tags, formulas and invisible characters in names and reasons are text, and are seen."""
    first, last, email = HOSTILE
    campaign.file.write_text(
        f"campaign: {KEY}\nproject: {{name: '<b onclick=x>'}}\nproblem: 42\ncandidates:\n"
        f'  - {{first_name: "{first}", last_name: "{last}", email1: {email}}}\n'
    )
    campaign.run(Fault("lost", "invite", after_work=True))
    campaign.settle("--invites", "sent", "--why", "</style><img src=x>\u202egone\x1b[2J")
    written = page(campaign, "--names")
    read = Text(written)
    assert {"script", "img", "b", "a"} & {*read.tags} == {"b"}  # the counts are in bold
    assert "onclick" not in re.sub(r">[^<]*<", "><", written)
    assert f"{first} {last} <{email}>" in str(read)
    assert "</style><img src=x>\ufffdgone\ufffd[2J" in str(read)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e]", written)


def test_the_page_needs_nothing_but_itself(campaign: DoubtfulCampaign) -> None:
    """No script, no address that a browser would ask, and a policy that forbids both."""
    campaign.run()
    written = page(campaign)
    assert "default-src 'none'; style-src 'sha256-" in unescape(written)
    assert not re.search(r"<(script|link|img|iframe)|\b(src|href|style)=|url\(|@import", written)


def test_only_a_report_of_the_same_campaign_is_written_over(campaign: DoubtfulCampaign) -> None:
    """A file of somebody else's stays as it is, to the byte, unless that is asked for."""
    campaign.run()
    place = campaign.folder / "out" / KEY / "report.html"
    assert campaign.type("report", KEY).code == 0  # beside the links, where nothing is named
    assert campaign.type("report", KEY).code == 0
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert place.read_bytes().find(mark("report", KEY).encode()) in range(MARKED_WITHIN)
    for strange in (b"my own notes", b"", place.read_bytes().replace(KEY.encode(), b"another")):
        place.write_bytes(strange)
        answer = campaign.type("report", KEY)
        assert (answer.code, place.read_bytes()) == (2, strange)
        assert "--force" in answer.err
    assert campaign.type("report", KEY, "--force").code == 0
    assert mark("report", KEY).encode() in place.read_bytes()
    assert campaign.type("report", KEY, "-o", campaign.folder, "--force").code != 0
    assert campaign.type("report", "nothing").code == 2


def test_the_page_with_names_is_offered_at_the_same_place(
    campaign: DoubtfulCampaign, tmp_path: Path
) -> None:
    """As it is typed, in a folder with a space as well."""
    place = tmp_path / "our report.html"
    campaign.run(Fault("lost", "invite", after_work=True, email=ADA))
    offered = campaign.type("report", KEY, "-o", place).out.splitlines()[-1]
    assert not names_somebody(place)
    assert campaign.type(*shlex.split(offered.partition(": ")[2])[1:]).code == 0
    assert names_somebody(place)


def test_a_dash_prints_the_page(campaign: DoubtfulCampaign) -> None:
    """Nothing else is on standard output, and no file of that name appears."""
    campaign.run(Fault("lost", "invite", after_work=True, email=ADA))
    answer = campaign.type("report", KEY, "--names", "-o", "-")
    assert (answer.code, answer.err, (campaign.folder / "-").exists()) == (0, "", False)
    assert answer.out.startswith("<!doctype html>") and answer.out.endswith("</html>\n")
    assert ADA in answer.out
    assert ADA not in campaign.type("report", KEY, "-o", "-", "--json").object["page"]


def names_somebody(page: Path) -> bool:
    return ADA in page.read_text("utf-8")


def test_a_campaign_that_sent_nothing_has_a_report(campaign: DoubtfulCampaign) -> None:
    """Everything is said to be empty, rather than left out or broken."""
    campaign.run(Fault("status", "create_project", status=400, count=None))
    said = str(Text(page(campaign)))
    assert "When it was sent | Nothing was sent yet." in said
    assert "Project | refused" in said and "| 0 | invited |" in said


def test_what_to_remove_by_hand_is_told_and_masked(campaign: DoubtfulCampaign) -> None:
    """As `campaign clean-up` lists it; the address in its words is masked like any other."""
    campaign.run()
    campaign.type("correct", KEY, ZOE, "zoe@new.example.com", "--why", "a typing mistake")
    asked = "Z*** M*** (Z***@E***.com) | candidate 5002 in project 101, corrected to z***@n***.com"
    written = page(campaign)
    assert asked in section(written, "To remove")
    assert "new.example.com" not in written
    assert ZOE in section(page(campaign, "--names"), "To remove")
    assert "corrected Z*** M***" in section(written, "Other decisions")


def test_a_plan_that_was_shown_twice_was_answered_once() -> None:
    """Nobody answered in time at first: that is told beside the answer to the second showing."""
    hour = timedelta(hours=1)
    shown = [PlanShown(NOON + n * 2 * hour, "c0de", "add: 1", NOON + hour) for n in (0, 1)]
    answer = PlanAnswered(NOON + 3 * hour, "c0de", Answer.APPROVED, "rita", "")
    table = plans([*shown, answer], Teller(str, "UTC")).table
    assert table is not None
    assert [row[2] for row in table.rows] == ["not answered", "approved by rita"]


def test_the_waves_of_the_definition_are_those_of_the_report(campaign: DoubtfulCampaign) -> None:
    """The pilot by itself, who confirmed it, and the others in the sizes that were asked for."""
    with campaign.file.open("a", encoding="utf-8") as file:
        file.write("invites: {pilot: me@example.com, waves: [1, rest]}\n")
    campaign.run()
    with campaign.ledger() as ledger:
        [known] = ledger.read(queries.every_campaign)
        confirm(ledger, known, "rita", "it opens")
    campaign.run()
    written = page(campaign)
    waves = re.findall(r"(\w+) \| [^|]+ \| [^|]+ \| invite \| (\d+) \|", section(written, "Waves"))
    assert waves == [("pilot", "1"), ("1", "1"), ("2", "2")]
    assert "it opens" in section(written, "Other decisions")
    assert sum(int(number) for _, number in waves) == len(campaign.service.record.invitations)
