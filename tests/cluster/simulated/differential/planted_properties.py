"""Bugs that are planted in the reading of server.properties; see planted.py."""

from typing import Any

from msgspec.structs import replace

from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.properties import (
    authorizer,
    config,
    identity,
    jaas,
    keys,
    known_keys,
    listener_security,
    listeners,
    plugins,
    quotas,
    sasl,
    tls,
    tls_contexts,
    voters,
)
from kraftproof.node.storage import java_properties

EXPIRATION = "producer.id.expiration.ms"


def _with_expiration_in_nanoseconds(reader: Any) -> ReplicationPolicy:
    """Convert the milliseconds of a producer's expiration to nanoseconds, as of other keys."""
    policy = _REPLICATION(reader)
    unit = 1_000_000 if reader.has(EXPIRATION) else 1
    return replace(policy, producer_expiration_ms=unit * policy.producer_expiration_ms)


def _without_escapes(key: str, text: str) -> jaas.JaasLine:
    """Keep the backslashes of a value in double quotes."""
    return _PARSE(key, text.replace("\\", "\\\\").replace('\\\\"', '\\"'))


def _split_at_commas(reader: Any) -> tuple[str, ...]:
    """Separate super users by commas."""
    return keys.names(reader.text("super.users") or "")


def _without_prefix(reader: Any, _: str) -> Any:
    """Overlook the keys of a single listener."""
    return lambda key: (key, reader.raw(key) if reader.has(key) else None)


def _hosts_unchecked(key: str, text: str, _: str) -> tuple[str, int]:
    """Take any port."""
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def _continued_at_any_backslash(text: str) -> dict[str, str]:
    """Take the last of two backslashes for the sign of a continued line."""
    return _READ(text.replace("\\\\\n", "\\\n"))


_PARSE, _READ = jaas.parse_jaas, java_properties.parse_properties
_REPLICATION, _NUMBERS = config._replication, keys.REPLICATION_NUMBER_KEYS
_UNSCALED = {key: field for key, field in _NUMBERS.items() if key != EXPIRATION}
_VERSIONS = tls_contexts._VERSIONS
_EXCHANGED = {**keys.TIMEOUT_KEYS, "controller.quorum.fetch.timeout.ms": "request_ns"}
PLANTED = [
    ("compare_numbers", config, "_replication", _with_expiration_in_nanoseconds),
    ("compare_numbers", config, "REPLICATION_NUMBER_KEYS", _UNSCALED),
    ("compare_numbers", config, "TIMEOUT_KEYS", _EXCHANGED),
    ("compare_numbers", config, "DEFAULT_IDLE_MS", 60_000),
    ("compare_numbers", quotas, "_BYTES", quotas._MUTATIONS),
    ("compare_numbers", keys, "whole_number", int),
    ("compare_topic_defaults", keys, "TOPIC_DEFAULT_KEYS", {}),
    ("compare_topic_defaults", keys, "CONVERTED_DEFAULT_KEYS", ("log.retention.hours",)),
    ("compare_known_keys", keys, "RETIRED_KEYS", {}),
    ("compare_known_keys", known_keys, "NEAR_KEYS", 0),
    ("compare_words", keys, "parse_properties", _continued_at_any_backslash),
    ("compare_words", authorizer, "_super_users", _split_at_commas),
    ("compare_words", authorizer, "_AUDIT_LEVELS", {"INFO": True, "DEBUG": False}),
    ("compare_words", plugins, "_METHODS", ("build",)),
    ("compare_node_identities", identity, "ROLES", ("broker", "controller", "zookeeper")),
    ("compare_node_identities", identity, "names", lambda text: (text,)),
    ("compare_configured_listeners", listeners, "EVERY_ADDRESS", frozenset({"", "0.0.0.0"})),
    ("compare_configured_listeners", listeners, "_check_roles", lambda *_: None),
    ("compare_configured_listeners", listeners, "host_port", _hosts_unchecked),
    ("compare_voters", voters, "_check_role", lambda *_: None),
    ("compare_voters", voters, "NEVER_IN_HOSTS", frozenset("@;")),
    ("compare_jaas", jaas, "_character", lambda found: found[0]),
    ("compare_jaas", jaas, "_LETTERS", {}),
    ("compare_security", sasl, "parse_jaas", _without_escapes),
    ("compare_security", listener_security, "_lookup", _without_prefix),
    ("compare_security", sasl, "DEFAULT_RECEIVE_BYTES", 524_287),
    ("compare_security", tls, "_lines", lambda text: text),
    ("compare_security", tls, "_check_type", lambda *_: None),
    ("compare_tls_contexts", tls_contexts, "_VERIFY", dict.fromkeys(tls_contexts._VERIFY, 0)),
    (
        "compare_tls_contexts",
        tls_contexts,
        "_VERSIONS",
        dict.fromkeys(_VERSIONS, _VERSIONS["TLSv1.3"]),
    ),
]
