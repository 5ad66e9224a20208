"""Hold the replicas of a broker, and follow the committed image with them.

A broker follows the image from the time at which the image holds the broker's own registration: an
older image would make live logs look deleted (KIP-858, KAFKA-14616). Then the broker creates the
log of each partition that names the broker, deletes the logs of others, and takes the roles.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from immutables import Map

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Instant, Monotonic, NodeId, earliest
from kraftproof.node.core.configs.dynamic import PRODUCER_EXPIRATION, broker_number
from kraftproof.node.core.events import Flushed
from kraftproof.node.core.log.recovered import RecoveredLog
from kraftproof.node.core.log_effects import CreateLog, DeleteLog
from kraftproof.node.core.metadata.image import (
    PARTITIONS_A_MARK,
    MetadataImage,
    Partition,
)
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.fetcher import Fetcher
from kraftproof.node.core.partition.log_index import LogIndex
from kraftproof.node.core.partition.producers import ProducerStates
from kraftproof.node.core.partition.recovered import recovered_index
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.core.partition.settings import TopicSettings, topic_settings
from kraftproof.node.wire.types import Uuid


class Replicas:
    """The replicas of this broker, by log."""

    def __init__(
        self,
        config: NodeConfig,
        outbox: Outbox,
        recovered: Sequence[RecoveredLog],
        *,
        broker_epoch: Callable[[], int],
    ) -> None:
        self._node_id = config.node_id
        self._policy = config.replication
        self._static = dict(config.static_configs)
        self._outbox = outbox
        self._broker_epoch = broker_epoch
        self._recovered = {log.log: log for log in recovered}
        """The logs on the disk that are not matched with the image yet."""
        self._image: MetadataImage | None = None
        self._partitions: dict[Uuid, Map[int, Partition]] = {}
        """The followed partitions by topic: an unchanged map needs no look."""
        self._fetchers: dict[NodeId, Fetcher] = {}
        self._followed: dict[NodeId, dict[LogId, Replica]] = {}
        self._changed: dict[LogId, None] = {}
        self.by_log: dict[LogId, Replica] = {}

    @property
    def image(self) -> MetadataImage | None:
        """Return the image that the replicas follow; None before the begin."""
        return self._image

    @property
    def producer_expiration_ms(self) -> int:
        """Return the age at which a producer's state expires, in milliseconds."""
        static = self._policy.producer_expiration_ms
        if self._image is None:
            return static
        return broker_number(self._image, self._node_id, PRODUCER_EXPIRATION, static)

    def follow(self, image: MetadataImage, now: Instant) -> None:
        """Follow a newer image; called only with an image that holds the own registration."""
        before, self._image = self._image, image
        if before is image:
            return
        configs_changed = before is None or before.configs is not image.configs
        if not configs_changed and before is not None and before.partitions is image.partitions:
            if before.brokers is not image.brokers:
                self._follow_brokers(image)
            return
        ours = self._own_partitions(image)
        self._drop_strays(ours)
        for topic_id in [each for each in self._partitions if each not in ours]:
            self._forget_topic(topic_id)
        for topic_id, indexes in ours.items():
            is_known = self._partitions.get(topic_id) is image.partitions[topic_id]
            if not is_known or configs_changed:
                self._follow_topic(image, topic_id, indexes, now)
        if before is None or before.brokers is not image.brokers:
            self._follow_brokers(image)

    def flushed(self, event: Flushed) -> None:
        """Take the end of an fsync of a partition's log."""
        replica = self.by_log.get(event.log)
        if replica is not None:
            replica.flushed(event)
            self.note_change(event.log)

    def note_change(self, log: LogId) -> None:
        """Remember a log whose waiting operations have to be tried."""
        self._changed[log] = None

    def take_changes(self) -> tuple[LogId, ...]:
        """Return and forget the changed logs, in order."""
        changed = tuple(self._changed)
        self._changed.clear()
        return changed

    def settle(self, now: Instant) -> None:
        """Send the Fetches that are due."""
        for leader in sorted(self._fetchers):
            self._fetchers[leader].settle(now)

    def deadline(self) -> Monotonic | None:
        """Return the time of the next Fetch."""
        return earliest(*[fetcher.deadline() for fetcher in self._fetchers.values()])

    def led(self) -> Iterator[Replica]:
        """Yield the replicas that lead, in order of logs."""
        for log in sorted(self.by_log):
            if self.by_log[log].leader is not None:
                yield self.by_log[log]

    def _own_partitions(self, image: MetadataImage) -> dict[Uuid, list[int]]:
        """Return the indexes of the partitions with a replica here, by topic."""
        marked = image.by_broker.replicas.get(self._node_id, Map())
        ours: dict[Uuid, list[int]] = {}
        for topic_id, entry in sorted(marked):
            bits, first = marked[topic_id, entry], entry * PARTITIONS_A_MARK
            indexes = range(first, first + bits.bit_length())
            found = [index for bit, index in enumerate(indexes) if bits >> bit & 1]
            ours.setdefault(topic_id, []).extend(found)
        return ours

    def _follow_topic(
        self, image: MetadataImage, topic_id: Uuid, indexes: list[int], now: Instant
    ) -> None:
        topic = image.topics[topic_id].name
        partitions = image.partitions[topic_id]
        settings = topic_settings(image, topic, self._node_id, self._static)
        before = self._partitions.get(topic_id, Map())
        for index in before:
            log = LogId(topic_id, index)
            if log in self.by_log and index not in indexes:
                self._delete(log)
        for index in indexes:
            log = LogId(topic_id, index)
            replica = self.by_log.get(log) or self._create(log, topic, settings, now)
            was_following = replica.follower
            replica.follow_image(partitions[index], image, settings, now)
            if replica.follower is not was_following:
                self._match_fetcher(replica)
            self.note_change(log)
        self._partitions[topic_id] = partitions

    def _follow_brokers(self, image: MetadataImage) -> None:
        """Tell the leaders about brokers: a fenced broker may not join, and a new one may."""
        for replica in self.led():
            if replica.leader is not None and replica.partition is not None:
                replica.leader.follow(replica.partition, image)
                self.note_change(replica.log)

    def _create(self, log: LogId, topic: str, settings: TopicSettings, now: Instant) -> Replica:
        recovered = self._recovered.pop(log, None)
        producers = ProducerStates()
        if recovered is None:
            index = LogIndex(log)
            self._outbox.emit(CreateLog(log=log, topic=topic))
        else:
            index = recovered_index(recovered, producers, now.wall // NANOSECONDS_PER_MS)
        replica = Replica(
            self._node_id, topic, index, producers, settings, self._policy, self._outbox
        )
        self.by_log[log] = replica
        return replica

    def _forget_topic(self, topic_id: Uuid) -> None:
        for index in sorted(self._partitions.pop(topic_id)):
            log = LogId(topic_id, index)
            if log in self.by_log:
                self._delete(log)

    def _delete(self, log: LogId) -> None:
        replica = self.by_log.pop(log)
        for followed in self._followed.values():
            followed.pop(log, None)
        replica.leader = replica.follower = None
        self.note_change(log)
        self._outbox.emit(DeleteLog(log=log))

    def _match_fetcher(self, replica: Replica) -> None:
        """Move a replica to the Fetcher of its leader."""
        for followed in self._followed.values():
            followed.pop(replica.log, None)
        if replica.follower is None:
            return
        leader = replica.follower.leader
        followed = self._followed.setdefault(leader, {})
        followed[replica.log] = replica
        if leader not in self._fetchers:
            self._fetchers[leader] = Fetcher(
                self._node_id,
                leader,
                followed,
                self._policy,
                self._outbox,
                broker_epoch=self._broker_epoch,
                on_changed=self.note_change,
            )

    def _drop_strays(self, ours: Mapping[Uuid, Sequence[int]]) -> None:
        """Set aside the recovered logs that the first followed image does not place here.

        The logs go before any log is created: a new topic may have the name of a deleted one.
        """
        for log in sorted(self._recovered):
            if log.partition not in ours.get(log.topic_id, ()):
                del self._recovered[log]
                self._outbox.emit(DeleteLog(log=log, is_stray=True))
