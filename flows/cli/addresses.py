"""Addresses as somebody typed them on the command line, each judged before anything is done."""

from collections.abc import Sequence

from config.email_address import NotAnEmail, email_address
from config.email_key import email_key
from data.doubts import NotDecided
from flows.cli.speech import complain


def addresses(emails: Sequence[str]) -> dict[str, str]:
    """As typed, by email key. Raises NotDecided, having said what is wrong with each."""
    found, wrong = {}, []
    for typed in emails:
        try:
            found[email_key(typed)] = email_address(typed)
        except NotAnEmail as error:
            wrong.append(f"{typed}: wanted {error}")
    if wrong:
        complain(*wrong)
        raise NotDecided(dict(enumerate(wrong)))
    return found
