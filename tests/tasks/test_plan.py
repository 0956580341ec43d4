"""What a run would do, against the ledger, without a request."""

import asyncio
from datetime import timedelta

import pytest
from openpyxl import Workbook
from sqlmodel import select

from config.errors import BadInput
from config.settings import Settings
from data.campaigns.history import events_of
from data.campaigns.intake import Allowed
from data.eligibility.due import next_invitations
from data.sending.outcomes import throttle
from data.store.states import Op
from data.store.tables import Campaign, now
from sandbox.faults import throttled
from sandbox.server import Sandbox
from tasks.plan import Rewritten, make_plan
from tasks.preflight import ask_service
from tasks.service.auth import Unreachable
from tasks.status import waits


def plan(desk, *who, dry=False, **more):
    read = desk.read(*who, **more)
    return make_plan(read, desk.ledger, desk.settings, allowed=Allowed("me"), dry=dry)


def kinds(holds):
    return [str(hold.kind) for hold in holds]


@pytest.mark.parametrize(
    ("done", "wanted"),
    [
        ((), (True, True, 3, 3)),
        ((Op.CREATE,), (False, True, 3, 3)),
        ((Op.CREATE, Op.ATTACH), (False, False, 3, 3)),
        ((Op.CREATE, Op.ATTACH, Op.ADD), (False, False, 0, 3)),
        (tuple(Op), (False, False, 0, 0)),
    ],
)
def test_what_is_left(desk, done, wanted):
    desk.take_in("Ada", "Ben", "Cyd")
    for op in done:
        desk.does(op)
    made = plan(desk, "Ada", "Ben", "Cyd")
    assert tuple(made.to_do.values()) == wanted
    assert made.nothing_due == (done == tuple(Op))


def test_a_dry_plan_leaves_the_ledger_as_it_was(desk):
    asked = {"invites": {"approval": "required"}}
    assert plan(desk, "Ada", dry=True, **asked).to_do[Op.ADD] == 1
    with desk.ledger.reading() as session:
        assert session.exec(select(Campaign)).all() == []
    with pytest.raises(Rewritten):
        make_plan(desk.read("Ada"), desk.ledger, desk.settings, digest="of what was shown")
    real = plan(desk, "Ada", **asked)
    assert plan(desk, "Ada", dry=True, **asked).code == real.code
    [event] = desk.call(events_of)  # says to whom the plan was shown
    assert (event.word.split()[0], event.who) == ("shown", "me")


@pytest.mark.parametrize(
    ("asked", "stops", "waits"),
    [
        ({}, [], []),
        ({"invites": {"approval": "required"}}, ["approval"], []),
        ({"invites": {"pilot": "me@x.org"}}, [], ["pilot"]),
        ({"invites": {"not_after": "2020-01-01 09:00", "timezone": "UTC"}}, [], ["window"]),
        ({"project": {"name": "Backend", "endtime": "2020-01-01 09:00"}}, [], ["window"]),
        ({"invites": {"per_hour": 10}}, [], []),
    ],
)
def test_what_stops_a_run_and_what_only_waits(desk, asked, stops, waits):
    made = plan(desk, "Ada", **asked)
    assert (kinds(made.holds), kinds(made.waits)) == (stops, waits)


def test_a_pause_that_a_service_asked_for_stops_no_run_and_is_said(desk):
    plan(desk, "Ada")
    desk.adds()
    desk.call(throttle, 60)
    made, (steps, hold) = plan(desk, "Ada"), desk.call(next_invitations)
    assert (kinds(made.holds), kinds(made.waits)) == ([], ["throttled"])
    assert (len(steps), hold) == (1, None)  # each claim waits for the end of the pause


def test_a_pause_that_is_asked_for_before_anything_is_sent_is_kept_by_later_runs(desk):
    plan(desk, "Ada")
    with Sandbox(problems=throttled(30)) as service, pytest.raises(Unreachable):
        own = Settings.model_validate(service.settings)
        asyncio.run(ask_service("backend", desk.ledger, own))
    with desk.ledger.reading() as session:
        assert "wants a pause until 20" in waits(session, "backend")[0]


def test_a_plan_and_status_say_when_the_next_wave_begins(desk):
    invites = {"waves": [1, "rest"], "between": "2 days", "timezone": "UTC"}
    plan(desk, "Ada", "Ben", invites=invites)
    desk.sends("Ada")
    [wave] = plan(desk, "Ada", "Ben", invites=invites).waits
    assert wave.why.startswith("wave 2 begins on ")
    with desk.ledger.reading() as session:
        assert waits(session, "backend") == [wave.why]
    ends = {"name": "Backend", "endtime": f"{now() + timedelta(days=1):%Y-%m-%d} 09:00"}
    assert kinds(plan(desk, "Ada", "Ben", invites=invites, project=ends).waits) == ["window"]


def saved(file, *rows, other=()):
    book = Workbook()
    for row in rows:
        book.active.append(row)
    if other:
        book.create_sheet("Other").append(other)
    book.save(file)


@pytest.mark.parametrize(
    "listing",
    [
        b"# Of 2026\nada@x.org\n\nBen of X <ben@x.org>; # both asked; as did cyd@x.org\n",
        b"\xef\xbb\xbfJ.Smith,ada@x.org,ben@x.org\n",
        'E-Mail;Or\n"J.Smith\n\xa0ada@x.org # left\nBEN@x.org";\ndan@x.org;\n'.encode("utf-16"),
        "Email\tMore\nAda <ada@x.org>; y@y.org\tz@z.org; ben@x.org\n".encode("utf-16"),
        [("Do not contact",), (), ("Name", "Email"), ("Ada", "ada@x.org"), ("B", "ben@x.org")],
        [("Blocked",), ("ada@x.org", "asked on Monday"), (None, "ben@x.org")],
    ],
)
def test_a_do_not_contact_list_is_a_table_of_any_kind(desk, tmp_path, listing):
    file = tmp_path / "listing"
    file.write_bytes(listing) if isinstance(listing, bytes) else saved(file, *listing)
    desk.settings = desk.settings.model_copy(update={"do_not_contact": file})
    made = plan(desk, "Ada", "Ben", "Cyd")
    assert [*made.held] == ["ada@x.org", "ben@x.org"]
    assert (made.to_do[Op.ADD], made.to_do[Op.INVITE]) == (1, 1)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", ""),
        ("Email\n", ""),
        ("Email\nada@x.org\ncorp.org\n", ":3"),
        ('Email\n"corp.org, ada@x.org"\n', ":2"),
        ("ada@x.org\n\nAda of X\n", ":3"),
        ("Name,Email\nAda,ada@x.org\nBen,\n", ":3"),
        ("Name,Email,Notes\nAda,ada@x.org,all of @corp.org too\n", ":2"),
        ([("Email",), ("ada@x.org",)], ", Other!A1"),  # a bare domain
        ("Email\nada@x.org\n#REF!\n", ":3"),
    ],
)
def test_a_list_that_lost_its_lines_is_a_mistake(desk, tmp_path, text, place):
    listing = tmp_path / "no"
    listing.write_text(text) if isinstance(text, str) else saved(listing, *text, other=["corp.org"])
    desk.settings = desk.settings.model_copy(update={"do_not_contact": listing})
    with pytest.raises(BadInput) as error:
        plan(desk, "Ada")
    assert [str(each.place) for each in error.value.mistakes] == [f"{listing}{place}"]
