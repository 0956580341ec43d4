"""Before anything is sent: check token and address, and find the problem of a title."""

from config.settings import Settings
from data.campaigns.people import find, own_steps
from data.sending.outcomes import throttle
from data.store.ledger import Ledger
from data.store.states import OPERATIONS, Op
from tasks.service.auth import Unreachable
from tasks.service.client import Service
from tasks.service.problems import problem_titled


async def ask_service(key: str, ledger: Ledger, settings: Settings) -> None:
    """Ask for the problem list, which changes nothing, and note the id of the campaign's problem.

    A title is looked up anew until its problem is attached. The problem's id is part of the plan:
    another id voids an approval. Raises BadSettings, Unreachable, CredentialsRefused,
    NotTheService, NoSuchProblem, SeveralProblems.
    """
    try:
        async with Service(settings) as service:
            problems = await service.problems()
    except Unreachable as error:
        if seconds := error.fields.get("pause"):  # later runs wait as well
            with ledger.writing() as session:
                throttle(session, find(session, key).id, seconds)
        raise
    with ledger.reading() as session:
        campaign = find(session, key)
        attach = own_steps(session, campaign.id)[Op.ATTACH]
        title = (campaign.spec or {}).get("problem", {}).get("title")
    if title is None or attach.state not in OPERATIONS[Op.ATTACH].open:
        return
    found = problem_titled(title, problems).id
    if found != attach.service_id:
        with ledger.writing() as session:
            attach = own_steps(session, campaign.id)[Op.ATTACH]
            if attach.state in OPERATIONS[Op.ATTACH].open:
                attach.service_id = found
