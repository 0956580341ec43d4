"""People's names and addresses, masked: for whatever leaves the ledger and its owner's terminal."""


def masked_name(first: str, last: str) -> str:
    """Write `A*** L***`."""
    return f"{_masked(first)} {_masked(last)}".strip()


def masked_email(email: str) -> str:
    """Write `a***@e***.com`: enough to recognise an address, not enough to write to it."""
    local, at, domain = email.strip().rpartition("@")
    host, dot, top = domain.rpartition(".")
    return f"{_masked(local)}{at}" + (f"{_masked(host)}.{top}" if dot else _masked(domain))


def _masked(text: str) -> str:
    text = text.strip()
    return f"{text[0]}***" if text else ""
