"""Judge a login with PLAIN: `authzid NUL authcid NUL password` (RFC 4616)."""

import hmac
from collections.abc import Mapping
from typing import Final

from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.security.login_error import LoginError

_PARTS: Final = 3


def judge_plain(users: Mapping[str, Secret], data: bytes) -> str:
    """Return the name of the user who sent the right password.

    Raises:
        LoginError: the message is malformed, or user and password do not match.
    """
    try:
        parts = data.decode().split("\0")
    except UnicodeDecodeError as error:
        raise LoginError("Invalid SASL/PLAIN response: the text is not UTF-8") from error
    if len(parts) != _PARTS:
        raise LoginError(f"Invalid SASL/PLAIN response: expected {_PARTS} tokens, got {len(parts)}")
    authorized, user, password = parts
    if not user:
        raise LoginError("Authentication failed: username not specified")
    if not password:
        raise LoginError("Authentication failed: password not specified")
    expected = users.get(user)
    # An unknown user costs the same comparison as a known user.
    against = password[::-1] + "x" if expected is None else expected.value
    if not hmac.compare_digest(against.encode(), password.encode()) or expected is None:
        raise LoginError("Authentication failed: Invalid username or password")
    if authorized not in {"", user}:
        raise LoginError(
            "Authentication failed: Client requested an authorization id that is different from "
            "username"
        )
    return user


def plain_message(user: str, password: Secret) -> bytes:
    """Return the message of a client."""
    return f"\0{user}\0{password.value}".encode()
