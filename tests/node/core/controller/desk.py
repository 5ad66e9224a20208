"""A controller whose log commits when the test says so. Not: the real Raft."""

from random import Random

from kraftproof.cluster.simulated.differential.core.bare_controller import QuorumOfOne
from kraftproof.node.core.base.config import AuthorizerPolicy, NodeConfig, Timeouts, Voter
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, Offset, WallClock
from kraftproof.node.core.controller.controller import Controller
from kraftproof.node.core.effects import Reply
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.version import METADATA_VERSION, METADATA_VERSION_LEVEL
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.messages import (
    Message,
    broker_heartbeat_request,
    broker_registration_request,
    create_topics_request,
    delete_topics_request,
    unregister_broker_request,
)
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.records.metadata import NoOpRecord
from kraftproof.node.wire.types import Uuid

CLUSTER = "a-cluster"
SESSION_NS = 1000
ALICE = Principal(type="User", name="alice")


class Desk:
    """The controller, what it is asked and what it answers."""

    def __init__(
        self,
        default_replication_factor: int = 1,
        *,
        authorizer: AuthorizerPolicy | None = None,
        bootstrap: tuple[Record, ...] = (),
        voters: tuple[int, ...] = (1,),
    ) -> None:
        self.config = NodeConfig(
            node_id=NodeId(1),
            cluster_id=CLUSTER,
            is_controller=True,
            is_broker=False,
            voters=tuple(Voter(node_id=NodeId(one), host="h", port=1) for one in voters),
            endpoints=(),
            timeouts=Timeouts(session_ns=SESSION_NS),
            default_replication_factor=default_replication_factor,
            authorizer=authorizer,
            bootstrap=bootstrap,
        )
        self.raft = QuorumOfOne()
        self.committed = CommittedImage()
        self.outbox = Outbox()
        self.authorizer = None
        if authorizer is not None:
            self.authorizer = Authorizer(authorizer, self.committed, self.outbox)
        self.controller = Controller(
            self.config,
            self.raft,
            self.committed,
            self.outbox,
            Random(7),
            authorizer=self.authorizer,
        )
        self.principal = ALICE
        """The sender of the requests."""
        self.monotonic = 0
        self.wall = 10**18
        self.incarnation = 1
        self._requests = 0

    @classmethod
    def active(
        cls,
        brokers: int = 0,
        *,
        authorizer: AuthorizerPolicy | None = None,
        voters: tuple[int, ...] = (1,),
    ) -> "Desk":
        """A desk whose controller is active, with unfenced brokers 1, 2, …"""
        desk = cls(authorizer=authorizer, voters=voters)
        desk.win()
        for broker_id in range(1, brokers + 1):
            desk.join(broker_id)
        return desk

    @property
    def now(self) -> Instant:
        return Instant(Monotonic(self.monotonic), WallClock(self.wall))

    @property
    def image(self) -> MetadataImage:
        return self.committed.image

    def win(self) -> None:
        """Win an election, and let all that it brings commit."""
        self.raft.elect()
        self.advance()
        self.commit()
        self.commit()

    def lose(self, *, cut_to: Offset | None = None) -> None:
        """Lose the leadership, and the uncommitted tail with it if said."""
        self.raft.is_leader = False
        if cut_to is not None:
            self.raft.log.truncate(cut_to)
        self.advance()

    def advance(self) -> None:
        self.committed.advance(self.raft.log, self.raft.high_watermark)
        self.controller.advance(self.now)

    def commit(self, up_to: int | None = None) -> list[Reply]:
        """Let the log commit, all of it if no offset is said; what was answered."""
        end = self.raft.log.end_offset if up_to is None else Offset(up_to)
        self.raft.high_watermark = Offset(max(end, self.raft.high_watermark))
        self.advance()
        return self.replies()

    def replies(self) -> list[Reply]:
        return [effect for effect in self.outbox.drain() if isinstance(effect, Reply)]

    def tick(self, at: int) -> None:
        self.monotonic = at
        self.controller.tick(self.now)
        self.controller.advance(self.now)

    def send(self, message: Message, *, forwarded: bool = False, version: int = 0) -> int:
        self._requests += 1
        event = Received(
            request=self._requests,
            message=message,
            version=version,
            on_controller_listener=True,
            principal=self.principal,
            client_host="127.0.0.1",
            forwarded_by=ALICE if forwarded else None,
        )
        self.controller.receive(event, self.now)
        self.controller.advance(self.now)
        return self._requests

    def ask(self, message: Message, *, forwarded: bool = False, version: int = 0) -> Message:
        """Send, commit until it is answered, and return the one answer."""
        request = self.send(message, forwarded=forwarded, version=version)
        replies = self.replies() + self.commit() + self.commit()
        answers = [reply.message for reply in replies if reply.request == request]
        assert len(answers) == 1
        return answers[0]

    def join(self, broker_id: int, incarnation: int = 1, *, rack: str | None = None) -> int:
        """Register and unfence a broker; return its epoch."""
        epoch = self.ask(registration(broker_id, incarnation, rack=rack)).broker_epoch
        answer = self.ask(heartbeat(broker_id, epoch))
        assert not answer.is_fenced
        return epoch

    def no_ops(self) -> int:
        batches = self.raft.log.read(Offset(0), 1 << 40)
        return sum(isinstance(record, NoOpRecord) for batch in batches for record in batch.records)


def incarnation_id(number: int) -> Uuid:
    return Uuid(bytes([number] * 16))


def registration(
    broker_id: int,
    incarnation: int = 1,
    *,
    cluster: str = CLUSTER,
    level: int = METADATA_VERSION_LEVEL,
    rack: str | None = None,
    log_dirs: tuple[Uuid, ...] = (),
) -> broker_registration_request.BrokerRegistrationRequest:
    return broker_registration_request.BrokerRegistrationRequest(
        broker_id=broker_id,
        cluster_id=cluster,
        incarnation_id=incarnation_id(incarnation),
        listeners=(
            broker_registration_request.Listener(name="CLIENT", host="b", port=9000 + broker_id),
        ),
        features=(
            broker_registration_request.Feature(
                name=METADATA_VERSION, min_supported_version=level, max_supported_version=level
            ),
        ),
        rack=rack,
        log_dirs=log_dirs or (incarnation_id(100 + broker_id % 100),),
    )


def heartbeat(
    broker_id: int,
    epoch: int,
    *,
    at: int = 1 << 40,
    want_fence: bool = False,
    want_shut_down: bool = False,
) -> broker_heartbeat_request.BrokerHeartbeatRequest:
    return broker_heartbeat_request.BrokerHeartbeatRequest(
        broker_id=broker_id,
        broker_epoch=epoch,
        current_metadata_offset=at,
        want_fence=want_fence,
        want_shut_down=want_shut_down,
    )


def creation(
    *names: str,
    partitions: int = 1,
    factor: int = 1,
    validate_only: bool = False,
    replicas: tuple[tuple[int, ...], ...] = (),
) -> create_topics_request.CreateTopicsRequest:
    return create_topics_request.CreateTopicsRequest(
        topics=tuple(
            create_topics_request.CreatableTopic(
                name=name,
                num_partitions=-1 if replicas else partitions,
                replication_factor=-1 if replicas else factor,
                assignments=tuple(
                    create_topics_request.CreatableReplicaAssignment(
                        partition_index=index, broker_ids=brokers
                    )
                    for index, brokers in enumerate(replicas)
                ),
            )
            for name in names
        ),
        validate_only=validate_only,
    )


def deletion(*names: str, ids: tuple[Uuid, ...] = ()) -> delete_topics_request.DeleteTopicsRequest:
    state = delete_topics_request.DeleteTopicState
    return delete_topics_request.DeleteTopicsRequest(
        topics=(
            *(state(name=name) for name in names),
            *(state(topic_id=topic_id) for topic_id in ids),
        ),
        timeout_ms=5000,
    )


def unregistration(broker_id: int) -> unregister_broker_request.UnregisterBrokerRequest:
    return unregister_broker_request.UnregisterBrokerRequest(broker_id=broker_id)
