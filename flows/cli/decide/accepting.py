"""`campaign settle KEY --accept-ledger`: a person says that this ledger is the campaign's."""

import typer

from config.errors import CampaignError
from data.store.states import By
from flows.words.speech import counted, print_json, say


class NothingToAccept(CampaignError):
    """No run has stopped because of a receipt, and nothing can be accepted in advance."""

    exit_code = 2

    def __init__(self, key: str, place: str) -> None:
        super().__init__(
            f"The ledger {place} has no run of {key} that stopped because of a receipt, so there "
            "is nothing to accept. If you saw a run stop, CAMPAIGN_DATABASE_URL named another "
            "ledger then."
        )


def accept_ledger(key: str, who: str, why: str | None, *, as_json: bool) -> None:
    """Accept what stopped runs found in receipts. Raises NothingToAccept, LedgerUnusable."""
    from config.settings import load_local
    from data.receipts import receipt_doubts
    from data.store.ledger import Ledger

    if not (why and why.strip()):
        raise typer.BadParameter("--accept-ledger needs a reason, which is recorded: --why TEXT")
    with Ledger.open(load_local().database_url, create=False) as ledger:
        accepted = ledger.write(receipt_doubts.accept, key, By(who, why))
        if not accepted:
            raise NothingToAccept(key, ledger.place)
        if as_json:
            print_json({"campaign": key, "accepted": accepted})
        say(
            f"{key}: {counted(accepted, 'receipt')} accepted; the campaign's ledger is now "
            f"{ledger.place}",
            "  next: run the stopped command again",
            as_json=as_json,
        )
