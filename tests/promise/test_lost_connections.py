"""Connections to the ledger's server are lost anywhere: nothing happens twice, nobody guesses."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from threading import Timer

import pytest

from data.campaigns import queries
from data.sending import runs
from data.store import postgres_transactions
from data.store.errors import LedgerUnusable
from data.store.ledger import Ledger
from data.store.states import AttemptState, Ending, Operation, Step
from tests.promise.crashes.small_campaigns import KEY, Place, Scenario
from tests.support.ledgers.cutting_proxy import Cut, CuttingProxy, cutting_proxy
from tests.support.ledgers.databases import TEMPLATE, Postgres
from tests.support.ledgers.small_ledger import Small, definition, intent, outcome


@pytest.fixture
def way(postgres: Postgres, tmp_path: Path) -> Iterator[tuple[CuttingProxy, str]]:
    """A way that can be cut, and the address of an empty ledger behind it."""
    postgres.ledger_of(str(tmp_path), TEMPLATE)
    with cutting_proxy(postgres.folder) as proxy:
        yield proxy, proxy.url(postgres.made[str(tmp_path)])
    postgres.forget(str(tmp_path))


def small_at(ledger: Ledger) -> Small:
    small = Small(ledger, runs.begin(ledger, "a", definition("ada"), intent()))
    small.add_everybody()
    return small


def a_commit(number: int, said: str) -> bool:
    return said.startswith("COMMIT")


@pytest.mark.parametrize("side", list(Cut))
def test_a_commit_is_made_once_wherever_its_connection_is_cut(
    way: tuple[CuttingProxy, str], side: Cut
) -> None:
    """At each statement of a claim and an outcome, and at the commit: one attempt, as granted."""
    proxy, url = way
    with Ledger.open(url) as ledger:
        small = small_at(ledger)
        [row] = small.rows().values()
        for cut_at in range(1, STATEMENTS + 1):
            before = len(small.attempts())
            proxy.arm(lambda number, _, at=cut_at: number == at, side)
            claimed = small.claim(Operation.INVITE, row)
            assert claimed is not None
            assert [one.id for one in small.attempts()][before:] == [claimed.attempt]
            proxy.arm(lambda number, _, at=cut_at: number == at, side)
            ledger.write_beside(
                runs.commit,
                [outcome(Operation.INVITE, claimed, Step.WAITING, status=421)],
                [],
                ledger.gone,
            )
            assert small.attempts()[-1].state == AttemptState.NOT_SENT
            assert small.end_of("ada") == (Step.DONE, Step.WAITING)
        assert proxy.cuts >= STATEMENTS
        runs.end(ledger, small.begun.run, Ending.STOPPED, None)


OFTEN = 0.03  # of the questions are cut
STATEMENTS = 10  # of a claim, with its begin and its commit; an outcome has fewer


@pytest.mark.parametrize("side", list(Cut))
def test_the_server_is_asked_what_became_of_a_commit(
    way: tuple[CuttingProxy, str], side: Cut
) -> None:
    """It arrived, and is not made again; or it did not, and is."""
    proxy, url = way
    with Ledger.open(url) as ledger:
        small = small_at(ledger)
        proxy.arm(a_commit, side)
        claimed = small.claim(Operation.INVITE, *small.rows().values())
        asked = "".join(proxy.asked)
        assert claimed is not None
        assert asked.count("INSERT INTO attempt") == (1 if side is Cut.AFTER else 2)
        assert "pg_xact_status" in asked
        assert [one.id for one in small.attempts()][1:] == [claimed.attempt]
        runs.end(ledger, small.begun.run, Ending.STOPPED, None)


def test_a_commit_that_nobody_can_ask_about_is_no_claim(
    way: tuple[CuttingProxy, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The patience is over before the server is back: nobody is told to send; then it is doubt."""
    proxy, url = way
    with Ledger.open(url) as ledger:
        small = small_at(ledger)

        def commit_and_away(number: int, said: str) -> bool:
            proxy.closed = a_commit(number, said)
            return proxy.closed

        proxy.arm(commit_and_away, Cut.AFTER)
        with monkeypatch.context() as patch:
            patch.setattr(postgres_transactions, "PATIENCE", 0.3)
            with pytest.raises(LedgerUnusable, match="whether the commit was made"):
                small.claim(Operation.INVITE, *small.rows().values())
            with pytest.raises(LedgerUnusable, match="has not answered"):
                ledger.read(queries.find_campaign, "a")
        proxy.closed = False
        assert small.end_of("ada")[1] == Step.SENDING
        assert runs.end(ledger, small.begun.run, Ending.STOPPED, None) == 1
        assert small.end_of("ada")[1] == Step.UNSURE


def test_a_server_that_lets_nobody_in_any_more_is_quoted(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A password that was changed during a run is refused in the same way."""
    url = postgres.ledger_of(str(tmp_path), TEMPLATE).replace("postgres@", "locked_out@")
    postgres.ask("CREATE ROLE locked_out LOGIN SUPERUSER")
    try:
        with Ledger.open(url) as ledger:
            postgres.ask("ALTER ROLE locked_out NOLOGIN")
            monkeypatch.setattr(postgres_transactions, "PATIENCE", 0.3)
            for act in (ledger.read, ledger.write):
                ask = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s"
                postgres.ask(ask, "locked_out")
                with pytest.raises(
                    LedgerUnusable, match=r'refused .* "locked_out" is not permitted to log in'
                ):
                    act(queries.find_campaign, "a")
    finally:
        postgres.forget(str(tmp_path))
        postgres.ask("DROP ROLE locked_out")


@pytest.mark.parametrize("side", list(Cut))
def test_a_campaign_whose_connections_are_cut_again_and_again_invites_everybody_once(
    way: tuple[CuttingProxy, str], side: Cut, tmp_path: Path
) -> None:
    """At one of thirty questions of a run, and once out of reach: judged by the service."""
    proxy, url = way
    place = Place(tmp_path, Scenario("cut off", people=12, per_request=5))
    place.set_up("")
    with place.scenario.sandbox() as service, Ledger.open(url) as ledger:
        dice = Random(7)
        proxy.arm(lambda *_: dice.random() < OFTEN, side, once=False)
        away = Timer(0.3, out_of_reach, [proxy])
        away.start()
        finish = place.conduct(service, ledger)
        away.join()
        assert finish.ending == Ending.COMPLETED, finish.reason
        assert proxy.cuts >= 3
        proxy.arm(lambda number, _: False, side)
        assert place.hold_in_the_end(ledger, service.record) == 0
        place.check_everyone_once(service.record)
        assert ledger.read(queries.find_campaign, KEY) is not None


def out_of_reach(proxy: CuttingProxy) -> None:
    """Nobody gets through for half a second."""
    proxy.closed = True
    proxy.cut_all()
    back = Timer(0.5, setattr, [proxy, "closed", False])
    back.start()
    back.join()
