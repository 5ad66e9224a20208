"""The data world with several log directories on each broker. No tests here."""

from msgspec.structs import replace

from kraftproof.node.core.base.directory_ids import UNASSIGNED
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.controller.partitions.change import Target, change_partition
from kraftproof.node.core.controller.partitions.directories import assign_replicas_to_dirs
from kraftproof.node.core.controller.partitions.fencing import lose_directories
from kraftproof.node.wire.messages import assign_replicas_to_dirs_request, fetch_request
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid
from tests.support.node.client_batches import batch_bytes
from tests.support.node.data_clients import START_MS
from tests.support.node.data_messages import TOPIC, produce_message
from tests.support.node.data_messages import registration as plain_registration
from tests.support.node.data_world import DataWorld

AssignRequest = assign_replicas_to_dirs_request.AssignReplicasToDirsRequest


class DirectoryWorld(DataWorld):
    """Two brokers with two directories each, and a topic whose replicas are unassigned."""

    def __init__(self, *, level=21, **keywords):
        self.level = level
        self.told = []
        """The number of assignments in each request that the controller has received."""
        self.failed: dict[int, tuple[int, ...]] = {}
        """The numbers of the failed directories of each broker."""
        self.damaged: dict[int, tuple[int, ...]] = {}
        """The numbers of the partitions with a damaged log on each broker."""
        super().__init__(2, **keywords)

    @staticmethod
    def directory(node_id, number):
        return Uuid(bytes([200 + 10 * node_id + number] * 16))

    def directories_of(self, node_id):
        working = [each for each in (1, 2) if each not in self.failed.get(node_id, ())]
        return tuple(self.directory(node_id, each) for each in working)

    def has_failed_at_start(self, node_id):
        return bool(self.failed.get(node_id))

    def damaged_at_start(self, node_id):
        placed = self.brokers[node_id].placed if node_id in self.damaged else {}
        logs = [LogId(TOPIC, index) for index in self.damaged.get(node_id, ())]
        return tuple((log, placed[log]) for log in logs)

    def registration(self, node_id, epoch, *, incarnation=0):
        record = plain_registration(node_id, epoch, incarnation=incarnation)
        return replace(record, log_dirs=self.directories_of(node_id))

    def begin(self):
        level = self.level
        self.write(records.FeatureLevelRecord(name="metadata.version", feature_level=level))

    def new_directories(self, replicas):
        return (UNASSIGNED,) * len(replicas) if self.level >= 17 else ()

    def decide(self, message):
        if not isinstance(message, AssignRequest):
            return super().decide(message)
        topics = [topic for each in message.directories for topic in each.topics]
        self.told.append(sum(len(topic.partitions) for topic in topics))
        outcome = assign_replicas_to_dirs(self.image, message)
        self.write(*outcome.records)
        return outcome.reply

    def places(self, node_id=1):
        """The directory of each partition on a broker, as the image has them."""
        found = []
        for _, partition in sorted(self.image.partitions[TOPIC].items()):
            at = dict(zip(partition.replicas, partition.directories, strict=False))
            found.append(at.get(node_id))
        return found

    def fail_directory(self, node_id, number):
        """Let a directory fail: the broker hears of it, and then the controller."""
        directory = self.directory(node_id, number)
        self.failed[node_id] = (*self.failed.get(node_id, ()), number)
        broker = self.brokers[node_id]
        for log in [log for log in broker.disk if broker.placed[log] == directory]:
            del broker.disk[log]
        broker.data.directory_failed(directory)
        broker.advance()
        registered = self.image.brokers[node_id]
        self.write(*lose_directories(self.image, registered, {directory}))

    def restart_without(self, node_id, number):
        """Start a new process, which can't open a directory."""
        self.failed[node_id] = (number,)
        was = self.brokers[node_id]
        gone = self.directory(node_id, number)
        kept = {log: found for log, found in was.disk.items() if was.placed[log] != gone}
        self.restart(node_id, disk=kept)

    def restart_with_damage(self, node_id, index):
        """Start a new process, which takes the log of a partition for damaged."""
        self.damaged[node_id] = (index,)
        damaged = LogId(TOPIC, index)
        disk = self.brokers[node_id].disk
        self.restart(node_id, disk={log: found for log, found in disk.items() if log != damaged})

    def move(self, index, replicas):
        """Give a partition other replicas at once."""
        partition = self.image.partitions[TOPIC][index]
        target = Target(replicas=replicas, isr=tuple(each for each in replicas if each == 2))
        self.write(change_partition(self.image, partition, self.image.may_lead, target))

    def produce_to(self, node_id, index, **keywords):
        data = batch_bytes(1, timestamp_ms=START_MS + self.time_ms)
        message = produce_message(data, partition=index, **keywords)
        return self.request(self.brokers[node_id], message, 12)

    def fetch_from(self, node_id, index):
        part = fetch_request.FetchPartition(partition=index, partition_max_bytes=1 << 20)
        message = fetch_request.FetchRequest(
            replica_id=-1,
            max_wait_ms=0,
            min_bytes=1,
            max_bytes=1 << 20,
            session_epoch=-1,
            topics=(fetch_request.FetchTopic(topic="t", partitions=(part,)),),
        )
        return self.request(self.brokers[node_id], message, 12)
