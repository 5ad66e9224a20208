"""The knowledge that the invariants of partitions share: image, replicas, and durable topics.

An invariant about acknowledged records judges topics that flush each append
(flush.messages=1): with Kafka's default policy a loss of power may lose acknowledged records of
every replica, which Kafka declares. An unclean election may lose records as well.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from immutables import Map
from typing_extensions import override

from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirror
from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage, Partition
from kraftproof.node.wire.messages import (
    Message,
    delete_records_response,
    fetch_request,
    fetch_response,
    list_offsets_request,
    list_offsets_response,
    offset_for_leader_epoch_request,
    offset_for_leader_epoch_response,
    produce_request,
    produce_response,
)
from kraftproof.node.wire.types import ZERO_UUID, Uuid

Settings = tuple[tuple[str, str], ...]
"""The settings of every node's own file."""
NO_EPOCH: Final = -1
TOPIC_IDS_FROM: Final = 13
"""The first version of Fetch with topic ids."""
Part = tuple[str, Uuid, int, int, int]
"""Name and id of a topic, partition, the leader epoch that the client knows, and the error."""
Result = tuple[LogId | None, int, int]
"""The log, the leader epoch that the client knows, and the error."""
EpochRequest = offset_for_leader_epoch_request.OffsetForLeaderEpochRequest
EpochResponse = offset_for_leader_epoch_response.OffsetForLeaderEpochResponse
Fetched = fetch_response.PartitionData
ProduceResult = produce_response.PartitionProduceResponse
TOPIC: Final = 2
BROKER: Final = 4
"""Types of resources with configurations."""
ACKS_ALL: Final = -1
RUNNING: Final = 3
"""The state of a broker that follows the image with its own registration."""
_FLUSH: Final = ("flush.messages", "log.flush.interval.messages")
"""The names of a topic's and of a broker's setting."""
NO_CONFIGS: Final[Map[str, str]] = Map()
_UNCLEAN: Final = "unclean.leader.election.enable"


class NewestImage:
    """The newest committed image and the durable topics, which the invariants of a run share."""

    def __init__(self, static: Settings = ()) -> None:
        self.image = EMPTY_IMAGE
        self._static = dict(static)
        self._offset = 0
        self._broker_values: dict[str, set[str | None]] = {}
        """By setting: the values on the brokers in the newest image, as far as they were asked."""
        self._lossy: set[Uuid] = set()
        """Topics that may have lost a record, by policy or by an election; never a log again."""
        self._answer: fetch_response.FetchResponse | None = None
        """The last answer to a Fetch, which each of the invariants looks at in turn."""
        self._parts: Sequence[tuple[LogId, Fetched]] = ()
        self._asked: tuple[MetadataImage, fetch_request.FetchRequest, int] | None = None
        """The image, the Fetch and its version whose partitions were asked for last."""
        self._wishes: Sequence[tuple[LogId, fetch_request.FetchPartition]] = ()
        self._judged: tuple[Message, Message] | None = None
        """The last request and answer whose results were asked for."""
        self._results: Sequence[Result] = ()

    def follow(self, offset: int, image: MetadataImage) -> None:
        """Follow an image, unless a newer image is known."""
        if offset <= self._offset:
            return
        before, self._offset, self.image = self.image, offset, image
        self._answer = self._judged = None
        if before.configs is not image.configs:
            self._broker_values = {}
            self._lossy.update(topic for topic in image.topics if self._may_lose(topic))
        if before.partitions is not image.partitions:
            self._lossy.update(
                topic_id
                for topic_id, partitions in image.partitions.items()
                if before.partitions.get(topic_id) is not partitions
                and any(each.recovery_state for each in partitions.values())
            )

    def is_durable(self, topic_id: Uuid) -> bool:
        """Return whether an acknowledged record of a topic is never lost."""
        return (
            topic_id in self.image.topics
            and topic_id not in self._lossy
            and not self._may_lose(topic_id)
        )

    def of_brokers(self, name: str) -> set[str | None]:
        """Return the values of a setting on the brokers; None for the default."""
        if name in self._broker_values:
            return self._broker_values[name]
        found = self._broker_values[name] = {self._static.get(name)}
        for (kind, _), configs in self.image.configs.items():
            if kind == BROKER and name in configs:
                found.add(configs[name])
        return found

    def log_of(self, name: str, topic_id: Uuid, index: int) -> LogId | None:
        """Return the log of a partition; None for an unknown topic."""
        found = self.image.topic_ids.get(name, topic_id) if name else topic_id
        return LogId(found, index) if found in self.image.topics else None

    def fetched(self, answer: fetch_response.FetchResponse) -> Sequence[tuple[LogId, Fetched]]:
        """Return log and part of each partition that a Fetch answers without an error."""
        if answer is not self._answer:
            parts = []
            for topic in answer.responses:
                for part in topic.partitions:
                    log = self.log_of(topic.topic, topic.topic_id, part.partition_index)
                    if log is not None and not part.error_code:
                        parts.append((log, part))
            self._answer, self._parts = answer, parts
        return self._parts

    def wishes(
        self, image: MetadataImage, request: fetch_request.FetchRequest, version: int
    ) -> Sequence[tuple[LogId, fetch_request.FetchPartition]]:
        """Return log and wish of each partition of a Fetch whose topic is in an image."""
        last = self._asked
        if last is None or last[0] is not image or last[1] is not request or last[2] != version:
            self._wishes = list(fetched_partitions(image, request, version))
            self._asked = (image, request, version)
        return self._wishes

    def results(self, request: Message, answer: Message) -> Sequence[Result]:
        """Return the results of an answer about partitions, in the order of the request."""
        last = self._judged
        if last is None or last[0] is not request or last[1] is not answer:
            self._results = [
                (self.log_of(name, topic_id, index), epoch, error)
                for name, topic_id, index, epoch, error in results_of_parts(request, answer)
            ]
            self._judged = (request, answer)
        return self._results

    def _may_lose(self, topic_id: Uuid) -> bool:
        """Return whether the present settings of a topic allow a loss of acknowledged records."""
        own = self.image.configs.get((TOPIC, self.image.topics[topic_id].name), NO_CONFIGS)
        flush = own.get(_FLUSH[0])
        is_flushed = self.of_brokers(_FLUSH[1]) == {"1"} if flush is None else flush == "1"
        unclean = own.get(_UNCLEAN)
        is_unclean = "true" in self.of_brokers(_UNCLEAN) if unclean is None else unclean == "true"
        return is_unclean or not is_flushed


class Replicas(Invariant):
    """Knows the newest committed image, and the last process of each node."""

    def __init__(self, newest: NewestImage | None = None) -> None:
        super().__init__()
        self._newest = NewestImage() if newest is None else newest
        self._offset = 0
        self._image = EMPTY_IMAGE
        self._processes: dict[int, ProcessView] = {}
        self._is_durable = self._newest.is_durable
        self._of_brokers = self._newest.of_brokers
        self._log_of = self._newest.log_of
        self._fetched = self._newest.fetched

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._processes[process.node_id] = process

    @override
    def on_published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        if offset <= self._offset:
            return
        before, self._offset, self._image = self._image, offset, image
        self._newest.follow(offset, image)
        if before.partitions is not image.partitions:
            self.on_partitions_moved(process, before, image)

    def on_partitions_moved(
        self, process: ProcessView, before: MetadataImage, after: MetadataImage
    ) -> None:
        """Follow a newest image with other partitions."""

    def _partition(self, log: LogId) -> Partition | None:
        return partition_in(self._image, log)

    def _mirror(self, node_id: int, log: LogId) -> PartitionMirror | None:
        process = self._processes.get(node_id)
        return None if process is None else process.partitions.get(log)

    def _is_offline(self, node_id: int, mirror: PartitionMirror) -> bool:
        """Return whether the log directory of a node's replica has failed."""
        process = self._processes.get(node_id)
        return process is not None and mirror.directory in process.partitions.failed

    def _results(
        self, request: produce_request.ProduceRequest, response: produce_response.ProduceResponse
    ) -> Iterator[tuple[LogId, bytes, ProduceResult]]:
        """Yield log, sent batch and result of each partition of a Produce."""
        for topic, answered in zip(request.topic_data, response.responses, strict=True):
            pairs = zip(topic.partition_data, answered.partition_responses, strict=True)
            for data, result in pairs:
                log = self._log_of(topic.name, topic.topic_id, data.index)
                if log is not None:
                    yield log, data.records or b"", result


def results_of_parts(request: Message, answer: Message) -> Iterator[Part]:
    """Yield the partitions of a request with the results."""
    match request, answer:
        case produce_request.ProduceRequest(), produce_response.ProduceResponse():
            for topic, results in zip(request.topic_data, answer.responses, strict=True):
                for result in results.partition_responses:
                    yield topic.name, topic.topic_id, result.index, NO_EPOCH, result.error_code
        case fetch_request.FetchRequest(), fetch_response.FetchResponse():
            for asked, found in zip(request.topics, answer.responses, strict=False):
                for part, data in zip(asked.partitions, found.partitions, strict=True):
                    epoch, error = part.current_leader_epoch, data.error_code
                    yield asked.topic, asked.topic_id, part.partition, epoch, error
        case _:
            yield from _parts_of_lookups(request, answer)


def _parts_of_lookups(request: Message, answer: Message) -> Iterator[Part]:
    match request, answer:
        case list_offsets_request.ListOffsetsRequest(), list_offsets_response.ListOffsetsResponse():
            for each, listed in zip(request.topics, answer.topics, strict=True):
                for place, at in zip(each.partitions, listed.partitions, strict=True):
                    epoch, error = place.current_leader_epoch, at.error_code
                    yield each.name, ZERO_UUID, place.partition_index, epoch, error
        case EpochRequest(), EpochResponse():
            for one, ends in zip(request.topics, answer.topics, strict=True):
                for entry, end in zip(one.partitions, ends.partitions, strict=True):
                    epoch, error = entry.current_leader_epoch, end.error_code
                    yield one.topic, ZERO_UUID, entry.partition, epoch, error
        case _, delete_records_response.DeleteRecordsResponse():
            for deleted in answer.topics:
                for low in deleted.partitions:
                    yield deleted.name, ZERO_UUID, low.partition_index, NO_EPOCH, low.error_code
        case _:
            return


def fetched_partitions(
    image: MetadataImage, request: fetch_request.FetchRequest, version: int
) -> Iterator[tuple[LogId, fetch_request.FetchPartition]]:
    """Yield log and wish of each partition of a Fetch whose topic is in an image."""
    for topic in request.topics:
        has_id = version >= TOPIC_IDS_FROM
        topic_id = topic.topic_id if has_id else image.topic_ids.get(topic.topic)
        if topic_id is not None and topic_id in image.topics:
            for asked in topic.partitions:
                yield LogId(topic_id, asked.partition), asked


def partition_in(image: MetadataImage, log: LogId) -> Partition | None:
    """Return the state of a partition in an image."""
    partitions = image.partitions.get(log.topic_id)
    return None if partitions is None else partitions.get(log.partition)
