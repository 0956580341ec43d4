"""A person typed an id wrongly: another one takes its place, while nothing came of the first."""

import asyncio
import re

import pytest

from config.settings import load_local, load_service
from data.campaigns import queries
from data.decisions import cleaning, settling
from data.decisions.verdicts import Decided, NotDecided
from data.sending import runs
from data.sending.claims import Claim
from data.sending.outcomes import Outcome
from data.store.clock import now
from data.store.states import AttemptState, By, Ending, Operation, Step, Word
from flows import forms
from flows.run.order import RunContext, conduct
from flows.words.doubts import listed
from sandbox.faults.faults import Fault
from tasks.plan.target import CampaignSource
from tests.support.doubtful_campaign import EMAILS, KEY, DoubtfulCampaign

ADA, ZOE, GRACE = EMAILS
LOST_PROJECT = Fault("lost", "create_project", after_work=True)
LOST_ADD = Fault("lost", "add_candidates", after_work=True)
PARTIAL = Fault("partial", "add_candidates")


def typed_as_told(desk: DoubtfulCampaign, right: str) -> None:
    """Type the command that `status` names for a wrong id, and nothing else."""
    told = desk.type("status", KEY).out
    [line] = [one for one in told.splitlines() if "is wrong: campaign settle" in one]
    words = line.partition(": campaign ")[2].split()
    assert words[-1] == "TEXT"
    put = {"ID": right, "EMAIL=ID": right, "TEXT": "misread"}
    answer = desk.type(*(put.get(word, word) for word in words))
    assert answer.code == 0, answer.err
    assert answer.out.splitlines()[-1] == f"  waiting: campaign run {desk.file}"


def run_by_a_wrong_id(desk: DoubtfulCampaign) -> Ending:
    """As `desk.run`, whose promise knows each request by an id that somebody has: not so here."""
    with desk.ledger() as ledger:
        at = RunContext(ledger, load_service(), load_local())
        return asyncio.run(conduct(CampaignSource(desk.file, KEY), at)).ending


def ids(desk: DoubtfulCampaign) -> dict[str, int]:
    return {one.email: one.candidate_id for one in desk.service.record.invitations}


def everybody_once(desk: DoubtfulCampaign) -> bool:
    """The service's own record: one email each, under the person's own id, in this project."""
    there = {one.email1: one.candidate_id for one in desk.service.record.candidates}
    projects = {one.project_id for one in desk.service.record.invitations}
    once = desk.emails() == dict.fromkeys(EMAILS, 1)
    return once and ids(desk) == there and projects == {101}


def test_a_mistyped_project_takes_another_id(desk: DoubtfulCampaign) -> None:
    """The file cannot mend it; the command that is named does, and both verdicts are kept."""
    desk.run(LOST_PROJECT)
    assert desk.settle("--project", "7777").code == 0
    assert desk.run().ending is Ending.STOPPED
    assert desk.steps() == ("done", "refused")
    status = desk.type("status", KEY, "--json").object
    assert status["typed_ids"] == [{"step": "project", "email1": None, "id": 7777}]
    typed_as_told(desk, "101")
    assert desk.steps() == ("done", "waiting")
    assert desk.decisions() == [("id", "7777", "rita", ""), ("id", "101", "rita", "misread")]
    assert desk.run().ending is Ending.COMPLETED
    assert everybody_once(desk)
    told = desk.type("history", KEY).out
    assert [number for number in ("7777", "101") if re.search(rf"project exists.*{number}", told)]
    assert desk.type("status", KEY, "--json").object["typed_ids"] == []


def test_a_mistyped_candidate_takes_another_id(desk: DoubtfulCampaign) -> None:
    """Whoever waits is invited under the right id, once; the wrong one is not asked again."""
    desk.run(PARTIAL)
    assert desk.settle("--candidate", f"{GRACE}=5999").code == 0
    assert run_by_a_wrong_id(desk) is Ending.NEEDS_ATTENTION
    assert desk.steps(GRACE) == ("done", "refused")
    assert desk.settle("--candidate", f"{GRACE}=5001").code == 2  # Ada's
    assert desk.settle("--candidate", f"{GRACE}=5999").code == 2  # nothing new
    typed_as_told(desk, f"{GRACE}=5003")
    assert desk.steps(GRACE) == ("done", "waiting")
    assert run_by_a_wrong_id(desk) is Ending.COMPLETED
    assert everybody_once(desk)
    assert [value for _, value, _, _ in desk.decisions()] == ["5999", "5003"]
    asked = [one.path for one in desk.service.record.of("invite") if "5999" in one.path]
    assert len(asked) == 1
    assert len(desk.service.record.of("invite")) == 4


def by_form(desk: DoubtfulCampaign, what: forms.What, value: int, email: str = "") -> int:
    """Fill in Prefect's form `settle`, which names people by their numbers; answers how many."""
    with desk.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        rows = {person.email1: person.id for person in queries.candidates(ledger, campaign.id)}
        unsure = ledger.read(settling.find, campaign.id).steps
        code = listed(unsure, Operation.CREATE if email == "" else Operation.ADD)
        filled = forms.Filled(what, Word.ID, value, rows.get(email), code if unsure else None)
        return forms._settle(ledger, KEY, filled, By("Omar", ""))


def test_prefects_form_takes_another_id_as_well(desk: DoubtfulCampaign) -> None:
    """Whoever mistyped it there mends it there; without the person's number nobody's id changes."""
    desk.run(LOST_PROJECT)
    assert by_form(desk, forms.What.PROJECT, 7777) == 1
    desk.run()
    assert by_form(desk, forms.What.PROJECT, 101) == 1
    desk.service.faults.clear()
    desk.run(PARTIAL)
    assert by_form(desk, forms.What.ADD, 5999, GRACE) == 1
    desk.service.faults.clear()
    assert run_by_a_wrong_id(desk) is Ending.NEEDS_ATTENTION
    with pytest.raises(forms.Nothing):
        by_form(desk, forms.What.ADD, 5003)
    with pytest.raises(NotDecided):
        by_form(desk, forms.What.ADD, 5999, GRACE)
    assert by_form(desk, forms.What.ADD, 5003, GRACE) == 1
    assert run_by_a_wrong_id(desk) is Ending.COMPLETED
    assert everybody_once(desk)
    assert [value for _, value, _, _ in desk.decisions()] == ["7777", "101", "5999", "5003"]


def test_it_is_mended_before_anything_is_sent_as_well(desk: DoubtfulCampaign) -> None:
    """Who notices at once need not wait for a refusal; two mixed up are put right together."""
    desk.run(LOST_PROJECT)
    assert desk.settle("--project", "7777").code == 0
    assert desk.settle("--project", "101").code == 0
    desk.run(LOST_ADD)
    assert desk.settle("--candidate", f"{ADA}=5002", "--candidate", f"{ZOE}=5001").code == 3
    assert desk.settle("--candidate", f"{ADA}=5001").code == 2  # Zoe's, as long as hers is wrong
    right = [f"{email}={5001 + number}" for number, email in enumerate(EMAILS)]
    assert desk.settle(*(word for one in right for word in ("--candidate", one))).code == 0
    desk.run()
    assert everybody_once(desk)


@pytest.mark.parametrize("fault", [None, Fault("lost", "attach_problem", after_work=True)])
def test_a_project_that_was_used_keeps_its_id(desk: DoubtfulCampaign, fault: Fault | None) -> None:
    """What may have been done under an id cannot be taken to another one."""
    desk.run(LOST_PROJECT)
    desk.settle("--project", "101")
    desk.run(*([fault] if fault else []))
    assert desk.settle("--project", "102").code == 2
    desk.later(16)
    if fault is not None:  # whatever is said of it now, it may have had an effect
        assert desk.settle("--problem", "again", "--why", "not there").code == 0
        assert desk.settle("--project", "102").code == 2


@pytest.mark.parametrize("fault", [None, Fault("lost", "invite", email=GRACE)])
def test_an_id_that_somebody_may_be_invited_by_stays(
    desk: DoubtfulCampaign, fault: Fault | None
) -> None:
    """An email that may have gone out is never followed by one under another id."""
    desk.run(PARTIAL)
    desk.settle("--candidate", f"{GRACE}=5003")
    desk.run(*([fault] if fault else []))
    assert desk.settle("--candidate", f"{GRACE}=5999").code == 2
    desk.later(16)
    if fault is not None:
        desk.settle("--invites", "again", "--why", "nothing came")
    else:
        desk.type("resend", KEY, GRACE, "--why", "lost it", "--yes")
    assert desk.steps(GRACE) == ("done", "waiting")
    assert desk.settle("--candidate", f"{GRACE}=5999").code == 2


def test_an_id_that_the_service_gave_stays(desk: DoubtfulCampaign) -> None:
    """Refused or not: only what a person typed can have been mistyped."""
    desk.run(Fault("status", "attach_problem", status=422))
    assert desk.settle("--project", "102").code == 2
    desk.run(Fault("status", "invite", email=ADA, status=422))
    assert desk.steps(ADA) == ("done", "refused")
    assert desk.settle("--candidate", f"{ADA}=5999").code == 2
    assert "is wrong: campaign settle" not in desk.type("status", KEY).out


def test_a_run_at_work_may_be_about_to_use_the_id(desk: DoubtfulCampaign) -> None:
    """A run reads ids before it claims: what it sends must be what the ledger has by then."""
    desk.run(PARTIAL)
    desk.settle("--candidate", f"{GRACE}=5999")
    with desk.ledger() as ledger:
        begun = runs.begin(ledger, KEY, None, None)
        assert desk.settle("--candidate", f"{GRACE}=5003").code == 2
        runs.end(ledger, begun.run, Ending.STOPPED, None)
    assert desk.settle("--candidate", f"{GRACE}=5003").code == 0


def test_of_two_who_mend_it_at_once_one_is_told(desk: DoubtfulCampaign) -> None:
    """A verdict says which id it replaces: it never overrules one that nobody has seen."""
    desk.run(PARTIAL)
    with desk.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        [doubt] = ledger.read(settling.find, campaign.id).steps
        unsure = Decided(doubt.attempt, doubt.row, Word.ID, 5998)
        desk.settle("--candidate", f"{GRACE}=5999")
        late = Decided(doubt.attempt, doubt.row, Word.ID, 5003, instead=5998)
        for stale in (unsure, late):
            with pytest.raises(NotDecided):
                ledger.write(settling.settle, campaign.id, [stale], By("Omar", ""), soon=True)
        right = Decided(doubt.attempt, doubt.row, Word.ID, 5003, instead=5999)
        ledger.write(settling.settle, campaign.id, [right], By("Omar", ""), soon=True)
    desk.run()
    assert everybody_once(desk)


def test_what_was_said_of_the_wrong_id_does_not_count_for_the_right_one(
    desk: DoubtfulCampaign,
) -> None:
    """The invitation by the new id has all its repetitions, as after a resend."""
    desk.run(PARTIAL)
    desk.settle("--candidate", f"{GRACE}=5999")
    desk.service.faults.clear()
    assert run_by_a_wrong_id(desk) is Ending.NEEDS_ATTENTION
    assert desk.settle("--candidate", f"{GRACE}=5003").code == 0
    desk.service.faults.add(Fault("status", "invite", status=421, email=GRACE, count=2))
    assert run_by_a_wrong_id(desk) is Ending.COMPLETED
    assert everybody_once(desk)


def test_an_id_in_use_is_nothing_to_clean_up(desk: DoubtfulCampaign) -> None:
    """A late answer names the right id beside the wrong one: once it is in use, it stays there."""
    desk.run(PARTIAL)
    desk.settle("--candidate", f"{GRACE}=5999")
    with desk.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        [person] = [one for one in queries.candidates(ledger, campaign.id) if one.email1 == GRACE]
        assert person.add_attempt is not None
        done, own = AttemptState.DONE, {person.id: 5003}
        late = Outcome(
            person.add_attempt, Operation.ADD, done, Step.UNSURE, now(), (person.id,), ids=own
        )
        ledger.write_beside(runs.commit, [late], [], ledger.gone)
        assert len(ledger.read(cleaning.find, campaign.id)) == 1
    assert desk.settle("--candidate", f"{GRACE}=5003").code == 0
    assert "clean-up" not in desk.type("status", KEY).out
    desk.run()
    assert everybody_once(desk)


def test_a_claim_between_the_look_and_the_verdict_wins(desk: DoubtfulCampaign) -> None:
    """What was claimed under the first id stays under it, whatever somebody had read before."""
    desk.run(PARTIAL)
    desk.settle("--candidate", f"{GRACE}=5003")
    with desk.ledger() as ledger:
        campaign = ledger.read(queries.find_campaign, KEY)
        assert campaign is not None
        [doubt] = ledger.read(settling.find, campaign.id, typed=True).typed
        begun = runs.begin(ledger, KEY, None, None)
        assert doubt.row is not None
        claim = Claim(Operation.INVITE, campaign.id, begun.run, now(), (doubt.row,))
        assert ledger.write_beside(runs.commit, [], [claim], ledger.gone) != [None]
        runs.end(ledger, begun.run, Ending.STOPPED, None)
        other = Decided(doubt.attempt, doubt.row, Word.ID, 5999, instead=5003)
        with pytest.raises(NotDecided):
            ledger.write(settling.settle, campaign.id, [other], By("Omar", ""), soon=True)
