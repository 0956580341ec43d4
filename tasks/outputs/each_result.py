"""What came of each person, as it stands beside their row."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sqlmodel import Session

from config.emails import email_key
from data.campaigns.people import Row, invites_of, own_steps, rows
from data.eligibility.holds import Hold, holds
from data.store.states import Op
from data.store.tables import Campaign
from tasks.outputs.links import embed_url
from tasks.status import stands


class Result(NamedTuple):
    """What came of one person, in the order of the columns that are added to a sheet."""

    candidate_id: int | None
    embed_url: str | None
    status: str
    why: str | None


def results_of_campaign(session: Session, campaign: Campaign) -> dict[str, Result]:
    """The result of each person of a campaign."""
    project = own_steps(session, campaign.id)[Op.CREATE].service_id
    people, held = rows(session, campaign.id), holds(session, campaign)
    return results_of(people, held, campaign.app_url, project, send=invites_of(campaign).send)


def results_of(
    people: Iterable[Row],
    held: Mapping[int, Hold],
    app_url: str,
    project_id: int | None,
    *,
    send: bool = True,
) -> dict[str, Result]:
    """The result of each person, by email key. `send`: whether the campaign invites anybody."""
    results = {}
    for each in people:
        url = embed_url(app_url, project_id, each.candidate_id)
        word, why = stands(each, held, send=send)
        results[email_key(each.email1)] = Result(each.candidate_id, url, word, why)
    return results
