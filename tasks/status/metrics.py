"""Where campaigns stand, in numbers that a monitoring system collects: OpenMetrics text.

Read from the ledger alone. Labels hold keys of campaigns, never a person.
"""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.registry import Collector, CollectorRegistry

from data.campaigns import pauses, queries
from data.holds import reasons
from data.store.ledger import Ledger
from tasks.status.standing import counts_of


class Campaigns(Collector):
    """Every campaign of a ledger, as it is when asked."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def collect(self) -> Iterator[Metric]:
        people = GaugeMetricFamily(
            "campaign_people",
            "People of a campaign, by state.",
            None,
            ("campaign", "at"),
        )
        held = GaugeMetricFamily("campaign_held", "People who are held.", None, ("campaign",))
        paused = GaugeMetricFamily(
            "campaign_paused", "1 if a person paused the campaign.", None, ("campaign",)
        )
        last = GaugeMetricFamily(
            "campaign_last_run_seconds", "When its last run began.", None, ("campaign",)
        )
        for campaign in self._ledger.read(queries.every_campaign):
            counts = counts_of(self._ledger, campaign)
            for at, number in counts.items():
                people.add_metric((campaign.key, at), number)
            held.add_metric((campaign.key,), len(self._ledger.read(reasons.held_in, campaign.id)))
            paused.add_metric(
                (campaign.key,), int(self._ledger.read(pauses.standing, campaign.key) is not None)
            )
            if (run := self._ledger.read(queries.last_run, campaign.id)) is not None:
                last.add_metric((campaign.key,), run.started_at.timestamp())
        yield from (people, held, paused, last)
        yield self._requests()
        yield self._runs()

    def _requests(self) -> Metric:
        requests = CounterMetricFamily(
            "campaign_requests",
            "Requests that may have an effect, by outcome.",
            None,
            ("campaign", "operation", "state"),
        )
        for key, operation, state, number in self._ledger.read(queries.requests_by_state):
            requests.add_metric((key, operation, state), number)
        return requests

    def _runs(self) -> Metric:
        runs = CounterMetricFamily(
            "campaign_runs", "Runs, by how they ended.", None, ("campaign", "ending")
        )
        for key, ending, number in self._ledger.read(queries.runs_by_ending):
            runs.add_metric((key, ending or "not ended"), number)
        return runs


def open_metrics(ledger: Ledger) -> str:
    """Write the numbers of every campaign as OpenMetrics text."""
    registry = CollectorRegistry()
    registry.register(Campaigns(ledger))
    text: bytes = generate_latest(registry)  # type: ignore[no-untyped-call]
    return text.decode()
