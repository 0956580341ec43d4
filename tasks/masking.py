"""People's names and addresses, masked: for whatever leaves the ledger and its owner's terminal."""


def masked_name(first: str, last: str) -> str:
    """Write `A*** L***`."""
    return f"{_masked(first)} {_masked(last)}".strip()


def masked_email(email: str) -> str:
    """Write `a***@e***.com`: enough to recognise an address, not enough to write to it."""
    local, _, domain = email.rpartition("@")
    host, dot, top = domain.rpartition(".")
    return f"{_masked(local)}@{_masked(host)}{dot}{top}" if local else _masked(email)


def _masked(text: str) -> str:
    text = text.strip()
    return f"{text[0]}***" if text else ""
