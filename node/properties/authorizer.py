"""Parse the keys of the authorizer in a server.properties (KIP-801).

See node/core/security/authorizer.py for the rules. The key `audit.log.level` is one of Kraftproof,
since the node has no log4j configuration.
"""

import re
from collections.abc import Mapping
from typing import Final

from kraftproof.node.core.base.config import AuthorizerPolicy
from kraftproof.node.properties.keys import ConfigError, Reader, names

CLASS_KEY: Final = "authorizer.class.name"
SUPER_USERS_KEY: Final = "super.users"
DEFAULT_KEY: Final = "allow.everyone.if.no.acl.found"
EARLY_KEY: Final = "early.start.listeners"
AUDIT_KEY: Final = "audit.log.level"

STANDARD: Final = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
"""The name of the only known authorizer, whose rules the node follows."""
_WRONG_SEPARATOR: Final = re.compile(r",\s*\w+:")
"""A comma before a next principal; the name of a certificate, CN=a,OU=b, has commas, too."""
_BOOLEANS: Final[Mapping[str, bool]] = {"true": True, "false": False}
_AUDIT_LEVELS: Final[Mapping[str, bool]] = {"INFO": False, "DEBUG": True}


def read_authorizer(reader: Reader) -> AuthorizerPolicy | None:
    """Return the rules of the authorizer; None without authorizer.class.name.

    Raises:
        ConfigError: the authorizer is unknown, or a value is illegal.
    """
    name = reader.text(CLASS_KEY)
    if name is None:
        return None
    if name != STANDARD:
        raise ConfigError(f"{CLASS_KEY}={name}: is not known; the only authorizer is {STANDARD}")
    return AuthorizerPolicy(
        super_users=_super_users(reader),
        allows_without_acl=_word(reader, DEFAULT_KEY, _BOOLEANS, "false"),
        logs_allowed=_word(reader, AUDIT_KEY, _AUDIT_LEVELS, "INFO"),
    )


def _super_users(reader: Reader) -> tuple[str, ...]:
    value = reader.text(SUPER_USERS_KEY) or ""
    users = tuple(user for user in map(str.strip, value.split(";")) if user)
    for user in users:
        kind, colon, name = user.partition(":")
        if not colon or not kind or not name or _WRONG_SEPARATOR.search(name):
            raise ConfigError(
                f"{SUPER_USERS_KEY}={value}: {user!r} is no principal; "
                "for example User:alice;User:bob"
            )
    return users


def _word(reader: Reader, key: str, known: Mapping[str, bool], default: str) -> bool:
    text = reader.text(key) or default
    for word, value in known.items():
        if text.lower() == word.lower():
            return value
    raise ConfigError(f"{key}={text}: is not valid, {' or '.join(known)} is expected")


def read_early_listeners(reader: Reader, listeners: tuple[str, ...]) -> tuple[str, ...]:
    """Return the listeners that open before the node has loaded its image.

    The listeners of controllers always open early, since a quorum cannot form without them.

    Raises:
        ConfigError: the key names a listener that the node does not have.
    """
    value = reader.text(EARLY_KEY) or ""
    early = names(value)
    for name in early:
        if name not in listeners:
            raise ConfigError(
                f"{EARLY_KEY}={value}: {name!r} is none of the listeners {', '.join(listeners)}"
            )
    return early
