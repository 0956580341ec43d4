"""Whose turn it is: waves, hours."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from data.decisions.approvals import approve
from data.decisions.decisions import By
from data.eligibility.due import next_invitations
from data.store.states import Op, State
from data.store.tables import REQUEST, now
from tests.data.desk import NAMES


def turns(desk, at=None):
    with desk.at() as (session, campaign_id):
        steps, hold = next_invitations(session, campaign_id, at)
    return len(steps), str(hold.kind) if hold else None, hold.until if hold else None


def added(desk, *who, **invites):
    desk.take_in(*who, invites={"timezone": "UTC", **invites})
    desk.adds()


def test_waves_with_time_between_them(desk):
    added(desk, *NAMES[:6], waves=[2, 3, "rest"], between="2 days")
    assert turns(desk) == (2, None, None)
    desk.does(Op.INVITE, "Ada")
    assert turns(desk) == (1, None, None)
    desk.does(Op.INVITE, "Ben", state=State.REFUSED)
    waits = turns(desk)
    assert waits[:2] == (0, "hours")
    assert now() < waits[2] < now() + timedelta(days=2)
    later = now() + timedelta(days=3)
    assert turns(desk, later) == (3, None, None)


@pytest.mark.parametrize("invites", [{"per_hour": 60}, {"waves": [1, "rest"], "between": "2 days"}])
def test_what_a_clock_that_was_ahead_has_written_does_not_count(desk, invites):
    added(desk, *NAMES[:3], **invites)
    desk.does(Op.INVITE, "Ada")
    with desk.at() as (session, _):
        ahead = now() + timedelta(days=365)
        session.execute(update(REQUEST).where(REQUEST.c.op == Op.INVITE).values(claimed_at=ahead))
    assert turns(desk)[0] == 2
    assert desk.kept("Ben") == {}


def test_a_rate_ends_no_turn(desk):
    added(desk, "Ada", "Ben", per_hour=60)
    desk.does(Op.INVITE, "Ada")
    assert turns(desk) == (1, None, None)


def test_somebody_provably_not_invited_has_not_had_their_turn(desk):
    added(desk, *NAMES[:3], waves=[1, "rest"], between="2 days")
    desk.does(Op.INVITE, "Ada", state=State.WAITING)
    assert turns(desk) == (1, None, None)


def test_the_pilot_is_of_no_wave(desk):
    added(desk, "Ada", "Ben", "Cyd", pilot="me@x.org", waves=[2, "rest"], between="2 days")
    desk.does(Op.INVITE, "me@x.org")
    with desk.at() as (session, campaign_id):
        approve(session, campaign_id, By("me"))
    assert turns(desk) == (2, None, None)
    desk.does(Op.INVITE, "Ada")
    assert turns(desk) == (1, None, None)
    desk.does(Op.INVITE, "Ben")
    added(desk, "Ada", "Ben", "Cyd", pilot="you@x.org", waves=[3, "rest"], between="2 days")
    assert turns(desk)[:2] == (1, "pilot")  # a new pilot waits for no wave
