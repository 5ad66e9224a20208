"""Read the client properties of --command-config: time-out, TLS and login, as Kafka's tools do."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.properties.listener_security import PLAINTEXT_PEERS, PeerSecurity
from kraftproof.node.properties.sasl import read_client_login
from kraftproof.node.properties.tls import read_tls
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.java_properties import parse_properties

DEFAULT_TIMEOUT_MS: Final = 60_000


class CommandConfig(Struct, frozen=True, kw_only=True):
    """The properties of a tool's connections."""

    timeout_ms: int = DEFAULT_TIMEOUT_MS
    security: PeerSecurity = PLAINTEXT_PEERS


def read_command_config(path: str | None) -> CommandConfig:
    """Return the properties of a file; the defaults without a file.

    Raises:
        ConfigError: the file is unreadable, or a value is not valid.
    """
    if path is None:
        return CommandConfig()
    try:
        properties = parse_properties(Disk().read(path).decode())
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 text") from error
    timeout = properties.get("default.api.timeout.ms", str(DEFAULT_TIMEOUT_MS))
    if not timeout.isdecimal() or int(timeout) == 0:
        raise ConfigError(f"{path}: default.api.timeout.ms={timeout}: milliseconds are expected")
    try:
        security = client_security(properties)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error
    return CommandConfig(timeout_ms=int(timeout), security=security)


def client_security(properties: Mapping[str, str]) -> PeerSecurity:
    """Return the security that a client's properties ask for.

    Raises:
        ConfigError: a value is not valid, or is missing.
    """
    name = properties.get("security.protocol", "PLAINTEXT")
    known = SecurityProtocol.__members__
    if name not in known:
        raise ConfigError(
            f"security.protocol={name}: is not valid, expected one of {', '.join(known)}"
        )
    protocol = known[name]

    def look_up(key: str) -> tuple[str, str | None]:
        return key, properties.get(key)

    return PeerSecurity(
        protocol=protocol,
        tls=read_tls(look_up, needs_key=False) if protocol.has_tls else None,
        login=read_client_login(look_up) if protocol.has_sasl else None,
    )
