"""List the keys of listeners' security; `listener.name.NAME.` before a key overrides the key."""

from typing import Final

from kraftproof.node.core.security.mechanisms import MECHANISMS

_JAAS: Final = "sasl.jaas.config"
_OF_LISTENERS: Final = frozenset(
    {
        "connections.max.reauth.ms",
        "sasl.enabled.mechanisms",
        "sasl.server.max.receive.size",
        "ssl.client.auth",
        "ssl.enabled.protocols",
        "ssl.endpoint.identification.algorithm",
        "ssl.key.password",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.type",
        "ssl.principal.mapping.rules",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.type",
        *(f"{mechanism.lower()}.{_JAAS}" for mechanism in MECHANISMS),
    }
)
TOKEN_KEYS: Final = (
    "delegation.token.max.lifetime.ms",
    "delegation.token.expiry.time.ms",
    "delegation.token.expiry.check.interval.ms",
)
"""The keys of delegation tokens in milliseconds."""
TOKEN_SECRET_KEY: Final = "delegation.token.secret.key"  # noqa: S105 - the name of the key
SECURITY_KEYS: Final = _OF_LISTENERS | {
    "connection.failed.authentication.delay.ms",
    "sasl.mechanism.controller.protocol",
    "sasl.mechanism.inter.broker.protocol",
    "security.inter.broker.protocol",
    TOKEN_SECRET_KEY,
    *TOKEN_KEYS,
}


def is_security_key(key: str) -> bool:
    """Return whether the key belongs to the security of listeners, with a prefix or without."""
    if key in SECURITY_KEYS:
        return True
    prefix = "listener.name."
    if not key.startswith(prefix):
        return False
    rest = key.removeprefix(prefix)
    return any(rest.endswith(f".{name}") and rest != f".{name}" for name in _OF_LISTENERS)
