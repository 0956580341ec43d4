"""Access tokens: who gets one, and how long it is valid (interface 4.1 and 5)."""

import hashlib
import hmac
import secrets
import time


class Tokens:
    """Issues Bearer tokens and recognises its own.

    A token carries its own end and a signature, so that it outlives a restart of the sandbox.
    """

    def __init__(self, client_id: str, client_secret: str, audience: str, lifetime: int) -> None:
        """`lifetime` in whole seconds, answered as expires_in."""
        self.lifetime = lifetime
        self._client, self._audience = (client_id, client_secret), audience
        self._key = hashlib.sha256(client_secret.encode()).digest()

    def issue(self) -> str:
        """Make a token that is good for `lifetime` seconds from now."""
        text = f"{time.time() + self.lifetime:.3f}:{secrets.token_hex(8)}"
        return f"{text}:{self._signature(text)}"

    def valid(self, authorization: str | None) -> bool:
        """Judge an Authorization header: one of our tokens, and not yet expired."""
        scheme, _, token = (authorization or "").partition(" ")
        text, _, signature = token.rpartition(":")
        if scheme.lower() != "bearer" or not signature.isascii():
            return False
        if not hmac.compare_digest(signature, self._signature(text)):
            return False
        return time.time() < float(text.partition(":")[0])

    def refusal(self, body: dict[str, str]) -> tuple[int, str] | None:
        """Say with which status and why these credentials are refused, or nothing."""
        if body["grant_type"] != "client_credentials":
            return 403, "this client may only use the grant client_credentials"
        if (body["client_id"], body["client_secret"]) != self._client:
            return 401, "client_id or client_secret is wrong"
        if body["audience"] != self._audience:
            return 403, "no such audience"
        return None

    def _signature(self, text: str) -> str:
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()
