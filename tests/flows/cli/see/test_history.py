"""The story of a campaign: everything that was written down, in its order, in words."""

import re
from pathlib import Path
from typing import Any

import pytest

from flows.words.doubts import HOW_FAR, proved
from sandbox.faults.faults import Fault
from tests.support.doubtful_campaign import EMAILS, KEY, DoubtfulCampaign
from tests.support.doubtful_campaign import doubtful as campaign

__all__ = ["campaign"]

ADA, ZOE, GRACE = EMAILS

# Where a ledger lies is all the same to what is only typed, shown or asked.
on_each_database = pytest.mark.usefixtures("each_database")


def eventful(campaign: DoubtfulCampaign) -> None:
    """An add that is too large, an invitation in doubt, a verdict, a resend, a pause."""
    campaign.run(
        Fault("status", "add_candidates", status=413),
        Fault("lost", "invite", after_work=True, email=ZOE),
    )
    campaign.settle("--invites", "sent", "--why", "she has it")
    campaign.type("resend", KEY, ADA, "--why", "deleted", "--yes")
    campaign.type("pause", KEY, "--why", "a holiday")
    campaign.type("resume", KEY, "--why", "back")
    campaign.run()


def events(campaign: DoubtfulCampaign, *words: str) -> list[dict[str, Any]]:
    answer = campaign.type("history", KEY, *words, "--json")
    assert answer.code == 0
    told: list[dict[str, Any]] = answer.object["events"]
    return told


@on_each_database
def test_the_story_has_every_request_and_every_decision(campaign: DoubtfulCampaign) -> None:
    """Requests as in the service's own record; verdicts, resends, pauses with who and why."""
    eventful(campaign)
    told = events(campaign)
    requests = [one for one in told if one["what"] == "request"]
    assert [one["operation"] for one in requests] == campaign.requests()
    # A verdict does not rewrite what happened before it.
    [doubt] = [one for one in requests if one["came_to"] == "unsure"]
    assert (doubt["people"], doubt["settled"]) == ([ZOE], True)
    others = [one for one in told if one["what"] != "request"]
    assert [(one["what"], one.get("who"), one.get("why")) for one in others] == [
        ("came in", None, None),
        ("run began", None, None),
        ("run ended", None, None),
        ("decided", "rita", "she has it"),
        ("decided", "rita", "deleted"),
        ("paused", "rita", "a holiday"),
        ("resumed", "rita", "back"),
        ("run began", None, None),
        ("run ended", None, None),
    ]


def test_a_persons_story_is_whole_and_about_nobody_else(campaign: DoubtfulCampaign) -> None:
    """Every request that carried them, the one that was refused too, and their verdicts."""
    eventful(campaign)
    told = [
        (one["what"], one.get("operation"), one.get("came_to") or one.get("verdict"))
        for one in events(campaign, ADA.upper())
    ]
    assert told == [
        ("run began", None, None),
        ("request", "add_candidates", "refused"),
        ("request", "add_candidates", "done"),
        ("request", "invite", "done"),
        ("run ended", None, None),
        ("decided", "invite", "resend"),
        ("run began", None, None),
        ("request", "invite", "done"),
        ("run ended", None, None),
    ]
    sent = [one for one in campaign.service.record.invitations if one.email == ADA]
    assert len(sent) == sum(one[1:] == ("invite", "done") for one in told)
    words = campaign.type("history", KEY, ADA).out
    assert "add ada@example.com and 2 others: refused (status 413" in words
    assert "invite ada@example.com, invitation no. 2: done" in words
    assert "Zoe" not in words and "grace" not in words


def test_a_story_reads_as_it_happened(campaign: DoubtfulCampaign) -> None:
    """One line for each event under its day, and what was seen below it."""
    eventful(campaign)
    answer = campaign.type("history", KEY)
    assert answer.code == 0
    below = [line for line in answer.out.splitlines() if line.startswith("  ")]  # no day's heading
    lines = [re.sub(r"\d+ ms", "1 ms", line[12:]) for line in below]
    at = lines.index(f"invite Zoe@Example.com: unsure, settled since ({HOW_FAR[2]})")
    [seen] = [one["evidence"] for one in events(campaign) if one.get("came_to") == "unsure"]
    assert lines[at + 1] == proved(seen)
    assert lines[at + 2] == "invite grace@example.com: done (status 200 after 1 ms)"
    assert lines[at + 3] == "run 1 ended, needs attention"
    assert lines[at + 4] == "rita settled Zoe@Example.com: the invitation arrived: she has it"


def test_a_refused_add_was_never_unsure(campaign: DoubtfulCampaign) -> None:
    """A person's word to try it again leaves what the service said as it was."""
    campaign.run(Fault("status", "add_candidates", count=None, status=422, email=ZOE))
    before = [one["came_to"] for one in events(campaign) if one["what"] == "request"]
    campaign.settle("--candidates", "again", "--why", "mended there")
    told = [one for one in events(campaign) if one["what"] == "request"]
    assert [one["came_to"] for one in told] == before
    assert any(one["settled"] for one in told)
    words = campaign.type("history", KEY, ZOE).out
    assert re.search(r": refused, [^(]+ \(status 422", words)
    assert "unsure" not in words


def test_times_are_those_of_the_campaign(campaign: DoubtfulCampaign) -> None:
    """Whoever reads the story thinks in the zone in which the campaign was written."""
    text = campaign.file.read_text("utf-8")
    zoned = text.replace("{name: Backend engineer}", "{name: B, timezone: Asia/Kathmandu}")
    campaign.file.write_text(zoned, encoding="utf-8")
    campaign.run()
    told = events(campaign)
    assert {one["at"][-6:] for one in told} == {"+05:45"}
    assert "times of Asia/Kathmandu" in campaign.type("history", KEY).out
    assert f"  {told[0]['at'][11:19]}  the campaign was read" in campaign.type("history", KEY).out


@on_each_database
def test_a_plan_and_its_answer_are_part_of_the_story(campaign: DoubtfulCampaign) -> None:
    """Who approved what, and the run that was under it, also in a person's story."""
    with campaign.file.open("a", encoding="utf-8") as file:
        file.write("invites: {approval: required}\n")
    campaign.run()
    campaign.type("approve", KEY, "--why", "looks right")
    campaign.run()
    for words in ((), (GRACE,)):
        told = events(campaign, *words)
        [shown] = [one for one in told if one["what"] == "plan shown"]
        [answer] = [one for one in told if one["what"] == "plan answered"]
        [began] = [one for one in told if one["what"] == "run began"]
        assert (answer["answer"], answer["who"], answer["why"]) == (
            "approved",
            "rita",
            "looks right",
        )
        assert shown["plan"] == answer["plan"] == began["plan"]


def test_somebody_unknown_is_no_story(campaign: DoubtfulCampaign) -> None:
    """The nearest address is named, and a program gets an answer as well."""
    campaign.run()
    answer = campaign.type("history", KEY, "zo@example.com", "--json")
    assert (answer.code, answer.object["ok"]) == (2, False)
    assert "did you mean Zoe@Example.com?" in answer.err
    stranger = campaign.type("history", KEY, "nobody@example.com").err
    assert "nobody@example.com: " in stranger and "did you mean" not in stranger
    assert campaign.type("history", "nothing").code == 2


def test_what_people_wrote_has_no_power_over_the_terminal(campaign: DoubtfulCampaign) -> None:
    """A reason with an escape sequence, and a name with one, are shown without it."""
    campaign.run()
    campaign.type("pause", KEY, "--why", "\x1b[2Jgone\u202e")
    assert "\ufffd[2Jgone\ufffd" in campaign.type("history", KEY).out


def test_a_long_story_is_paged_on_a_terminal(campaign: DoubtfulCampaign) -> None:
    """What does not fit a screen goes to the pager that the person has chosen; else it is said."""
    campaign.run()
    campaign.at_terminal()
    paged: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("click.echo_via_pager", paged.append)
        patch.setenv("LINES", "5")
        assert campaign.type("history", KEY).out == ""
        patch.setenv("LINES", "50")
        assert "run 1 started" in campaign.type("history", KEY).out
    assert len(paged) == 1 and "run 1 started" in paged[0]


def test_a_correction_is_part_of_both_stories(campaign: DoubtfulCampaign) -> None:
    """Whoever asks about the new address learns where it came from, and the other way round."""
    campaign.run()
    campaign.type("correct", KEY, ZOE, "zoe@new.example.com", "--why", "a typing mistake")
    campaign.run()
    for email, sent in ((ZOE, 1), ("zoe@new.example.com", 1)):
        told = events(campaign, email)
        [corrected] = [one for one in told if one["what"] == "decided"]
        assert (corrected["people"], corrected["value"]) == ([ZOE], "zoe@new.example.com")
        invited = [one for one in told if one.get("operation") == "invite"]
        assert len(invited) == campaign.emails()[email] == sent
    assert (
        "rita corrected Zoe@Example.com to zoe@new.example.com" in campaign.type("history", KEY).out
    )


@on_each_database
def test_what_keeps_somebody_from_being_sent_to_is_part_of_the_story(
    campaign: DoubtfulCampaign,
) -> None:
    """A withdrawal, and what the do-not-contact list had of them at any time."""
    campaign.type("block", GRACE, "--why", "asked us to")
    campaign.run()
    shown = campaign.type("history", KEY, GRACE).out
    assert re.search(r"  held: .*: asked us to$", shown, re.MULTILINE)
    assert f"campaign allow {KEY} {GRACE}" in shown
    campaign.type("allow", KEY, GRACE, "--why", "changed her mind")
    assert "  held: " not in campaign.type("history", KEY, GRACE).out
    campaign.type("block", GRACE, "--lift", "--why", "changed her mind")
    campaign.type("withdraw", KEY, ADA, "--why", "took another job")
    told = [one for one in events(campaign, GRACE) if one["what"] != "request"]
    assert [(one["what"], one.get("verdict"), one["why"]) for one in told] == [
        ("blocked", None, "asked us to"),
        ("decided", "allow", "changed her mind"),
        ("unblocked", None, "changed her mind"),
    ]
    assert "rita withdrew ada@example.com: took another job" in campaign.type("history", KEY).out


@on_each_database
def test_every_answer_to_a_plan_is_told_also_the_one_that_was_thought_better_of(
    campaign: DoubtfulCampaign,
) -> None:
    """The ledger's plan has the last answer alone; the story has them all."""
    with campaign.file.open("a", encoding="utf-8") as file:
        file.write("invites: {approval: required}\n")
    campaign.run()
    campaign.type("approve", KEY, "--reject", "--why", "wrong date")
    code = campaign.type("approve", KEY).err.split()[-1]
    campaign.type("approve", KEY, "--plan", code, "--why", "it is right after all")
    told = [one for one in events(campaign) if one["what"] == "plan answered"]
    assert [(one["answer"], one["why"]) for one in told] == [
        ("rejected", "wrong date"),
        ("approved", "it is right after all"),
    ]


def test_which_file_was_read_when_is_kept(campaign: DoubtfulCampaign) -> None:
    """Another file, or another content, does not rewrite what was read before."""

    def files() -> list[str]:
        read = [one for one in events(campaign) if one["what"] == "came in"]
        return [Path(one["file"]).name for one in read]

    campaign.run()
    campaign.run()
    assert files() == ["hiring.yaml"]
    text = campaign.file.read_text("utf-8")
    campaign.file.write_text(text + "# changed\n", encoding="utf-8")
    campaign.run()
    campaign.file = campaign.file.rename(campaign.folder / "autumn.yaml")
    campaign.file.write_text(text + "# once more\n", encoding="utf-8")
    campaign.run()
    assert files() == ["hiring.yaml", "hiring.yaml", "autumn.yaml"]
    told = campaign.type("history", KEY).out
    assert told.index("read from") < told.index("hiring.yaml") < told.index("autumn.yaml")
