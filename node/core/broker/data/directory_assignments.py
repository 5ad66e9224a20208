"""Tell the controller in which log directory each replica of this broker is (KIP-858).

One request is under way, with at most 2250 replicas. A replica is told once the committed image
names another directory than the replica has, and counts as done when the image names the right
directory. A committed assignment is not told again while the image still has the partition as it
was told: an image with several changes may hold the assignment and a later one. See
node/core/controller/partitions/directories.py for the controller's side.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NO_NODE, Instant, Monotonic, NodeId
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.version import DIRECTORIES_FROM, METADATA_VERSION
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.replicas import Replicas
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    assign_replicas_to_dirs_request,
    assign_replicas_to_dirs_response,
)
from kraftproof.node.wire.types import Uuid

MOST_ASSIGNMENTS: Final = 2_250
"""Kafka's limit on the assignments of a request."""
ASSIGN_VERSION: Final = 0
_SHORTEST_BACKOFF: Final = 100_000_000
_LONGEST_BACKOFF: Final = 10_000_000_000
_MOST_DOUBLINGS: Final = 7


class _Assignment(NamedTuple):
    """The directory of a replica, and the partition that the report is about."""

    directory: Uuid
    partition_epoch: int


class DirectoryAssignments:
    """The AssignReplicasToDirs requests of a broker."""

    __slots__ = (
        "_broker_epoch",
        "_confirmed",
        "_failures",
        "_in_flight_to",
        "_leader",
        "_node_id",
        "_not_before",
        "_outbox",
        "_replicas",
        "_serial",
        "_timeout_ns",
    )

    def __init__(
        self,
        node_id: NodeId,
        replicas: Replicas,
        outbox: Outbox,
        *,
        leader: Callable[[], NodeId],
        broker_epoch: Callable[[], int],
        timeout_ns: int,
    ) -> None:
        self._node_id = node_id
        self._replicas = replicas
        self._outbox = outbox
        self._leader = leader
        """Returns the active controller, or NO_NODE."""
        self._broker_epoch = broker_epoch
        self._timeout_ns = timeout_ns
        self._in_flight_to: NodeId | None = None
        self._serial = 0
        self._failures = 0
        self._not_before = Monotonic(0)
        self._confirmed: dict[LogId, _Assignment] = {}
        """The committed assignments that the image of this broker does not hold yet."""

    def deadline(self) -> Monotonic | None:
        """Return the time of the next request, if a replica waits for one."""
        is_idle = self._in_flight_to is None
        return self._not_before if is_idle and self._has_open() else None

    def settle(self, image: MetadataImage | None, now: Instant) -> None:
        """Send the next assignments, unless a request is under way."""
        misplaced = self._replicas.misplaced
        for log in [log for log in self._confirmed if log not in misplaced]:
            del self._confirmed[log]
        if not misplaced:
            return
        leader = self._leader()
        if self._in_flight_to is not None and leader not in {NO_NODE, self._in_flight_to}:
            self._in_flight_to = None
            self._serial += 1
        if self._in_flight_to is not None or now.monotonic < self._not_before:
            return
        if image is None or image.features.get(METADATA_VERSION, 0) < DIRECTORIES_FROM:
            self._back_off(now)
            return
        epoch, sent = self._broker_epoch(), self._open()
        if sent and (leader == NO_NODE or epoch < 0):
            self._back_off(now)
        elif sent:
            self._send(leader, epoch, sent)

    def _has_open(self) -> bool:
        return any(map(self._is_open, self._replicas.misplaced))

    def _is_open(self, log: LogId) -> bool:
        return self._confirmed.get(log) != self._assignment(log)

    def _assignment(self, log: LogId) -> _Assignment:
        """Return the directory of a misplaced replica, beside the partition in the image."""
        image = self._replicas.image
        assert image is not None, "a replica is misplaced in an image"
        partition = image.partitions[log.topic_id][log.partition]
        return _Assignment(self._replicas.misplaced[log], partition.partition_epoch)

    def _open(self) -> dict[LogId, _Assignment]:
        """Return the next assignments to tell."""
        found = sorted(filter(self._is_open, self._replicas.misplaced))
        return {log: self._assignment(log) for log in found[:MOST_ASSIGNMENTS]}

    def _send(self, leader: NodeId, broker_epoch: int, sent: Mapping[LogId, _Assignment]) -> None:
        self._in_flight_to = leader
        self._serial += 1
        serial = self._serial

        def on_answer(message: Message | None, now: Instant) -> None:
            if serial == self._serial:
                self._in_flight_to = None
                self._answered(message, sent, now)

        request = self._request(sent, broker_epoch)
        self._outbox.send(leader, request, ASSIGN_VERSION, self._timeout_ns, on_answer)

    def _request(
        self, sent: Mapping[LogId, _Assignment], broker_epoch: int
    ) -> assign_replicas_to_dirs_request.AssignReplicasToDirsRequest:
        places: dict[Uuid, dict[Uuid, list[int]]] = {}
        for log, assignment in sent.items():
            topics = places.setdefault(assignment.directory, {})
            topics.setdefault(log.topic_id, []).append(log.partition)
        return assign_replicas_to_dirs_request.AssignReplicasToDirsRequest(
            broker_id=self._node_id,
            broker_epoch=broker_epoch,
            directories=tuple(
                assign_replicas_to_dirs_request.DirectoryData(
                    id=directory,
                    topics=tuple(
                        assign_replicas_to_dirs_request.TopicData(
                            topic_id=topic_id,
                            partitions=tuple(
                                assign_replicas_to_dirs_request.PartitionData(partition_index=index)
                                for index in indexes
                            ),
                        )
                        for topic_id, indexes in topics.items()
                    ),
                )
                for directory, topics in places.items()
            ),
        )

    def _answered(
        self, message: Message | None, sent: Mapping[LogId, _Assignment], now: Instant
    ) -> None:
        confirmed = _confirmed(message)
        self._confirmed.update(
            {log: told for log, told in sent.items() if (log, told.directory) in confirmed}
        )
        if len(confirmed) < len(sent):
            self._back_off(now)
        else:
            self._failures = 0

    def _back_off(self, now: Instant) -> None:
        wait = min(_SHORTEST_BACKOFF << min(self._failures, _MOST_DOUBLINGS), _LONGEST_BACKOFF)
        self._failures += 1
        self._not_before = Monotonic(now.monotonic + wait)


def _confirmed(message: Message | None) -> set[tuple[LogId, Uuid]]:
    """Return the assignments that an answer calls committed; none of a lost answer."""
    if not isinstance(message, assign_replicas_to_dirs_response.AssignReplicasToDirsResponse):
        return set()
    if message.error_code != ErrorCode.NONE:
        return set()
    return {
        (LogId(topic.topic_id, partition.partition_index), directory.id)
        for directory in message.directories
        for topic in directory.topics
        for partition in topic.partitions
        if partition.error_code == ErrorCode.NONE
    }
