"""Read the TLS configuration of a listener or a client: PEM texts, and how peers are checked.

Simplification: key stores and trust stores are PEM; JKS and PKCS12 are refused.
"""

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.security.mapping_rules import (
    MappingRule,
    MappingRuleError,
    parse_mapping_rules,
)
from kraftproof.node.properties.keys import ConfigError

Lookup = Callable[[str], tuple[str, str | None]]
"""Returns the most specific key that is set for a listener, and its value."""
_VERSIONS: Final = ("TLSv1.2", "TLSv1.3")


class ClientAuth(Enum):
    """The values of ssl.client.auth."""

    NONE = "none"
    REQUESTED = "requested"
    REQUIRED = "required"


class TlsConfig(Struct, frozen=True, kw_only=True):
    """The TLS configuration of a listener or a client."""

    key_and_chain: Secret | None
    """The private key and its certificates as PEM text; None for a client without a key."""
    key_password: Secret | None
    trusted: str | None
    """The trusted certificates as PEM text; None trusts the certificates of the system."""
    client_auth: ClientAuth
    mapping_rules: tuple[MappingRule, ...]
    checks_host: bool
    """Whether a client compares the host with the names of the certificate."""
    versions: tuple[str, ...]


def read_tls(lookup: Lookup, *, needs_key: bool) -> TlsConfig:
    """Return the TLS configuration.

    Raises:
        ConfigError: a value is not valid, or a store is missing or unreadable.
    """
    key_and_chain = _key_and_chain(lookup, needs_key=needs_key)
    password = lookup("ssl.key.password")[1]
    trusted = _store(lookup, "truststore", "certificates")
    algorithm_key, algorithm = lookup("ssl.endpoint.identification.algorithm")
    if algorithm is not None and algorithm.lower() not in {"", "https"}:
        raise ConfigError(f"{algorithm_key}={algorithm}: is not valid, expected https or nothing")
    auth = _client_auth(lookup)
    if auth is not ClientAuth.NONE and trusted is None:
        key, _ = lookup("ssl.truststore.location")
        raise ConfigError(f"{key}: is missing; it lists who may sign the certificates of clients")
    return TlsConfig(
        key_and_chain=None if key_and_chain is None else Secret(key_and_chain),
        key_password=None if password is None else Secret(password),
        trusted=trusted,
        client_auth=auth,
        mapping_rules=_mapping_rules(lookup),
        checks_host=algorithm is None or algorithm.lower() == "https",
        versions=_versions(lookup),
    )


def _key_and_chain(lookup: Lookup, *, needs_key: bool) -> str | None:
    key_name, inline_key = lookup("ssl.keystore.key")
    chain_name, chain = lookup("ssl.keystore.certificate.chain")
    if inline_key is not None or chain is not None:
        _check_type(lookup, "ssl.keystore.type")
        if inline_key is None or chain is None:
            missing = key_name if inline_key is None else chain_name
            raise ConfigError(f"{missing}: is missing; a key needs its certificate chain")
        return f"{_lines(inline_key)}\n{_lines(chain)}\n"
    location, path = lookup("ssl.keystore.location")
    if path is None:
        if needs_key:
            raise ConfigError(f"{location}: is missing; for example {location}=/etc/kafka/key.pem")
        return None
    _check_type(lookup, "ssl.keystore.type")
    text = _read(location, path)
    if "PRIVATE KEY-----" not in text or "BEGIN CERTIFICATE" not in text:
        raise ConfigError(f"{location}={path}: has no private key and certificate in PEM")
    return text


def _store(lookup: Lookup, store: str, inline: str) -> str | None:
    _, text = lookup(f"ssl.{store}.{inline}")
    if text is not None:
        _check_type(lookup, f"ssl.{store}.type")
        return _lines(text)
    location, path = lookup(f"ssl.{store}.location")
    if path is None:
        return None
    _check_type(lookup, f"ssl.{store}.type")
    text = _read(location, path)
    if "BEGIN CERTIFICATE" not in text:
        raise ConfigError(f"{location}={path}: has no certificate in PEM")
    return text


def _check_type(lookup: Lookup, name: str) -> None:
    key, value = lookup(name)
    if value != "PEM":
        shown = "JKS" if value is None else value
        raise ConfigError(f"{key}={shown}: is not supported; convert the store and set {key}=PEM")


def _read(key: str, path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError as error:
        raise ConfigError(f"{key}={path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{key}={path}: is no PEM file") from error


def _lines(text: str) -> str:
    """Return PEM text with line ends; properties files write them as a backslash and an n."""
    return text.replace("\\n", "\n")


def _client_auth(lookup: Lookup) -> ClientAuth:
    key, value = lookup("ssl.client.auth")
    try:
        return ClientAuth(value or "none")
    except ValueError as error:
        raise ConfigError(
            f"{key}={value}: is not valid, expected none, requested or required"
        ) from error


def _mapping_rules(lookup: Lookup) -> tuple[MappingRule, ...]:
    key, value = lookup("ssl.principal.mapping.rules")
    try:
        return parse_mapping_rules(value or "DEFAULT")
    except MappingRuleError as error:
        raise ConfigError(f"{key}={value}: {error}") from error


def _versions(lookup: Lookup) -> tuple[str, ...]:
    key, value = lookup("ssl.enabled.protocols")
    versions = tuple(part.strip() for part in (value or ",".join(_VERSIONS)).split(","))
    if not versions or any(version not in _VERSIONS for version in versions):
        raise ConfigError(f"{key}={value}: is not valid, expected {' or '.join(_VERSIONS)}")
    return versions
