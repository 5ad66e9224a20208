"""Topics that brokers have created: those that clients name, and internal topics."""

import pytest

from kraftproof.node.core.base.config import AuthorizerPolicy, InternalTopics
from kraftproof.node.core.broker.auto_creation import internal_topic
from kraftproof.node.core.broker.data.coordinators import java_hash
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.metadata.acls import CLUSTER_NAME, Operation
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    create_topics_request,
    delete_topics_request,
    find_coordinator_request,
    metadata_request,
)
from tests.node.core.security.guarded_world import BROKER, NODE, POLICY, GuardedWorld
from tests.node.core.security.rules import ADMIN, ALICE, CLUSTER, NOBODY, entry

UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
SMALL = InternalTopics(
    group_partitions=3,
    group_factor=1,
    transaction_partitions=2,
    transaction_factor=1,
    transaction_min_isr=1,
)


def refuse_short_names(name: str, partitions: int, factor: int, configs) -> None:
    if len(name) < 3:
        raise ValueError(f"{name} is too short")


class CreatingWorld(GuardedWorld):
    """Nodes that create topics, with a policy for the names of topics."""

    settings = {
        "auto_creates_topics": True,
        "creates_internal_topics": True,
        "internal_topics": SMALL,
        "create_topic_policy": None,
    }

    def __init__(self, policy: AuthorizerPolicy | None = POLICY, **settings) -> None:
        self.settings = {**self.settings, **settings}
        super().__init__(policy)

    def creations(self) -> list[Send | Forward]:
        created = create_topics_request.CreateTopicsRequest
        return [
            effect
            for node, effect in self.effects
            if node == BROKER
            and isinstance(effect, Send | Forward)
            and isinstance(effect.message, created)
        ]

    def topics(self) -> dict[str, int]:
        request = metadata_request.MetadataRequest(topics=None)
        answer = self.do(request, version=12)
        return {topic.name: len(topic.partitions) for topic in answer.topics}


def named(*names: str, creates: bool = True) -> metadata_request.MetadataRequest:
    module = metadata_request
    topics = tuple(module.MetadataRequestTopic(name=name) for name in names)
    return module.MetadataRequest(topics=topics, allow_auto_topic_creation=creates)


def errors(answer) -> dict[str, int]:
    return {topic.name: topic.error_code for topic in answer.topics}


@pytest.mark.requirement("590-15")
def test_metadata_creates_a_missing_topic_with_the_principal_of_the_client() -> None:
    world = CreatingWorld()
    world.effects.clear()
    assert errors(world.do(named("new", "t"), version=12)) == {"new": UNKNOWN, "t": 0}
    [creation] = world.creations()
    assert isinstance(creation, Forward)
    assert creation.principal == ADMIN
    assert [topic.name for topic in creation.message.topics] == ["new"]
    world.run(1000)
    assert errors(world.do(named("new"), version=12)) == {"new": 0}
    assert len(world.creations()) == 1


@pytest.mark.requirement("590-15")
def test_metadata_creates_a_topic_again_after_its_deletion() -> None:
    world = CreatingWorld()
    world.effects.clear()
    world.do(named("new"), version=12)
    world.run(1000)
    states = (delete_topics_request.DeleteTopicState(name="new"),)
    world.do(delete_topics_request.DeleteTopicsRequest(topics=states, timeout_ms=1000), version=6)
    world.run(1000)
    assert errors(world.do(named("new"), version=12)) == {"new": UNKNOWN}
    assert len(world.creations()) == 2


@pytest.mark.requirement("590-15")
@pytest.mark.parametrize(
    ("request_", "version", "settings"),
    [
        (named("new", creates=False), 12, {}),
        (named("new"), 12, {"auto_creates_topics": False}),
        (named("a b"), 12, {}),
        (metadata_request.MetadataRequest(topics=None), 12, {}),
        (metadata_request.MetadataRequest(topics=()), 12, {}),
    ],
)
def test_metadata_creates_only_what_is_asked_for_and_allowed(request_, version, settings) -> None:
    world = CreatingWorld(**settings)
    world.effects.clear()
    world.do(request_, version=version)
    assert world.creations() == []


@pytest.mark.requirement("590-15")
def test_a_client_without_the_right_creates_nothing() -> None:
    world = CreatingWorld()
    world.grant(
        entry(Operation.DESCRIBE, "*"),
        entry(Operation.CREATE, "mine", is_prefix=True),
        entry(Operation.DESCRIBE, "*", principal="User:nobody"),
    )
    world.effects.clear()
    before = world.digest
    assert errors(world.do(named("new"), NOBODY, version=12)) == {"new": DENIED}
    assert world.creations() == []
    assert world.digest == before
    found = errors(world.do(named("new", "mine-1"), ALICE, version=12))
    assert found == {"new": DENIED, "mine-1": UNKNOWN}
    assert [topic.name for each in world.creations() for topic in each.message.topics] == ["mine-1"]
    world.grant(entry(Operation.CREATE, CLUSTER_NAME, kind=CLUSTER))
    assert errors(world.do(named("new"), ALICE, version=12)) == {"new": UNKNOWN}
    assert {"mine-1", "new"} <= set(world.topics())


@pytest.mark.requirement("590-16")
def test_concurrent_creations_give_one_topic() -> None:
    world = CreatingWorld()
    world.effects.clear()
    for _ in range(20):
        world.receive(BROKER, named("new"), 12, ADMIN)
    other = create_topics_request.CreatableTopic(name="new", num_partitions=2, replication_factor=1)
    request = create_topics_request.CreateTopicsRequest(topics=(other,), timeout_ms=1000)
    world.do(request, ADMIN, at=1, version=7)
    assert len(world.creations()) == 1, "a broker creates a name once at a time"
    world.run(1000)
    assert list(world.topics()).count("new") == 1


@pytest.mark.requirement("590-16")
def test_internal_topics_bypass_the_policy_and_others_do_not() -> None:
    world = CreatingWorld(create_topic_policy=refuse_short_names)

    def create(name: str) -> int:
        topic = create_topics_request.CreatableTopic(
            name=name, num_partitions=1, replication_factor=1
        )
        request = create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=1000)
        [result] = world.do(request, ADMIN, version=7).topics
        return result.error_code

    assert create("ab") == ErrorCode.POLICY_VIOLATION
    assert create("abc") == ErrorCode.NONE

    def refuse_all(name: str, partitions: int, factor: int, configs) -> None:
        raise ValueError("no topic is allowed")

    strict = CreatingWorld(create_topic_policy=refuse_all)
    strict.do(coordinator(0, "g"), version=4)
    strict.run(1000)
    assert strict.topics() == {"__consumer_offsets": 3}, "not even t was allowed"


def test_a_policy_sees_the_numbers_that_the_defaults_stand_for() -> None:
    asked = []
    world = CreatingWorld(create_topic_policy=lambda *question: asked.append(question))
    topic = create_topics_request.CreatableTopic(
        name="defaults", num_partitions=-1, replication_factor=-1
    )
    assigned = create_topics_request.CreatableReplicaAssignment(
        partition_index=0, broker_ids=(BROKER,)
    )
    manual = create_topics_request.CreatableTopic(
        name="manual", num_partitions=-1, replication_factor=-1, assignments=(assigned,)
    )
    request = create_topics_request.CreateTopicsRequest(topics=(topic, manual), timeout_ms=1000)
    results = {one.name: one for one in world.do(request, ADMIN, version=7).topics}
    made = results["defaults"]
    assert (made.num_partitions, made.replication_factor) != (-1, -1)
    found = {name: (partitions, factor) for name, partitions, factor, _ in asked}
    assert found["defaults"] == (made.num_partitions, made.replication_factor)
    assert found["manual"] == (-1, -1), "the request names the replicas"


def coordinator(kind: int, *keys: str) -> find_coordinator_request.FindCoordinatorRequest:
    return find_coordinator_request.FindCoordinatorRequest(key_type=kind, coordinator_keys=keys)


@pytest.mark.requirement("590-14")
@pytest.mark.parametrize(
    ("kind", "topic", "partitions"),
    [(0, "__consumer_offsets", 3), (1, "__transaction_state", 2)],
)
def test_a_search_for_a_coordinator_creates_the_internal_topic(kind, topic, partitions) -> None:
    world = CreatingWorld()
    world.grant(*(entry(Operation.DESCRIBE, "g", kind=resource) for resource in (3, 5)))
    world.effects.clear()
    answer = world.do(coordinator(kind, "g", "g"), ALICE, version=4)
    assert {one.error_code for one in answer.coordinators} == {ErrorCode.NONE}
    assert len({(one.node_id, one.host, one.port) for one in answer.coordinators}) == 1
    [creation] = world.creations()
    assert isinstance(creation, Send), "the broker itself asks, without a client's principal"
    world.run(1000)
    assert world.topics()[topic] == partitions
    world.do(coordinator(kind, "g"), ALICE, version=4)
    assert len(world.creations()) == 1


def test_each_internal_topic_has_sizes_of_its_own() -> None:
    sizes = InternalTopics(
        group_segment_bytes=1,
        transaction_segment_bytes=2,
        transaction_min_isr=3,
        share_segment_bytes=4,
        share_min_isr=5,
    )
    wanted = {
        "__consumer_offsets": {"segment.bytes": "1"},
        "__transaction_state": {"segment.bytes": "2", "min.insync.replicas": "3"},
        "__share_group_state": {"segment.bytes": "4", "min.insync.replicas": "5"},
    }
    for name, own in wanted.items():
        made = {one.name: one.value for one in internal_topic(name, sizes).configs}
        assert {key: made.get(key) for key in ("segment.bytes", "min.insync.replicas")} == {
            "min.insync.replicas": None
        } | own


def test_a_failed_creation_is_tried_again() -> None:
    world = CreatingWorld(internal_topics=InternalTopics(group_factor=3))
    world.effects.clear()
    for attempt in (1, 2):
        world.do(coordinator(0, "g"), version=4)
        world.run(1000)
        assert len(world.creations()) == attempt
    assert "__consumer_offsets" not in world.topics()


def test_the_hash_is_javas() -> None:
    # jshell: "my-group".hashCode() & 0x7fffffff, and so on
    assert java_hash("") == 0
    assert java_hash("a") == 97
    assert java_hash("polygenelubricants") == 0, "Java's hash is the smallest number"
    assert java_hash("\u00e9\U0001f512") == ((233 * 31 + 0xD83D) * 31 + 0xDD12) & 0x7FFFFFFF
    assert NODE.name == "node"
