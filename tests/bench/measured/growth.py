"""Campaigns of growing size, with everything that is typed after them."""

import sys
from dataclasses import replace
from pathlib import Path

from tests.bench.contenders import CAMPAIGN, KEY, OURS, Office
from tests.bench.place import Place, Round, Sample, Wrong, in_the_middle, sample, send, sent
from tests.bench.service import Service, service
from tests.bench.weighing import Weighed, weigh

HARDLY_ANYBODY = 10  # people, whose campaign is all start
MORE = 10  # rows that are added later
RUN, AGAIN, ADDED, STATUS, LINKS = "run", "run again", "run with ten more", "status", "links"
PLAN, HISTORY, REPORT, READING = "plan", "history", "report", "reading the file"
SEEN: dict[str, list[str | Path]] = {
    STATUS: [CAMPAIGN, "status", KEY],
    LINKS: [CAMPAIGN, "links", KEY],
    HISTORY: [CAMPAIGN, "history", KEY],
    REPORT: [CAMPAIGN, "report", KEY],
    PLAN: [CAMPAIGN, "plan", f"{KEY}.yaml"],
    READING: [
        sys.executable,
        "-c",
        "from pathlib import Path; from config.reading.reading import read_campaigns; "
        f"read_campaigns(Path('{KEY}.yaml'))",
    ],
}


def name(people: int, step: str) -> str:
    """The name of a sample."""
    return f"{people:,} people: {step}"


def measure(place: Place, taken: Round) -> None:
    """Take one round; the service answers at once."""
    with place.measuring("small campaigns"):
        taken |= _small(place)
    for people in place.size.growth:
        with (
            place.measuring(f"{people:,} people"),
            place.office(people) as office,
            service(0) as there,
        ):
            ran = sent(office, OURS, there)
            taken.setdefault(name(people, RUN), ran)
            for step, command in SEEN.items():
                taken[name(people, step)] = sample(_type(office, there, command))
            taken[name(people, AGAIN)] = _run_more(office, there, 0)
            office.write_people(people + MORE)
            taken[name(people, ADDED)] = _run_more(office, there, MORE)


def _small(place: Place) -> Round:
    """The least campaign, and one that is all start: several runs of each by turns.

    The least one takes a second beside the four of its start, which differ by half a second.
    """
    typed: dict[int, list[Sample]] = {HARDLY_ANYBODY: [], place.size.growth[0]: []}
    for _ in range(place.size.small):
        for people, samples in typed.items():
            samples.append(send(place, OURS, people, 0, 8))
    return {name(people, RUN): in_the_middle(samples) for people, samples in typed.items()}


def _type(office: Office, there: Service, command: list[str | Path]) -> Weighed:
    return weigh(command, office.folder, office.environment(there.environment))


def _run_more(office: Office, there: Service, more: int) -> Sample:
    """Run it again. Raises Wrong unless just those who are new were invited."""
    before = there.received(())
    ran = _type(office, there, [CAMPAIGN, "run", f"{KEY}.yaml"])
    after = there.received(office.emails)
    if after.twice or after.never or after.invited - before.invited != more:
        raise Wrong(f"campaign run, again with {more} more: {after}\n{ran.said}")
    asked = replace(after, requests=after.requests - before.requests)
    return sample(ran, more, asked)
