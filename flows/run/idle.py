"""A scheduled run that has nothing to do ends at once, before Prefect has anything to write of it.

A schedule looks in again and again; its steps and pages would be most of what Prefect keeps.
"""

from config.settings import ServiceSettings
from data.campaigns import queries
from data.store.clock import now
from data.store.ledger import Ledger
from data.store.states import Ending
from flows.run.ending import Finish, finish
from tasks.plan.plan import make_plan
from tasks.plan.target import CampaignSource, look_up


def nothing_new(asked: CampaignSource, ledger: Ledger, service: ServiceSettings) -> Finish | None:
    """The end to report if the last run completed and nothing is left to do; otherwise None.

    Raises what reading the definition raises.
    """
    if asked.campaign is None:
        return None
    target = look_up(asked, ledger, service)
    if target.known is None or target.definition is not None:
        return None
    last = ledger.read(queries.last_run, target.known.id)
    plan = make_plan(target, ledger, now())
    if last is None or last.ending != Ending.COMPLETED or plan.stop or not plan.left.nothing:
        return None
    end = finish(ledger, target.key, None)
    return end if end.ending is Ending.COMPLETED else None
