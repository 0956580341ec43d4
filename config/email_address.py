"""Email addresses as people type them: trimmed, checked, and otherwise left alone."""

import re
import unicodedata

from email_validator import EmailNotValidError, validate_email

WANTED = "an email address"
LONGEST = 254
LONGEST_LOCAL = 64

# What nearly every address looks like; anything else gets the library's full judgement.
_BRACKETS = re.compile(r"<([^<>]*)>?\s*$")


class NotAnEmail(ValueError):
    """A text that is no email address; the text of the error says what was wanted instead."""


def email_address(typed: str) -> str:
    """Answer the address as typed, trimmed of spaces (also non-breaking ones).

    The login must equal this email (interface 4.7), so nothing is repaired in silence.
    Raises NotAnEmail.
    """
    address = typed.strip()
    if not address.isprintable() and (unseen := _unseen(address)):
        raise NotAnEmail(f"{WANTED} without the invisible {unseen} in it")
    if "<" in address:
        inside = _BRACKETS.search(address)
        hint = f", only what stands between < and >: {inside[1].strip()}" if inside else ""
        raise NotAnEmail(WANTED + hint)
    # Looked at first, because judging the syntax of a very long text takes long.
    if len(address) > LONGEST or address.find("@") > LONGEST_LOCAL:
        raise NotAnEmail(
            f"{WANTED} of at most {LONGEST} characters, {LONGEST_LOCAL} of them before the @"
        )
    try:
        # The test environment only means that .test is allowed, for rehearsals.
        validate_email(address, check_deliverability=False, test_environment=True)
    except EmailNotValidError as error:
        raise NotAnEmail(f"{WANTED} ({_reason(str(error))})") from None
    return address


def _unseen(address: str) -> str | None:
    """Name the first character that nobody can see: zero-width, control, direction marks."""
    for character in address:
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn"}:
            return unicodedata.name(character, f"U+{ord(character):04X}")
    return None


def _reason(message: str) -> str:
    return message[0].lower() + message[1:].rstrip(".")
