"""What Prefect does by itself, as code: find runs whose process is gone, and tell a person.

Registered by name, as often as one likes. It only ever acts on runs of the flows in `FLOWS`;
others may share the server. Whatever it starts again, the ledger decides what may be sent.
"""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from prefect.automations import (
    AutomationCore,
    CallWebhook,
    ChangeFlowRunState,
    EventTrigger,
    Posture,
    ResourceSpecification,
    RunDeployment,
    SendNotification,
)
from prefect.blocks.core import Block
from prefect.blocks.notifications import SlackWebhook
from prefect.blocks.webhook import Webhook
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.objects import StateType
from prefect.events.actions import ActionTypes
from prefect.types import SecretDict
from pydantic import SecretStr

from flows.forms import NOT_DECIDED
from flows.pages.final_states import BAD_INPUT, NEEDS_ATTENTION, STOPPED, WAITING_FOR_APPROVAL
from flows.serving.deployments import FLOWS

# A run says every 30 seconds that it lives (flows/engine/prefect_settings.py): three times is
# enough.
SILENCE = timedelta(seconds=90)
# The first heartbeat may die with the run; that it was to begin, the server knows by itself.
SIGNS_OF_LIFE = ("heartbeat", "Running", "Pending", "Submitting", "InfrastructurePending")
NOT_HEARD_OF = "Gone"  # the state of such a run; its type is crashed
ECHO = timedelta(minutes=1)
ONCE_IN = timedelta(minutes=10)
GONE = "CampaignRunGone"
AGAIN = "CampaignRunAgain"
GONE_AGAIN = "CampaignGoneRunAgain"
NOTIFY = "CampaignNeedsAPerson"
NOTIFY_BLOCK = "campaign-notify"

# How a run ends that a person should hear of. A state's event carries the state's name.
NEEDS_A_PERSON = (
    NEEDS_ATTENTION,
    WAITING_FOR_APPROVAL,
    STOPPED,
    BAD_INPUT,
    NOT_DECIDED,
    NOT_HEARD_OF,
    "Failed",
    "Crashed",
    "TimedOut",
)

# What a person is told, as an expression of the server's templates.
_SENTENCE = (
    'flow_run.name ~ ": " ~ flow_run.state.name ~ ". " ~ (flow_run.state.message or "")'
    ' ~ " " ~ (flow_run|ui_url)'
)


def _any_run() -> ResourceSpecification:
    return ResourceSpecification.model_validate({"prefect.resource.id": "prefect.flow-run.*"})


def _of_a_deployment() -> ResourceSpecification:
    return ResourceSpecification.model_validate({"prefect.resource.role": "deployment"})


def _of_our_flows() -> ResourceSpecification:
    labels = {"prefect.resource.role": "flow", "prefect.resource.name": list(FLOWS)}
    return ResourceSpecification.model_validate(labels)


def gone() -> AutomationCore:
    """A run of which nothing is heard any more is marked.

    Only marked: a server may hear of a sign of life late, or twice, and take silence after the end
    for silence. A run that has ended is not marked, and so not started again either.
    """
    message = "Its process went away. What was on its way is unsure; nothing is repeated."
    return AutomationCore(
        name=GONE,
        description="Marks a campaign's run of which nothing is heard.",
        trigger=EventTrigger(
            match=_any_run(),
            match_related=[_of_our_flows()],
            after={f"prefect.flow-run.{sign}" for sign in SIGNS_OF_LIFE},
            # Every event of the run: our final states have names of their own.
            expect={"prefect.flow-run.*"},
            for_each={"prefect.resource.id"},
            posture=Posture.Proactive,
            threshold=1,
            within=SILENCE,
        ),
        actions=[ChangeFlowRunState(state=StateType.CRASHED, name=NOT_HEARD_OF, message=message)],
    )


def gone_again() -> AutomationCore:
    """What a run was doing that was marked as gone is started again, with the same parameters.

    A run that was typed in a terminal belongs to no deployment, and is only marked.
    """
    return _again(GONE_AGAIN, NOT_HEARD_OF, ECHO)


def again() -> AutomationCore:
    """What a crashed run of a deployment was doing is started again, with the same parameters.

    Once in ten minutes: one that crashes at every start is not started for ever.
    """
    return _again(AGAIN, "Crashed", ONCE_IN)


def _again(name: str, state: str, once_in: timedelta) -> AutomationCore:
    return AutomationCore(
        name=name,
        description=f"Starts what a campaign's run was doing again that ended as {state}.",
        trigger=EventTrigger(
            match=_any_run(),
            match_related=[_of_our_flows(), _of_a_deployment()],
            expect={f"prefect.flow-run.{state}"},
            for_each={"related:deployment:prefect.resource.id"},
            posture=Posture.Reactive,
            threshold=1,
            within=once_in,
        ),
        actions=[_same_once_more()],
    )


def _same_once_more() -> RunDeployment:
    """Claims in the ledger make the second start safe, even if the first one lives somewhere."""
    return RunDeployment(
        source="inferred",
        deployment_id=None,
        parameters={
            "__prefect_kind": "json",
            "value": {"__prefect_kind": "jinja", "template": "{{ flow_run.parameters|tojson }}"},
        },
        job_variables=None,
        schedule_after=timedelta(seconds=10),
    )


def notify(block: UUID, *, by_mail: bool) -> AutomationCore:
    """A run that did not simply complete is told, in the words of its final state."""
    action: ActionTypes
    if by_mail:
        subject = "{{ flow_run.name }}: {{ flow_run.state.name }}"
        body = f"{{{{ {_SENTENCE} }}}}"
        action = SendNotification(block_document_id=block, subject=subject, body=body)
    else:
        payload = f'{{"text": {{{{ ({_SENTENCE})|tojson }}}}}}'
        action = CallWebhook(block_document_id=block, payload=payload)
    return AutomationCore(
        name=NOTIFY,
        description="Tells where CAMPAIGN_NOTIFY_URL says that a campaign needs a person.",
        trigger=EventTrigger(
            match=_any_run(),
            match_related=[_of_our_flows()],
            expect={f"prefect.flow-run.{name}" for name in NEEDS_A_PERSON},
            for_each={"prefect.resource.id"},
            posture=Posture.Reactive,
            threshold=1,
            # The server may hear of one event twice, a moment later: a person hears of it once.
            within=ECHO,
        ),
        actions=[action],
    )


async def register(client: PrefectClient, notify_url: SecretStr | None) -> None:
    """Create or renew the automations. Without an address, notices stay as they were."""
    wanted = [gone(), gone_again(), again()]
    if notify_url is not None:
        by_mail = urlsplit(notify_url.get_secret_value()).scheme in {"mailto", "mailtos"}
        wanted.append(notify(await _kept(notify_url, by_mail=by_mail), by_mail=by_mail))
    for automation in wanted:
        await _renew(client, automation)


async def _renew(client: PrefectClient, automation: AutomationCore) -> None:
    """One automation of each name. Whoever switched it off in the UI finds it off again."""
    registered = await client.read_automations_by_name(automation.name)
    if not registered:
        await client.create_automation(automation)
        return
    first, *more = registered
    wanted = automation.model_copy(update={"enabled": first.enabled})
    # Renewed only where it differs: the server would forget which runs it is listening for.
    if _words(first) != _words(wanted):
        await client.update_automation(first.id, wanted)
    for other in more:
        await client.delete_automation(other.id)


def _words(automation: AutomationCore) -> dict[str, Any]:
    # Not as JSON: there a set is a list in an order that is another one in each process.
    return automation.model_dump(mode="python", include=set(AutomationCore.model_fields))


async def _kept(url: SecretStr, *, by_mail: bool) -> UUID:
    """Keep the address where the server can use it, encrypted, and nobody can read it."""
    if by_mail:
        # Prefect's plain Apprise block in all but its name: any address of Apprise does.
        block: Block = SlackWebhook(url=url, notify_type="warning")
    else:
        block = Webhook(url=url, headers=SecretDict({"Content-Type": "application/json"}))
    return await block.asave(f"{NOTIFY_BLOCK}-{'mail' if by_mail else 'webhook'}", overwrite=True)
