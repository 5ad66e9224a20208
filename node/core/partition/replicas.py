"""Hold the replicas of a broker, and follow the committed image with them.

A broker follows the image from the time at which the image holds the broker's own registration: an
older image would make live logs look deleted (KIP-858, KAFKA-14616). Then the broker creates the
log of each partition that names the broker, deletes the logs of others, and takes the roles.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from immutables import Map

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.directory_ids import LOST, MIGRATING, UNASSIGNED, is_reserved
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Instant, Monotonic, NodeId, earliest
from kraftproof.node.core.configs.dynamic import PRODUCER_EXPIRATION, broker_number
from kraftproof.node.core.events import Flushed
from kraftproof.node.core.log.recovered import RecoveredLog
from kraftproof.node.core.log_effects import CreateLog, DeleteLog
from kraftproof.node.core.metadata.changed_topics import ChangedTopics
from kraftproof.node.core.metadata.image import MetadataImage, Partition
from kraftproof.node.core.metadata.version import METADATA_VERSION_LEVEL, level_of
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.fetcher import Fetcher
from kraftproof.node.core.partition.log_directories import LogDirectories, assigned_directory
from kraftproof.node.core.partition.log_index import LogIndex
from kraftproof.node.core.partition.own_partitions import own_partitions
from kraftproof.node.core.partition.producers import ProducerStates
from kraftproof.node.core.partition.recovered import recovered_index
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.core.partition.settings import TopicSettings, has_new_settings, topic_settings
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
        self._static = Map(config.static_configs)
        self._outbox = outbox
        self._broker_epoch = broker_epoch
        self._recovered = {log.log: log for log in recovered}
        """The logs on the disk that are not matched with the image yet."""
        self._image: MetadataImage | None = None
        self._has_followed = False
        """Whether the replicas have followed a whole image."""
        self._partitions: dict[Uuid, Map[int, Partition]] = {}
        """The followed partitions by topic: an unchanged map needs no look."""
        self._fetchers: dict[NodeId, Fetcher] = {}
        self._followed: dict[NodeId, dict[LogId, Replica]] = {}
        self._changed: dict[LogId, None] = {}
        self.directories = LogDirectories(config.log_dirs, has_failed=bool(config.failed_log_dirs))
        for directory in (
            *(log.directory for log in recovered),
            *dict(config.damaged_logs).values(),
        ):
            self.directories.count(directory, 1)
        self.by_log: dict[LogId, Replica] = {}
        self.offline: dict[LogId, Uuid] = dict(config.damaged_logs)
        """The replicas whose log is damaged, or whose directory has failed; with the directory."""
        self.misplaced: dict[LogId, Uuid] = {}
        """The replicas whose directory is not that of the image; with their directory."""

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

    @property
    def level(self) -> int:
        """Return the level of metadata.version in the followed image."""
        return METADATA_VERSION_LEVEL if self._image is None else level_of(self._image)

    def follow(self, image: MetadataImage, changed: ChangedTopics, now: Instant) -> None:
        """Follow a newer image; called only with an image that holds the own registration."""
        before, self._image = self._image, image
        if before is image:
            return
        topic_ids = changed.take(before, image)
        ours = own_partitions(image, self._node_id, topic_ids)
        if topic_ids is None:
            self._drop_strays(ours)
        known = self._partitions if topic_ids is None else topic_ids
        for topic_id in [each for each in known if each in self._partitions and each not in ours]:
            self._forget_topic(topic_id)
        for topic_id, indexes in ours.items():
            is_known = self._partitions.get(topic_id) is image.partitions[topic_id]
            if not is_known or has_new_settings(before, image, topic_id, self._node_id):
                self._follow_topic(image, topic_id, indexes, now)
        if before is None or before.brokers is not image.brokers:
            self._follow_brokers(image)
        self._has_followed = True

    def fail(self, directory: Uuid) -> None:
        """Take the replicas of a failed directory offline."""
        self.directories.fail(directory)
        for log, replica in list(self.by_log.items()):
            if replica.directory == directory:
                self._end(log)
                self.offline[log] = directory
                if replica.partition is not None:
                    self._match_offline(log, replica.partition)
        for log, recovered in list(self._recovered.items()):
            if recovered.directory == directory:
                del self._recovered[log]
                self.offline[log] = directory

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
        changed, self._changed = tuple(self._changed), {}
        return changed

    def settle(self, now: Instant) -> None:
        """Send the Fetches that are due."""
        for leader in sorted(self._fetchers):
            self._fetchers[leader].settle(now)

    def deadline(self) -> Monotonic | None:
        """Return the time of the next Fetch."""
        fetchers = self._fetchers.values()
        return earliest(*[fetcher.deadline() for fetcher in fetchers]) if fetchers else None

    def led(self) -> Iterator[Replica]:
        """Yield the replicas that lead, in order of logs."""
        for log in sorted(self.by_log):
            if self.by_log[log].leader is not None:
                yield self.by_log[log]

    def _follow_topic(
        self, image: MetadataImage, topic_id: Uuid, indexes: list[int], now: Instant
    ) -> None:
        topic = image.topics[topic_id].name
        partitions = image.partitions[topic_id]
        settings = topic_settings(image, topic, self._node_id, self._static)
        before = self._partitions.get(topic_id, Map())
        for index in before:
            if index not in indexes:
                self._remove(LogId(topic_id, index))
        for index in indexes:
            log = LogId(topic_id, index)
            replica = self.by_log.get(log)
            if replica is None and log not in self.offline:
                replica = self._create(log, topic, settings, partitions[index], now)
            if replica is None:
                self._match_offline(log, partitions[index])
                continue
            was_following = replica.follower
            replica.follow_image(partitions[index], image, settings, now)
            if replica.follower is not was_following:
                self._match_fetcher(replica)
            self._match_directory(replica, partitions[index])
            self.note_change(log)
        self._partitions[topic_id] = partitions

    def _follow_brokers(self, image: MetadataImage) -> None:
        """Tell the leaders about brokers: a fenced broker may not join, and a new one may."""
        for replica in self.led():
            if replica.leader is not None and replica.partition is not None:
                replica.leader.follow(replica.partition, image.brokers)
                self.note_change(replica.log)

    def _create(
        self,
        log: LogId,
        topic: str,
        settings: TopicSettings,
        partition: Partition,
        now: Instant,
    ) -> Replica | None:
        """Return the replica of a recovered or of a new log; None if its directory has failed."""
        recovered = self._recovered.pop(log, None)
        producers = ProducerStates()
        if recovered is None:
            placed = self._place(partition)
            if placed is None:
                self.offline[log] = assigned_directory(partition, self._node_id)
                return None
            directory = placed
            index = LogIndex(log)
            self.directories.count(directory, 1)
            self._outbox.emit(CreateLog(log=log, topic=topic, directory=directory))
        else:
            directory = recovered.directory
            index = recovered_index(recovered, producers, now.wall // NANOSECONDS_PER_MS)
        replica = Replica(
            self._node_id, topic, index, producers, settings, self._policy, self._outbox, directory
        )
        self.by_log[log] = replica
        return replica

    def _place(self, partition: Partition) -> Uuid | None:
        """Return the directory of a log that this broker has not; None if it has failed.

        With a failed directory at the start, an unassigned replica may be in that directory.
        """
        assigned = assigned_directory(partition, self._node_id)
        is_start = not self._has_followed and self.directories.has_failed
        if is_start and assigned not in self.directories.online:
            return None
        return self.directories.place(assigned)

    def _match_directory(self, replica: Replica, partition: Partition) -> None:
        """Note a replica whose directory the controller must be told."""
        known = assigned_directory(partition, self._node_id)
        if replica.directory != known and not is_reserved(replica.directory):
            self.misplaced[replica.log] = replica.directory
        else:
            self.misplaced.pop(replica.log, None)

    def _match_offline(self, log: LogId, partition: Partition) -> None:
        """Note an offline replica that the controller takes for a working replica (KIP-858)."""
        known = assigned_directory(partition, self._node_id)
        if known in {MIGRATING, UNASSIGNED} or known in self.directories.online:
            self.misplaced[log] = LOST
        else:
            self.misplaced.pop(log, None)

    def _forget_topic(self, topic_id: Uuid) -> None:
        for index in sorted(self._partitions.pop(topic_id)):
            self._remove(LogId(topic_id, index))

    def _remove(self, log: LogId) -> None:
        """Delete the log of a replica that the image no longer places here, if it works."""
        self.offline.pop(log, None)
        self.misplaced.pop(log, None)
        if log in self.by_log:
            replica = self._end(log)
            self.directories.count(replica.directory, -1)
            self._outbox.emit(DeleteLog(log=log))

    def _end(self, log: LogId) -> Replica:
        """End the roles of a replica, and return the replica."""
        replica = self.by_log.pop(log)
        self.misplaced.pop(log, None)
        for followed in self._followed.values():
            followed.pop(log, None)
        replica.leader = replica.follower = None
        self.note_change(log)
        return replica

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
                level=lambda: self.level,
                on_changed=self.note_change,
            )

    def _drop_strays(self, ours: Mapping[Uuid, Sequence[int]]) -> None:
        """Set aside the recovered logs that the first followed image does not place here.

        The logs go before any log is created: a new topic may have the name of a deleted one.
        """
        for log in sorted(self._recovered):
            if log.partition not in ours.get(log.topic_id, ()):
                self.directories.count(self._recovered.pop(log).directory, -1)
                self._outbox.emit(DeleteLog(log=log, is_stray=True))
