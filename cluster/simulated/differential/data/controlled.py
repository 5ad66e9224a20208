"""A broker whose requests to controllers are taken one by one, in steps of ten milliseconds."""

from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.bare_broker import BARE_BROKER
from kraftproof.cluster.simulated.differential.data.data_rig import DataRig
from kraftproof.cluster.simulated.differential.data.drawn_broker import DIRECTORIES
from kraftproof.cluster.simulated.differential.data.led_model import FOLLOWERS
from kraftproof.node.core.base.config import Endpoint, NodeConfig, ReplicationPolicy
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NO_NODE, NodeId, milliseconds
from kraftproof.node.core.effects import Send
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

NODE: Final = 1
STEP_MS: Final = 10
STEP_NS: Final = milliseconds(STEP_MS)
CONTROLLERS: Final = (NodeId(100), NodeId(101))
NO_CONTROLLER: Final = NO_NODE
FIRST_EPOCH: Final = 10
TOPIC: Final = Uuid(b"topic of leaders")
OTHER_TOPIC: Final = Uuid(b"topic of others.")


class Controlled(DataRig):
    """A broker that leads partitions of one topic."""

    def __init__(self, image: MetadataImage, lag_ns: int) -> None:
        self._taken: set[int] = set()
        super().__init__(image, _config(lag_ns))
        self.broker_epoch = FIRST_EPOCH

    def step(self) -> None:
        """Let ten milliseconds pass."""
        self.pass_time(STEP_MS)

    def new_send(self, kind: type[Message]) -> Send | None:
        """Return the oldest request of a type that was not returned before."""
        for send in self.sent:
            if isinstance(send.message, kind) and send.correlation not in self._taken:
                self._taken.add(send.correlation)
                return send
        return None

    def high_watermark(self, partition: int) -> int:
        """Return the high watermark of the leader."""
        return self._data.replicas.by_log[LogId(TOPIC, partition)].index.high_watermark

    def without_answer(self) -> list[Send]:
        """Return the returned requests without an answer, also those to former controllers."""
        return [send for send in self.sent if send.correlation in self._taken]


def _config(lag_ns: int) -> NodeConfig:
    return replace(
        BARE_BROKER,
        node_id=NodeId(NODE),
        endpoints=(Endpoint(name="PLAINTEXT", host="h", port=9092, is_controller=False),),
        log_dirs=DIRECTORIES,
        log_dir_paths=("/one", "/two"),
        replication=ReplicationPolicy(is_enabled=True, lag_ns=lag_ns),
    )


def received(message: Message, version: int) -> Received:
    """Return a request without a number."""
    return Received(
        request=0,
        message=message,
        version=version,
        on_controller_listener=False,
        principal=ANONYMOUS,
        client_host="h",
    )


def cluster_records(level: int, epochs: dict[int, int], min_isr: int) -> list[Record]:
    """Return the records of the level, of the broker and of the other brokers, and of topics."""
    return [
        records.FeatureLevelRecord(name="metadata.version", feature_level=level),
        registration(NODE, FIRST_EPOCH + NODE, is_fenced=False),
        *(registration(node, epoch, is_fenced=False) for node, epoch in epochs.items()),
        records.TopicRecord(name="t", topic_id=TOPIC),
        min_isr_record(min_isr),
        records.TopicRecord(name="other", topic_id=OTHER_TOPIC),
    ]


def min_isr_record(min_isr: int) -> Record:
    """Return the record of min.insync.replicas of the topic."""
    return records.ConfigRecord(
        resource_type=2, resource_name="t", name="min.insync.replicas", value=str(min_isr)
    )


def registration(node: int, epoch: int, *, is_fenced: bool) -> Record:
    """Return the record of a broker."""
    return records.RegisterBrokerRecord(
        broker_id=node,
        incarnation_id=Uuid(bytes([node + 1]) * 16),
        broker_epoch=epoch,
        fenced=is_fenced,
        log_dirs=DIRECTORIES if node == NODE else (),
    )


def led_partition(
    partition: int,
    isr: tuple[int, ...],
    leader_epoch: int,
    partition_epoch: int,
    followers: tuple[int, ...] = FOLLOWERS,
) -> Record:
    """Return a partition that the broker leads, with all other brokers or some as followers."""
    return records.PartitionRecord(
        partition_id=partition,
        topic_id=TOPIC,
        replicas=(NODE, *followers),
        isr=isr,
        leader=NODE,
        leader_epoch=leader_epoch,
        partition_epoch=partition_epoch,
    )


def other_partition(partition_epoch: int) -> Record:
    """Return the only partition of another topic, which has no followers."""
    return records.PartitionRecord(
        partition_id=0,
        topic_id=OTHER_TOPIC,
        replicas=(NODE,),
        isr=(NODE,),
        leader=NODE,
        partition_epoch=partition_epoch,
    )
