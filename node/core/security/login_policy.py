"""Define the rules of a listener for logins with SASL, as plain values."""

from collections.abc import Mapping

from msgspec import Struct

from kraftproof.node.core.base.secret import Secret

DEFAULT_RECEIVE_BYTES = 524_288
"""The default of sasl.server.max.receive.size."""


class LoginPolicy(Struct, frozen=True, kw_only=True):
    """The mechanisms of a listener, and the users of PLAIN."""

    mechanisms: tuple[str, ...]
    """The value of sasl.enabled.mechanisms."""
    plain_users: Mapping[str, Secret] = {}
    """The passwords of the user_NAME options of the JAAS line."""
    max_receive_bytes: int = DEFAULT_RECEIVE_BYTES
    """The value of sasl.server.max.receive.size, for a frame before the end of the login."""
    max_reauth_ms: int = 0
    """The value of connections.max.reauth.ms; 0 never ends a session."""
    token_secret: Secret | None = None
    """The value of delegation.token.secret.key; None refuses logins with a token."""


class ClientLogin(Struct, frozen=True, kw_only=True):
    """The login of this node, or of a tool, at another node."""

    mechanism: str
    username: str
    password: Secret
    is_token: bool = False
    """Whether user name and password are the id and the HMAC of a delegation token."""
