"""Keys of Kafka's server.properties: known keys are taken, unknown keys are refused."""

import pytest

from kraftproof.node.core.base.config import Voter
from kraftproof.node.core.configs.broker_keys import DEFINITIONS
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.partition.settings import topic_settings
from kraftproof.node.properties.config import parse_server_properties
from kraftproof.node.properties.formatting import read_format_config
from kraftproof.node.properties.keys import USED_KEYS, ConfigError
from kraftproof.node.properties.known_keys import unused_keys
from kraftproof.node.properties.security_keys import SECURITY_KEYS
from tests.node.properties.samples import BROKER, COMBINED, CONTROLLER, text_of

OWN_KEYS = {
    "audit.log.level",
    "controller.quorum.retry.backoff.max.ms",
    "metadata.snapshot.fetch.max.bytes",
    "metrics.listener",
    "trace.file",
}
"""Keys of Kraftproof that no Kafka has; some stand in the KIPs only."""


def refusal(pairs: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_server_properties(text_of(pairs))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_used_key_is_kafkas_or_one_of_few() -> None:
    assert USED_KEYS - DEFINITIONS.keys() == OWN_KEYS


def test_every_key_of_kafka_is_taken_with_its_default() -> None:
    pairs = {key: definition.default or "" for key, definition in DEFINITIONS.items()}
    unused = unused_keys(pairs, USED_KEYS)
    assert set(unused) == set(DEFINITIONS) - USED_KEYS - SECURITY_KEYS
    assert len(DEFINITIONS) > 350


def test_the_unused_keys_of_a_file_are_named_in_their_order() -> None:
    config = parse_server_properties(text_of(COMBINED))
    assert config.unused_keys[:3] == (
        "num.network.threads",
        "num.io.threads",
        "socket.send.buffer.bytes",
    )
    assert "log.retention.hours" not in config.unused_keys


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("num.io.thread", "unknown configuration key; did you mean num.io.threads"),
        ("zzz", "zzz: unknown configuration key; remove it"),
        ("listener.name.client", "unknown configuration key"),
        ("listener.name.client.num.io.treads", "unknown configuration key"),
        ("listener.name..ssl.keystore.location", "unknown configuration key"),
    ],
)
def test_an_unknown_key_is_refused_with_near_keys(key: str, words: str) -> None:
    assert words in refusal({**COMBINED, key: "1"})
    with pytest.raises(ConfigError):
        read_format_config(text_of({**COMBINED, key: "1"}))


@pytest.mark.parametrize(
    ("key", "value"),
    [("num.io.threads", "0"), ("num.io.threads", "many"), ("delete.topic.enable", "perhaps")],
)
def test_a_key_without_effect_needs_a_legal_value(key: str, value: str) -> None:
    assert refusal({**COMBINED, key: value}).startswith(f"{key}={value}: is not valid, a value of")


@pytest.mark.parametrize(
    "key",
    [
        "listener.name.client.ssl.keystore.location",
        "listener.name.client.scram-sha-256.sasl.jaas.config",
        "listener.name.client.oauthbearer.sasl.login.callback.handler.class",
        "rlmm.config.anything",
        "super.users",
    ],
)
def test_keys_of_listeners_and_plugins_are_known(key: str) -> None:
    parse_server_properties(text_of({**COMBINED, key: "x"}))


@pytest.mark.parametrize("sample", [COMBINED, CONTROLLER])
def test_the_samples_of_kafka_have_one_voter(sample: dict[str, str]) -> None:
    config = parse_server_properties(text_of(sample))
    assert config.node.voters == (Voter(node_id=1, host="localhost", port=9093),)


def test_a_broker_needs_the_ids_of_the_voters() -> None:
    assert refusal(BROKER) == (
        "controller.quorum.voters: is missing; controller.quorum.bootstrap.servers=localhost:9093 "
        "is enough only for a single controller with this address, or for voters named by "
        "kraft-storage format --initial-controllers; for example "
        "controller.quorum.voters=1@localhost:9093"
    )
    fixed = {**BROKER, "controller.quorum.voters": "1@localhost:9093"}
    assert parse_server_properties(text_of(fixed)).node.voter_ids == (1,)


@pytest.mark.parametrize(
    ("static", "retention_ms"),
    [
        ({"log.retention.hours": "2"}, 7_200_000),
        ({"log.retention.hours": "2", "log.retention.minutes": "3"}, 180_000),
        ({"log.retention.hours": "2", "log.retention.ms": "4"}, 4),
        ({"log.retention.hours": "-1"}, -1),
        ({}, 604_800_000),
    ],
)
def test_retention_in_larger_units(static: dict[str, str], retention_ms: int) -> None:
    assert topic_settings(EMPTY_IMAGE, "t", 1, static).retention_ms == retention_ms
