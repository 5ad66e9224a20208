"""Judge requests about delegation tokens: who may ask, and who may change a token (KIP-48)."""

import hmac
from typing import Final

from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.security.credentials import (
    delegation_tokens,
    format_principal,
    user_principal,
)
from kraftproof.node.core.security.scram import token_hmac
from kraftproof.node.wire.principal import ANONYMOUS, Principal
from kraftproof.node.wire.records.metadata import DelegationTokenRecord

USER: Final = "User"
"""The only type of a renewer."""


def may_ask_about_tokens(event: Received) -> bool:
    """Return whether the connection may create, change and describe tokens.

    A client that logged in with a token may not, nor a client that nobody knows.
    """
    protocol, principal = event.security_protocol, event.principal
    if principal.token_authenticated or protocol is SecurityProtocol.PLAINTEXT:
        return False
    return not (protocol is SecurityProtocol.SSL and principal == ANONYMOUS)


def token_with_hmac(
    image: MetadataImage, secret: Secret, data: bytes
) -> DelegationTokenRecord | None:
    """Return the token whose HMAC is `data`; every token is compared in constant time."""
    found = None
    for token in delegation_tokens(image):
        if hmac.compare_digest(token_hmac(secret, token.token_id), data):
            found = token
    return found


def owns_or_renews(token: DelegationTokenRecord, principal: Principal) -> bool:
    """Return whether the principal is the owner or a renewer of the token."""
    name = format_principal(principal)
    return name == token.owner or name in token.renewers


def principal_or(kind: str | None, name: str | None, default: Principal) -> Principal:
    """Return the principal that a request names, or the default without a name."""
    if not name:
        return default
    return user_principal(name) if not kind else Principal(type=kind, name=name)
