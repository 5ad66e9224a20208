"""Whole nodes, composed: controllers and brokers that talk to each other at no latency."""

from collections import deque
from random import Random

import pytest
from msgspec import structs

from kraftproof.node.core.base.config import Endpoint, NodeConfig, Voter
from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, WallClock, milliseconds
from kraftproof.node.core.effects import (
    Append,
    Exit,
    Flush,
    Forward,
    OpenClientListeners,
    PersistQuorumState,
    Publish,
    Reply,
    Send,
)
from kraftproof.node.core.events import Answered, Flushed, Received, Stop, Tick, Unanswered
from kraftproof.node.core.node import Node
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    api_versions_request,
    create_topics_request,
    describe_cluster_request,
    fetch_request,
    metadata_request,
)
from kraftproof.node.wire.principal import ANONYMOUS, Principal
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.metadata import UnfenceBrokerRecord
from kraftproof.node.wire.types import Uuid

BROKER = Principal(type="User", name="broker")


def voter(node_id):
    return Voter(node_id=NodeId(node_id), host=f"node-{node_id}", port=9093)


class World:
    """Nodes by id; every effect is carried out at once, every message arrives."""

    def __init__(self, controllers, brokers):
        self.now = 1_000_000_000
        self.voters = tuple(map(voter, range(1, controllers + 1)))
        self.nodes, self.events, self.effects, self.asked = {}, deque(), [], {}
        self.tokens = 0
        for node_id in range(1, controllers + brokers + 1):
            self.add(node_id, is_broker=node_id > controllers)

    def add(self, node_id, *, is_broker):
        config = NodeConfig(
            node_id=NodeId(node_id),
            cluster_id="cluster",
            is_controller=not is_broker,
            is_broker=is_broker,
            voters=self.voters,
            endpoints=(
                Endpoint(
                    name="PLAINTEXT" if is_broker else "CONTROLLER",
                    host=f"node-{node_id}",
                    port=9092,
                    is_controller=not is_broker,
                ),
            ),
            incarnation=Uuid(node_id.to_bytes(16, "big")),
            log_dirs=(Uuid(node_id.to_bytes(8, "big") * 2),),
        )
        node = Node(config, QuorumState(), (), Random(node_id), self.instant)
        self.nodes[node_id] = node
        self.take(node_id, node.start(self.instant))

    @property
    def instant(self):
        return Instant(Monotonic(self.now), WallClock(1_700_000_000_000_000_000 + self.now))

    def step(self, node_id, event):
        self.take(node_id, self.nodes[node_id].step(event, self.instant))

    def take(self, node_id, effects):
        for effect in effects:
            self.effects.append((node_id, effect))
            match effect:
                case Flush():
                    self.events.append((node_id, Flushed(**structs.asdict(effect))))
                case Send() | Forward():
                    self.ask(node_id, effect)
                case Reply():
                    _, asker, correlation = self.asked.pop(effect.request)
                    if asker is not None:
                        answer = Answered(correlation=correlation, message=effect.message)
                        self.events.append((asker, answer))
                case Exit():
                    self.kill(node_id)

    def kill(self, node_id):
        """Its connections break: who has asked it learns so, and what was on its way is lost."""
        del self.nodes[node_id]
        self.events = deque(event for event in self.events if event[0] != node_id)
        for token, (asked, asker, correlation) in list(self.asked.items()):
            if asked == node_id and asker is not None:
                del self.asked[token]
                self.events.append((asker, Unanswered(correlation=correlation)))

    def ask(self, node_id, effect):
        if effect.destination not in self.nodes:
            self.events.append((node_id, Unanswered(correlation=effect.correlation)))
            return
        forwarded_by = BROKER if isinstance(effect, Forward) else None
        self.request(
            effect.destination,
            effect.message,
            effect.version,
            asker=(node_id, effect.correlation),
            forwarded_by=forwarded_by,
        )

    def request(self, node_id, message, version, *, asker=(None, 0), forwarded_by=None):
        self.tokens += 1
        self.asked[self.tokens] = (node_id, *asker)
        event = Received(
            request=self.tokens,
            message=message,
            version=version,
            on_controller_listener=node_id <= len(self.voters),
            principal=ANONYMOUS,
            client_host="127.0.0.1",
            forwarded_by=forwarded_by,
        )
        self.events.append((node_id, event))
        return self.tokens

    def run(self, by_ms):
        end = self.now + milliseconds(by_ms)
        for _ in range(100_000):
            while self.events:
                node_id, event = self.events.popleft()
                if node_id in self.nodes:
                    self.step(node_id, event)
            due = [(d, n) for n, node in self.nodes.items() if (d := node.deadline()) is not None]
            if not due or min(due)[0] > end:
                self.now = end
                return
            when, node_id = min(due)
            self.now = max(self.now, when)
            self.step(node_id, Tick())
        raise AssertionError("time stands still")

    def answer(self, node_id, message, version, by_ms=1000):
        token = self.request(node_id, message, version)
        self.run(by_ms)
        (answer,) = [
            e.message for _, e in self.effects if isinstance(e, Reply) and e.request == token
        ]
        return answer

    def leader(self):
        (leader,) = [n for n, node in self.nodes.items() if node.status().role == "leader"]
        return leader


@pytest.fixture
def world():
    world = World(3, 1)
    world.run(8000)
    return world


def create(name):
    topic = create_topics_request.CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    return create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=5000)


@pytest.mark.requirement("631-09")
def test_a_broker_starts_and_a_topic_is_created_through_it(world):
    assert (4, OpenClientListeners()) in world.effects
    assert world.nodes[4].status().broker_state == 3
    answer = world.answer(4, create("a"), 7)
    assert [(t.name, t.error_code) for t in answer.topics] == [("a", ErrorCode.NONE)]
    world.run(1000)
    assert (
        len({(s.image_offset, s.image_digest) for s in map(Node.status, world.nodes.values())}) == 1
    )
    metadata = world.answer(4, metadata_request.MetadataRequest(topics=None), 12)
    assert [topic.name for topic in metadata.topics] == ["a"]


@pytest.mark.requirement("631-06")
def test_a_broker_starts_if_only_one_of_its_voters_answers():
    world = World(0, 0)
    world.voters = (voter(2),)
    world.add(2, is_broker=False)
    world.voters = (voter(1), voter(2), voter(3))
    world.add(4, is_broker=True)
    world.run(8000)
    assert (4, OpenClientListeners()) in world.effects
    answer = world.answer(4, create("a"), 7)
    assert [(t.name, t.error_code) for t in answer.topics] == [("a", ErrorCode.NONE)]


def test_images_are_published_only_as_they_commit(world):
    offsets = [e.offset for n, e in world.effects if n == 4 and isinstance(e, Publish)]
    assert offsets == sorted(set(offsets))
    assert offsets[-1] == world.nodes[4].status().high_watermark


@pytest.mark.requirement("631-09")
def test_the_next_leader_has_the_same_state(world):
    world.answer(4, create("a"), 7)
    leader = world.leader()
    world.kill(leader)
    world.run(8000)
    assert world.leader() != leader
    answer = world.answer(4, create("a"), 7)
    assert answer.topics[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS


@pytest.mark.requirement("595-38")
def test_a_stopping_leader_hands_over_before_it_exits(world):
    leader = world.leader()
    start = world.now
    world.step(leader, Stop())
    world.run(10)
    exits = [e for n, e in world.effects if n == leader and isinstance(e, Exit)]
    assert [e.status for e in exits] == [0]
    assert world.leader() != leader
    assert world.now - start <= milliseconds(10)


def test_a_stopping_broker_exits_after_its_controlled_shutdown(world):
    world.step(4, Stop())
    world.run(9000)
    assert 4 not in world.nodes
    assert [e.status for _, e in world.effects if isinstance(e, Exit)] == [0]


def test_nothing_happens_after_exit(world):
    node = world.nodes[1 if world.leader() != 1 else 2]
    effects = node.step(Stop(), world.instant)
    assert isinstance(effects[-1], Exit)
    assert node.step(Tick(), world.instant) == []
    assert node.deadline() is None


@pytest.mark.requirement("631-03")
def test_a_controller_listener_says_what_it_serves(world):
    answer = world.answer(1, api_versions_request.ApiVersionsRequest(), 2)
    keys = {entry.api_key for entry in answer.api_keys}
    assert {1, 52, 53, 54, 62, 63} <= keys
    answer = world.answer(1, describe_cluster_request.DescribeClusterRequest(endpoint_type=2), 1)
    assert {broker.broker_id for broker in answer.brokers} == {1, 2, 3}
    answer = world.answer(4, api_versions_request.ApiVersionsRequest(), 2)
    assert not {52, 53, 54} & {entry.api_key for entry in answer.api_keys}


def test_a_committed_record_that_does_not_fit_ends_the_node():
    world = World(1, 0)
    record = UnfenceBrokerRecord(id=77, epoch=1)
    batch = Batch(base_offset=0, epoch=1, timestamp_ms=0, records=(record,))
    config = world.nodes[1]._config
    node = Node(config, QuorumState(epoch=1), (batch,), Random(1), world.instant)
    node.start(world.instant)
    effects = node.step(Flushed(log=METADATA_LOG, generation=0, end_offset=2), world.instant)
    assert (type(effects[-1]), effects[-1].status) == (Exit, 1)
    assert "77" in effects[-1].reason


def test_a_single_node_commits_only_after_its_flush():
    world = World(1, 0)
    status = world.nodes[1].status()
    assert (status.role, status.high_watermark) == ("leader", 0)
    assert [type(e) for _, e in world.effects[:4]] == [
        PersistQuorumState,
        PersistQuorumState,
        Append,
        Flush,
    ]
    world.run(10)
    status = world.nodes[1].status()
    assert status.high_watermark == status.log_end == status.flushed > 0


def test_a_fetch_at_a_broker_only_node_is_one_of_topics():
    world = World(1, 1)
    event = Received(
        request=1,
        message=fetch_request.FetchRequest(),
        version=17,
        on_controller_listener=False,
        principal=ANONYMOUS,
        client_host="127.0.0.1",
    )
    effects = world.nodes[2].step(event, world.instant)
    assert [effect.request for effect in effects if isinstance(effect, Reply)] == [1]
