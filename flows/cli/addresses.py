"""Addresses as somebody typed them on the command line, each judged before anything is done."""

from collections.abc import Sequence

from config.email_key import email_key
from config.errors import CampaignError
from config.people.email_address import NotAnEmail, email_address
from flows.words.speech import complain, counted


class NotAnAddress(CampaignError):
    """Something was typed in the place of an address; what is wrong with it was said already."""

    exit_code = 2

    def __init__(self, number: int) -> None:
        words = counted(number, "word is not an address", "words are not addresses")
        super().__init__(f"{words}, so nothing was done. Correct this and run the command again.")


def addresses(emails: Sequence[str]) -> dict[str, str]:
    """The addresses as typed, by email key. Raises NotAnAddress, after saying what is wrong."""
    by_key, wrong = {}, []
    for typed in emails:
        try:
            by_key[email_key(typed)] = email_address(typed)
        except NotAnEmail as error:
            wrong.append(f"{typed}: wanted {error}")
    if wrong:
        complain(*wrong)
        raise NotAnAddress(len(wrong))
    return by_key
