"""A broker's data plane with several log directories, and the controller's image of topics."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import override

from kraftproof.cluster.simulated.differential.bare_broker import BARE_BROKER
from kraftproof.cluster.simulated.differential.bare_data_plane import (
    FIRST_BROKER_EPOCH,
    BareDataPlane,
    registered,
)
from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.base.directory_ids import MIGRATING
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import (
    NodeId,
    Offset,
    milliseconds,
)
from kraftproof.node.core.effects import Effect, Send
from kraftproof.node.core.log.recovered import RecoveredLog
from kraftproof.node.core.log_effects import ConfigureLog, CreateLog, DeleteLog
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.metadata.version import LARGEST_LEVEL, METADATA_VERSION
from kraftproof.node.wire.messages import Message, assign_replicas_to_dirs_request
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

BROKER: Final = NodeId(1)
OTHER: Final = 2
"""The broker that leads every partition."""
DIRECTORIES: Final = tuple(Uuid(bytes([200 + place]) * 16) for place in range(3))
ANOTHER: Final = Uuid(b"o" * 16)
"""The directory of the other broker."""
Request = assign_replicas_to_dirs_request.AssignReplicasToDirsRequest


class Told(Struct):
    """An open AssignReplicasToDirs."""

    correlation: int
    controller: int
    message: Request
    is_judged: bool = False
    """Whether the report was compared. Replicas may leave and return before the answer."""


class PlacedBroker(BareDataPlane):
    """One process of the broker; a restart makes another with the logs of the former one."""

    def __init__(
        self,
        image: MetadataImage,
        online: Sequence[Uuid],
        logs: dict[LogId, Uuid],
        *,
        controller: int,
        time_ms: int,
    ) -> None:
        self.controller = controller
        self.told: list[Told] = []
        """The open requests to controllers."""
        self.effects: list[CreateLog | DeleteLog] = []
        """The created and deleted logs since the last look."""
        self.segment_bytes: dict[LogId, int] = {}
        """The size of segments that the storage was told last for each log."""
        failed = tuple(f"/{place}" for place, one in enumerate(DIRECTORIES) if one not in online)
        config = replace(
            BARE_BROKER,
            node_id=BROKER,
            log_dirs=tuple(online),
            log_dir_paths=tuple(f"/{DIRECTORIES.index(one)}" for one in online),
            failed_log_dirs=failed,
            replication=ReplicationPolicy(is_enabled=True),
        )
        super().__init__(
            config,
            image,
            [_recovered(image, log, logs[log]) for log in sorted(logs) if logs[log] in online],
            controller=lambda: NodeId(self.controller),
            broker_epoch=lambda: FIRST_BROKER_EPOCH + BROKER,
            now_ns=milliseconds(time_ms),
        )
        self.advance()

    def follow(self, image: MetadataImage, written: Sequence[Record] | None) -> None:
        """Take the records up to an image; None for the image as a snapshot."""
        if written is not None:
            self.write(*written)
            return
        self._committed.image = image
        self.advance()

    def answer(self, told: Told, message: Message | None) -> None:
        """Answer an open request; None for a lost answer."""
        self.told.remove(told)
        self.resume(told.correlation, message)

    @override
    def _execute(self, effect: Effect) -> None:
        match effect:
            case CreateLog() | DeleteLog():
                self.effects.append(effect)
            case ConfigureLog(log=log, segment_bytes=size):
                self.segment_bytes[log] = size
            case Send(message=Request() as request):
                self.told.append(Told(effect.correlation, effect.destination, request))
            case _:
                return


def _recovered(image: MetadataImage, log: LogId, directory: Uuid) -> RecoveredLog:
    topic = image.topics.get(log.topic_id)
    return RecoveredLog(
        log=log,
        topic=name_of(log.topic_id) if topic is None else topic.name,
        directory=directory,
        start_offset=Offset(0),
        end_offset=Offset(0),
        high_watermark=Offset(0),
    )


def name_of(topic_id: Uuid) -> str:
    """Return the name of a topic."""
    return f"t{int.from_bytes(topic_id, 'big')}"


def partition_of(
    topic_id: Uuid, index: int, directories: tuple[Uuid, ...]
) -> records.PartitionRecord:
    """Return the record of a partition that the other broker leads."""
    return records.PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=(OTHER, int(BROKER)),
        isr=(OTHER,),
        leader=OTHER,
        leader_epoch=0,
        partition_epoch=0,
        directories=directories,
    )


def first_image() -> MetadataImage:
    """Return an image with both brokers and no topic."""
    written: list[Record] = [
        records.FeatureLevelRecord(name=METADATA_VERSION, feature_level=LARGEST_LEVEL)
    ]
    written += [registered(BROKER, DIRECTORIES), registered(OTHER, (ANOTHER,))]
    return apply_all(EMPTY_IMAGE, tuple(written))


def assigned_in(image: MetadataImage) -> dict[LogId, Uuid]:
    """Return the directory in an image of each replica of the broker.

    A replica without a directory is as one that migrates.
    """
    return {
        LogId(topic_id, index): (*partition.directories, *(MIGRATING,) * len(partition.replicas))[
            partition.replicas.index(BROKER)
        ]
        for topic_id, partitions in image.partitions.items()
        for index, partition in partitions.items()
        if BROKER in partition.replicas
    }
