"""The image of a controller that carries out a broker's reports of directories."""

from copy import copy
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.placements.placed_broker import (
    ANOTHER,
    Request,
    assigned_in,
    first_image,
    name_of,
    partition_of,
)
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import assign_replicas_to_dirs_response as module
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

SNAPSHOTS: Final = 0.1
"""Share of the broker's images that come as a snapshot."""
Answer = module.AssignReplicasToDirsResponse


class ControlledImage:
    """The committed image, which the broker's image follows."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._ways = copy(random)
        self.image = first_image()
        self._written: list[Record] = []
        """The records that the broker's image has not."""
        self.told: set[LogId] = set()
        """The replicas of the last report that the controller has carried out."""

    def commit(self, *written: Record) -> None:
        """Write records."""
        self.image = apply_all(self.image, written)
        self._written += written

    def take_written(self) -> list[Record] | None:
        """Return and forget the records that the broker's image has not; None for a snapshot."""
        written, self._written = self._written, []
        return None if self._ways.random() < SNAPSHOTS else written

    def assigned(self) -> dict[LogId, Uuid]:
        """Return the directory of each replica of the broker."""
        return assigned_in(self.image)

    def carry_out(self, request: Request, *, is_whole: bool) -> tuple[Answer, tuple[Record, ...]]:
        """Return the answer to a report, carried out in whole or in part, and the records."""
        changes: list[records.PartitionChangeRecord] = []
        places: list[module.DirectoryData] = []
        assigned = self.assigned()
        for entry in request.directories:
            topics = []
            for topic in entry.topics:
                results = []
                for part in topic.partitions:
                    log = LogId(topic.topic_id, part.partition_index)
                    is_done = log in assigned and (is_whole or self._random.random() < 0.5)
                    error = ErrorCode.NONE if is_done else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                    changes += [moved(log, entry.id)] if is_done else []
                    results.append(
                        module.PartitionData(partition_index=log.partition, error_code=error)
                    )
                topics.append(module.TopicData(topic_id=topic.topic_id, partitions=tuple(results)))
            places.append(module.DirectoryData(id=entry.id, topics=tuple(topics)))
        self.told = {LogId(one.topic_id, one.partition_id) for one in changes}
        return Answer(directories=tuple(places)), tuple(changes)


def new_topic(number: int, count: int, places: tuple[Uuid, ...]) -> tuple[Record, ...]:
    """Return the records of a topic with a number of partitions, all in the same directories."""
    topic_id = Uuid((1000 + number).to_bytes(16, "big"))
    partitions = (partition_of(topic_id, index, places) for index in range(count))
    return (records.TopicRecord(name=name_of(topic_id), topic_id=topic_id), *partitions)


def moved(log: LogId, place: Uuid) -> records.PartitionChangeRecord:
    """Return the record of another directory for a replica of the broker."""
    return records.PartitionChangeRecord(
        partition_id=log.partition, topic_id=log.topic_id, directories=(ANOTHER, place)
    )


def replaced(
    log: LogId, replicas: tuple[int, ...], places: tuple[Uuid, ...]
) -> records.PartitionChangeRecord:
    """Return the record of other replicas of a partition, with their directories."""
    return records.PartitionChangeRecord(
        partition_id=log.partition,
        topic_id=log.topic_id,
        replicas=replicas,
        directories=places,
    )


def logs_of(request: Request) -> dict[LogId, Uuid]:
    """Return the directory of each replica in a report."""
    return {
        LogId(topic.topic_id, part.partition_index): entry.id
        for entry in request.directories
        for topic in entry.topics
        for part in topic.partitions
    }
