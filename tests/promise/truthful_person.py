"""A person who looks into the web application, and settles by what is there."""

from config.email_key import email_key
from data.campaigns import queries
from data.decisions import settling
from data.decisions.verdicts import Decided, Doubt
from data.store.ledger import Ledger
from data.store.states import By, Operation, Word
from sandbox.service.record import Record


def settle(ledger: Ledger, campaign_key: str, record: Record) -> int:
    """Settle everything that is unsure as the service's record has it; answers how much that was.

    The service must have come to rest, as it does in the minutes that a person waits.
    """
    campaign = ledger.read(queries.find_campaign, campaign_key)
    assert campaign is not None
    decided = [seen(doubt, record) for doubt in ledger.read(settling.find, campaign.id).steps]
    if decided:
        ledger.write(settling.settle, campaign.id, decided, By("me", "looked it up"), soon=True)
    return len(decided)


def seen(doubt: Doubt, record: Record) -> Decided:
    """Say what became of one request."""
    word, value = Word.AGAIN, None
    match doubt.operation:
        case Operation.CREATE if record.projects:
            word, value = Word.ID, record.projects[0].id
        case Operation.ATTACH if any(project.problem_ids for project in record.projects):
            word = Word.ATTACHED
        case Operation.ADD:
            for there in record.candidates:
                if email_key(there.email1) == email_key(doubt.email1):
                    word, value = Word.ID, there.candidate_id
        case Operation.INVITE:
            invited = {email_key(each.email) for each in record.invitations}
            if email_key(doubt.email1) in invited:
                word = Word.SENT
    return Decided(doubt.attempt, doubt.row, word, value)
