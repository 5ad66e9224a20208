"""The Python classes of principal.builder.class and create.topic.policy.class.name."""

import pytest

from kraftproof.node.core.base.config import InternalTopics
from kraftproof.node.core.effects import Forward
from kraftproof.node.properties.keys import ConfigError
from kraftproof.node.server.envelope import Opened, Refusal, open_request, wrap_request
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.unregister_broker_request import (
    UnregisterBrokerRequest,
)
from kraftproof.node.wire.principal import DEFAULT_PRINCIPALS, Principal
from tests.node.properties.test_config import parse

HERE = "tests.node.properties.test_plugins"


class Building:
    """A principal builder without the methods for envelopes."""

    def build(self, context):
        return context.principal


class Reversing(Building):
    """A principal builder whose bytes are the name from its end to its begin."""

    def serialize(self, principal: Principal) -> bytes:
        return f"{principal.type}:{principal.name}"[::-1].encode()

    def deserialize(self, data: bytes) -> Principal:
        kind, colon, name = data.decode()[::-1].partition(":")
        if not colon:
            raise ValueError("no principal")
        return Principal(type=kind, name=name)


class Failing:
    """A class that can't be created."""

    def __init__(self) -> None:
        raise RuntimeError("not today\nreally")


class Policy:
    """A topic policy."""

    def validate(self, name, partitions, factor, configs):
        if name == "bad":
            raise ValueError("a bad name")


def forward(principal: Principal) -> Forward:
    return Forward(
        destination=1,
        correlation=1,
        message=UnregisterBrokerRequest(broker_id=3),
        version=0,
        principal=principal,
        client_host="10.0.0.9",
        timeout_ns=1,
        connect_ns=1,
    )


@pytest.mark.requirement("590-17")
def test_the_default_builder_is_kafkas() -> None:
    assert parse().principals is DEFAULT_PRINCIPALS
    name = "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"
    assert parse({"principal.builder.class": name}).principals is DEFAULT_PRINCIPALS


@pytest.mark.requirement("590-17")
def test_a_custom_builder_carries_principals_through_envelopes_unchanged() -> None:
    builder = parse({"principal.builder.class": f"{HERE}.Reversing"}).principals
    for principal in (Principal(type="User", name="alice"), Principal(type="Team", name="é:x")):
        envelope = wrap_request(forward(principal), builder)
        assert envelope.request_principal == builder.serialize(principal)
        opened = open_request(envelope, builder)
        assert isinstance(opened, Opened)
        assert opened.principal == principal
    foreign = wrap_request(forward(Principal(type="User", name="a")))
    refused = Refusal(ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE)
    assert open_request(foreign, builder) == refused


@pytest.mark.requirement("590-17")
@pytest.mark.parametrize(
    ("key", "path", "reason"),
    [
        (
            "principal.builder.class",
            f"{HERE}.Building",
            "the class lacks serialize and deserialize; a principal builder needs build, "
            "serialize, deserialize",
        ),
        ("principal.builder.class", f"{HERE}.Failing", "RuntimeError: not today"),
        ("principal.builder.class", f"{HERE}.Missing", "AttributeError"),
        ("principal.builder.class", "no.such.Class", "ModuleNotFoundError: No module named 'no'"),
        ("principal.builder.class", "Class", "ValueError"),
        ("create.topic.policy.class.name", f"{HERE}.Building", "the class lacks validate"),
        ("create.topic.policy.class.name", "no.such.Class", "ModuleNotFoundError"),
    ],
)
def test_an_unusable_class_is_refused_at_the_start(key, path, reason) -> None:
    with pytest.raises(ConfigError) as raised:
        parse({key: path})
    line = str(raised.value)
    assert line.startswith(f"{key}={path}: ")
    assert reason in line
    assert "\n" not in line


def test_a_topic_policy_is_loaded() -> None:
    policy = parse({"create.topic.policy.class.name": f"{HERE}.Policy"}).node.create_topic_policy
    assert policy is not None
    policy("good", 1, 1, {})
    with pytest.raises(ValueError, match="a bad name"):
        policy("bad", 1, 1, {})
    assert parse().node.create_topic_policy is None


def test_the_keys_of_creations() -> None:
    node = parse().node
    assert node.auto_creates_topics
    assert node.internal_topics == InternalTopics()
    changed = parse(
        {
            "auto.create.topics.enable": "false",
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.num.partitions": "7",
        }
    ).node
    assert not changed.auto_creates_topics
    assert changed.internal_topics == InternalTopics(group_factor=1, transaction_partitions=7)
    sizes = parse(
        {
            "offsets.topic.segment.bytes": "1048576",
            "transaction.state.log.segment.bytes": "2097152",
            "transaction.state.log.min.isr": "1",
            "share.coordinator.state.topic.segment.bytes": "3145728",
            "share.coordinator.state.topic.min.isr": "3",
        }
    )
    assert sizes.node.internal_topics == InternalTopics(
        group_segment_bytes=1 << 20,
        transaction_segment_bytes=2 << 20,
        transaction_min_isr=1,
        share_segment_bytes=3 << 20,
        share_min_isr=3,
    )
    assert sizes.unused_keys == ()
    for key in ("auto.create.topics.enable", "offsets.topic.num.partitions"):
        with pytest.raises(ConfigError, match=f"{key}=maybe: is not valid"):
            parse({key: "maybe"})
