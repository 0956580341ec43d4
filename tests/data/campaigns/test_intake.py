"""What a file says is taken in: who is new, gone, back, changed, and what is refused."""

from contextlib import nullcontext

import pytest

from data.campaigns.history import events_of
from data.campaigns.intake import NOTHING, Allowed, Elsewhere, EndsLater, KeyInUse
from data.campaigns.people import rows
from data.decisions.decisions import By, invite
from data.decisions.doubts import Settlement, settle_all
from data.sending.outcomes import throttle
from data.store.states import Op, State
from tests.data.desk import settings

RENAMED = Allowed("me", project=True)
ADA = {"first_name": "Ada", "last_name": "Of X", "email1": "Ada@x.org"}


def test_a_person_is_an_email_key_and_what_was_typed_is_sent(desk):
    first = desk.take_in(ADA, "Ben")
    again = desk.take_in(ADA | {"email1": " ada@X.org".strip()}, "Ben", digest="other")
    assert (first.new, again.new, again.gone) == (2, 0, ())
    desk.does(Op.CREATE), desk.does(Op.ATTACH)
    sent = {step.fields["email1"] for step in desk.claims(Op.ADD).steps}
    assert sent == {"ada@X.org", "ben@x.org"}


def test_a_file_of_the_same_bytes_changes_nothing(desk):
    desk.take_in("Ada", "Ben", digest="same")
    assert desk.take_in("Ada", digest="same").gone == ()


def test_new_and_gone(desk):
    before = desk.take_in("Ada", "Ben", "Cyd", "Dov", "Eve")
    desk.sends("Eve"), desk.call(invite, ["eve@x.org"], By("me", "the next run reminds her"))
    desk.does(Op.INVITE, "Eve", state=State.WAITING)  # it did not leave
    came = desk.take_in("Ada", "Ben", "Cyd", "Dov", "Fay")
    assert (before.new, came.new, came.gone, came.back) == (5, 1, ("eve@x.org",), ())
    assert desk.take_in("Ada", "Ben", "Cyd", "Dov", "Eve").back == ("eve@x.org",)
    assert "eve@x.org" not in desk.due(Op.INVITE)  # that run was without her
    assert "4 of 5 people" in desk.take_in("Ada").too_many_gone


@pytest.mark.parametrize("state", [State.REFUSED, State.UNSURE])
def test_changed_fields_follow_until_somebody_is_added(desk, state):
    desk.take_in(ADA, "Ben")
    desk.does(Op.CREATE, state=State.REFUSED)
    assert desk.take_in(ADA, "Ben", project={"name": "Backend", "state": "new"}).notes == ()
    desk.does(Op.CREATE), desk.does(Op.ATTACH)
    desk.does(Op.ADD, "Ada", state=state, why="no")
    desk.does(Op.ADD, "Ben")
    now = ADA | {"notes": "new", "email1": "ADA@x.org"}
    desk.take_in(now, {**ADA, "email1": "ben@x.org", "notes": "late"})
    if state is State.UNSURE:
        desk.call(settle_all, [Settlement("again", "ada@x.org")], By("me", "not in the list"))
    [again] = desk.claims(Op.ADD).steps
    email1 = ADA["email1"] if state is State.UNSURE else "ADA@x.org"  # perhaps the service has it
    assert (again.fields["notes"], again.fields["email1"]) == ("new", email1)
    assert [row.fields["notes"] for row in desk.call(rows)] == ["new", ""]


@pytest.mark.parametrize("names", ["Off, Of", "Of, Off, Of"])
def test_whoever_was_invited_is_known_by_the_name_that_the_file_has_now(desk, names):
    for name in names.split(", "):
        desk.take_in(ADA | {"last_name": f"{name} X"})
        desk.sends()
    new = ADA | {"email1": "ada@new.org"}
    desk.take_in(new, allowed=Allowed("me", removed=True))
    assert desk.kept("ada@new.org") == {"ada@new.org": "second address"}
    desk.take_in(new | {"last_name": "King"})
    assert desk.kept("ada@new.org") == {"ada@new.org": "second address"}


@pytest.mark.parametrize(
    ("sent", "asked", "refused"),
    [
        ((), {"project": {"name": "Other"}, "problem": 43}, ()),
        ((Op.CREATE,), {"problem": {"title": "Two sum"}}, ()),
        ((Op.CREATE,), {"project": {"name": "other"}}, (NOTHING,)),
        ((Op.CREATE,), {"project": {"name": " backend "}}, ()),
        ((Op.CREATE,), {"project": {"name": "Backend", "description": "late"}}, ()),
        ((Op.CREATE,), {"project": {"id": 101}}, ()),
        ((Op.CREATE,), {"project": {"id": 102}}, (NOTHING,)),
        ((Op.CREATE, Op.ATTACH), {"problem": 43}, (NOTHING, RENAMED)),
        ((Op.CREATE, Op.ATTACH), {"problem": {"title": "Two sum"}}, (NOTHING, RENAMED)),
    ],
)
def test_a_key_used_again_for_another_project_or_problem_is_refused(desk, sent, asked, refused):
    desk.take_in("Ada")
    for op in sent:
        desk.does(op)
    for allowed in (NOTHING, RENAMED):
        with pytest.raises(KeyInUse) if allowed in refused else nullcontext() as error:
            desk.take_in("Ada", **asked, allowed=allowed)
        assert not error or error.value.then.endswith("" if Op.ATTACH in sent else "--keep-project")
        said = desk.call(lambda session, of: [each.word for each in events_of(session, of)])
        assert ("keep-project" in said) == (allowed is RENAMED and refused == (NOTHING,))
    desk.settings = settings(client_id="another account")
    with pytest.raises(Elsewhere):
        desk.take_in("Ada", **asked)


@pytest.mark.parametrize("state", [State.DONE, State.REFUSED])
@pytest.mark.parametrize(("now", "refused"), [("02", ()), ("04", (NOTHING,)), (None, (NOTHING,))])
def test_a_project_is_not_believed_to_end_later_than_was_sent(desk, now, refused, state):
    ends = [{"name": "B", "endtime": day and f"2030-01-{day} 09:00"} for day in ("03", now)]
    desk.take_in("Ada", project=ends[0])
    desk.does(Op.CREATE, state=state)
    for allowed in (NOTHING, RENAMED):
        is_refused = state is State.DONE and allowed in refused
        with pytest.raises(EndsLater) if is_refused else nullcontext():
            desk.take_in("Ada", project=ends[1], allowed=allowed)


def test_a_campaign_that_begins_during_a_pause_of_its_service_waits_as_well(desk):
    desk.take_in("Ada", key="first")
    desk.call(throttle, 60, key="first")
    desk.take_in("Ben", key="second")
    assert desk.kept("Ben", op=Op.ADD, key="second") == {"Ben": "throttled"}
