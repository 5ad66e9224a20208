"""Read the security of listeners and of connections to other nodes (KIP-103, KIP-631).

A key may have the prefix `listener.name.NAME.`, with the listener's name in lower case; the key
with the prefix overrides the key without.
"""

from collections.abc import Mapping

from msgspec import Struct

from kraftproof.node.core.base.config import TokenPolicy
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, milliseconds
from kraftproof.node.core.security.login_policy import ClientLogin, LoginPolicy
from kraftproof.node.properties.keys import INT64_MAX, ConfigError, Reader, names
from kraftproof.node.properties.sasl import Lookup, read_login_policy, read_node_login
from kraftproof.node.properties.security_keys import TOKEN_KEYS, TOKEN_SECRET_KEY
from kraftproof.node.properties.tls import TlsConfig, read_tls

_MAP = "listener.security.protocol.map"


class ListenerSecurity(Struct, frozen=True, kw_only=True):
    """The security of a listener."""

    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    tls: TlsConfig | None = None
    login: LoginPolicy | None = None


class PeerSecurity(Struct, frozen=True, kw_only=True):
    """The security of the connections to the listeners of other nodes."""

    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    tls: TlsConfig | None = None
    login: ClientLogin | None = None


PLAINTEXT_SECURITY = ListenerSecurity()
PLAINTEXT_PEERS = PeerSecurity()


def read_protocols(
    reader: Reader, listener_names: tuple[str, ...]
) -> Mapping[str, SecurityProtocol]:
    """Return the protocol of each listener.

    Raises:
        ConfigError: a listener has no protocol, or an unknown protocol.
    """
    value = reader.text(_MAP)
    listed = _protocol_map(value) if value is not None else {}
    return {name: _protocol(value, listed, name) for name in listener_names}


def _protocol(value: str | None, listed: Mapping[str, str], name: str) -> SecurityProtocol:
    known = SecurityProtocol.__members__
    text = listed.get(name, name)
    if text in known:
        return known[text]
    if value is None:
        return SecurityProtocol.PLAINTEXT
    if name in listed:
        raise ConfigError(
            f"{_MAP}={value}: {name} asks for {text}, expected one of {', '.join(known)}"
        )
    raise ConfigError(f"{_MAP}={value}: has no protocol for listener {name}; add {name}:PLAINTEXT")


def _protocol_map(value: str) -> dict[str, str]:
    protocols: dict[str, str] = {}
    for part in names(value):
        name, colon, protocol = part.partition(":")
        if not colon:
            raise ConfigError(f"{_MAP}={value}: {part!r} is not NAME:PROTOCOL")
        protocols[name.strip()] = protocol.strip()
    return protocols


def read_listener_security(
    reader: Reader, name: str, protocol: SecurityProtocol
) -> ListenerSecurity:
    """Return the security of a listener that this node binds.

    Raises:
        ConfigError: a value is not valid, or the listener lacks a value.
    """
    lookup = _lookup(reader, name)
    secret = reader.text(TOKEN_SECRET_KEY)
    return ListenerSecurity(
        protocol=protocol,
        tls=read_tls(lookup, needs_key=True) if protocol.has_tls else None,
        login=(
            read_login_policy(lookup, None if secret is None else Secret(secret))
            if protocol.has_sasl
            else None
        ),
    )


def read_peer_security(
    reader: Reader, name: str, protocol: SecurityProtocol, mechanism_key: str
) -> PeerSecurity:
    """Return the security of this node's connections to the listeners of that name.

    Raises:
        ConfigError: a value is not valid, or is missing.
    """
    lookup = _lookup(reader, name)
    return PeerSecurity(
        protocol=protocol,
        tls=read_tls(lookup, needs_key=False) if protocol.has_tls else None,
        login=read_node_login(lookup, mechanism_key) if protocol.has_sasl else None,
    )


def read_tokens(reader: Reader) -> TokenPolicy:
    """Return the rules of delegation tokens.

    Raises:
        ConfigError: a value is out of bounds.
    """
    secret = reader.text(TOKEN_SECRET_KEY)
    default = TokenPolicy()
    lifetime, expiry, interval = TOKEN_KEYS
    sweep_ms = default.sweep_interval_ns // NANOSECONDS_PER_MS
    return TokenPolicy(
        secret=None if secret is None else Secret(secret),
        max_lifetime_ms=reader.integer(lifetime, default.max_lifetime_ms, 1, INT64_MAX),
        default_lifetime_ms=reader.integer(expiry, default.default_lifetime_ms, 1, INT64_MAX),
        sweep_interval_ns=milliseconds(reader.integer(interval, sweep_ms, 1, INT64_MAX)),
    )


def _lookup(reader: Reader, name: str) -> Lookup:
    prefix = f"listener.name.{name.lower()}."

    def look_up(key: str) -> tuple[str, str | None]:
        if reader.has(prefix + key):
            return prefix + key, reader.raw(prefix + key)
        if reader.has(key):
            return key, reader.raw(key)
        return (prefix + key if key.endswith("jaas.config") else key), None

    return look_up
