"""Where notices go, as blocks of Prefect: a webhook, or a mailbox.

Slow to import; only what sends notices needs it.
"""

import asyncio
from urllib.parse import urlsplit

from prefect.blocks.notifications import SlackWebhook
from prefect.blocks.webhook import Webhook
from prefect.types import SecretDict
from pydantic import SecretStr

Address = Webhook | SlackWebhook

KEPT_AS: dict[type[Address], str] = {
    Webhook: "campaign-notify-webhook",
    SlackWebhook: "campaign-notify-mail",
}
PATIENCE = 20.0  # seconds that an address may take


async def keep(url: SecretStr) -> None:
    """Keep an address in Prefect, encrypted, in place of what was kept there."""
    address = address_at(url)
    await address.asave(KEPT_AS[type(address)], overwrite=True)
    for kind in KEPT_AS.keys() - {type(address)}:
        if await _kept(kind) is not None:
            await kind.adelete(KEPT_AS[kind])


async def kept_address() -> Address | None:
    """The address that Prefect keeps, if it keeps one."""
    for kind in KEPT_AS:
        if (address := await _kept(kind)) is not None:
            return address
    return None


def address_at(url: SecretStr) -> Address:
    """The address that CAMPAIGN_NOTIFY_URL is."""
    if urlsplit(url.get_secret_value()).scheme in {"mailto", "mailtos"}:
        # Despite its name, Prefect's Slack block takes any address that Apprise knows.
        return SlackWebhook(url=url, notify_type="warning")
    return Webhook(url=url, headers=SecretDict({"Content-Type": "application/json"}))


async def send(address: Address, subject: str, says: str) -> None:
    """Send a notice. Raises whatever Prefect and the address raise, which may name the address."""
    async with asyncio.timeout(PATIENCE):
        if isinstance(address, Webhook):
            (await address.call({"text": says})).raise_for_status()
            return
        with address.raise_on_failure():
            await address.anotify(says, subject=subject)


async def _kept(kind: type[Address]) -> Address | None:
    try:
        there: object = await kind.aload(KEPT_AS[kind])
    except ValueError:  # Prefect's answer where it keeps none of that name
        return None
    return there if isinstance(there, Webhook | SlackWebhook) else None
