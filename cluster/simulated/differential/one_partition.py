"""An image with one partition that is in sync, for comparisons of its leader or of a follower."""

from typing import Final

from kraftproof.cluster.simulated.differential.bare_data_plane import registered
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

TOPIC: Final = Uuid(b"topic of leaders")
NAME: Final = "t"
LOG: Final = LogId(TOPIC, 0)
DIRECTORY: Final = Uuid(b"d" * 16)


def one_partition(
    replicas: tuple[int, ...],
    leader: int,
    epoch: int,
    configs: dict[str, str],
    *,
    brokers: tuple[int, ...] = (),
) -> MetadataImage:
    """Return an image with unfenced brokers, and with one partition that is in sync.

    The brokers are those of the replicas, if none are given.
    """
    topic_configs = (
        records.ConfigRecord(resource_type=2, resource_name=NAME, name=name, value=value)
        for name, value in configs.items()
    )
    partition = records.PartitionRecord(
        partition_id=0,
        topic_id=TOPIC,
        replicas=replicas,
        isr=replicas,
        leader=leader,
        leader_epoch=epoch,
        partition_epoch=0,
        directories=(DIRECTORY,) * len(replicas),
    )
    written: list[Record] = [registered(broker, (DIRECTORY,)) for broker in brokers or replicas]
    written += [records.TopicRecord(name=NAME, topic_id=TOPIC), *topic_configs, partition]
    return apply_all(EMPTY_IMAGE, tuple(written))
