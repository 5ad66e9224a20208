"""A monitor with one invariant, and processes driven by a test."""

from msgspec.structs import replace

from kraftproof.cluster.simulated.disk.log_mirror import LogMirror
from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirrors
from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig, InvariantMonitor
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import Send
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.raft.fetch_rpc import TOPIC_ID
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import fetch_request, vote_request, vote_response
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.types import Uuid

SESSION_NS = milliseconds(2_000)
FETCH_NS = milliseconds(1_000)
CONFIG = ClusterConfig(
    voters=(1, 2, 3), timeouts=Timeouts(session_ns=SESSION_NS, fetch_ns=FETCH_NS)
)
IDLE = NodeStatus(
    role="follower",
    epoch=1,
    leader=2,
    high_watermark=0,
    flushed=0,
    log_end=0,
    image_offset=0,
    image_digest=0,
)
TOPIC = Uuid(b"t" * 16)


class Process:
    """One process of a node, as invariants see it."""

    def __init__(self, harness, node_id, incarnation=1, durable=None):
        self.node_id = node_id
        self.incarnation = incarnation
        self.status = None
        self.event = None
        self.log = LogMirror()
        self.image = EMPTY_IMAGE
        self.partitions = PartitionMirrors()
        self._harness = harness
        self._asleep_ns = 0
        self._requests = 0
        self.unanswered = []
        self.tables = []
        self.files = []
        for started in harness.monitor.on_started:
            started(self, durable or QuorumState())

    def now_ns(self):
        return self._harness.now_ns

    def running_ns(self):
        return self._harness.now_ns - self._asleep_ns

    def wall_ms(self):
        return self._harness.now_ns // 1_000_000

    def open_requests(self):
        return self.unanswered

    def table_sizes(self):
        return self.tables

    def log_files(self):
        return self.files

    def sleeps(self, duration_ns):
        """It is paused while time passes."""
        self._asleep_ns += duration_ns
        self._harness.now_ns += duration_ns

    # What it does

    def moves(self, **changes):
        """A step changes its status."""
        before, self.status = self.status, replace(self.status or IDLE, **changes)
        self._harness.monitor.status_changed(self, before, self.status)
        self.steps()

    def leads(self, epoch, **changes):
        self.moves(role="leader", epoch=epoch, leader=self.node_id, **changes)

    def steps(self):
        self._harness.monitor.step_ended(self)

    def appends(self, *written, epoch=1, is_durable=True):
        batch = batch_of(self.log.end_offset, epoch, *written)
        return self.appends_batch(batch, is_durable=is_durable)

    def appends_batch(self, batch, *, is_durable=True):
        self.log.append(batch)
        if is_durable:
            self.log.durable_end = self.log.end_offset
        for appended in self._harness.monitor.on_appended:
            appended(self, batch)
        return batch

    def truncates(self, end_offset):
        for truncated in self._harness.monitor.on_truncated:
            truncated(self, end_offset)
        self.log.truncate(end_offset)

    def persists(self, **state):
        for persisted in self._harness.monitor.on_persisted:
            persisted(self, QuorumState(**state))

    def sends(self, message, to=2):
        send = Send(destination=to, correlation=1, message=message, version=1, timeout_ns=1)
        for sent in self._harness.monitor.on_sent[type(message)]:
            sent(self, send)

    def loses(self, correlation=1):
        """A request is lost."""
        for lost in self._harness.monitor.on_unanswered:
            lost(self, correlation)

    def hears(self, voter, request, answer, correlation=1):
        send = Send(
            destination=voter,
            correlation=correlation,
            message=request,
            version=1,
            timeout_ns=1,
        )
        for heard in self._harness.monitor.on_response[type(request)]:
            heard(self, send, answer)

    def restarts(self, batches, durable=None):
        """Another process starts on what is left of this one's disk."""
        self.log.recovered(batches, is_durable=True)
        self.image = EMPTY_IMAGE
        for started in self._harness.monitor.on_started:
            started(self, durable or QuorumState())

    def receives(self, message, *, on_controller_listener=True, version=1):
        self._requests += 1
        event = Received(
            request=self._requests,
            message=message,
            version=version,
            on_controller_listener=on_controller_listener,
            principal=ANONYMOUS,
            client_host="h",
        )
        for received in self._harness.monitor.on_received[type(message)]:
            received(self, event)
        return event

    def replies(self, event, message):
        for replying in self._harness.monitor.on_replying[type(event.message)]:
            replying(self, event, message)
        for replied in self._harness.monitor.on_replied[type(event.message)]:
            replied(self, event, message)
        self.steps()

    def publishes(self, offset, image):
        self.image = image
        for published in self._harness.monitor.on_published:
            published(self, offset, image)

    def writes_snapshot(self, snapshot, image):
        for snapshotted in self._harness.monitor.on_snapshot_begun:
            snapshotted(self, snapshot, image)
        self.steps()

    def completes_snapshot(self, snapshot, image, data):
        """It writes one, and what stands in the file in the end is this."""
        self.writes_snapshot(snapshot, image)
        stored = StoredSnapshot(snapshot=snapshot, size=len(data))
        for completed in self._harness.monitor.on_snapshot_completed:
            completed(self, stored, lambda: data)

    def loads_snapshot(self, snapshot, image):
        for loaded in self._harness.monitor.on_snapshot_loaded:
            loaded(self, snapshot, image)

    def cleans(self):
        for cleaned in self._harness.monitor.on_log_cleaned:
            cleaned(self)

    def exits(self):
        for exited in self._harness.monitor.on_exited:
            exited(self)

    def opens(self):
        for opened in self._harness.monitor.on_listeners_opened:
            opened(self)


class MonitorHarness:
    """Time, and a monitor of the invariants given."""

    def __init__(self, *invariants):
        self.now_ns = 0
        self.monitor = InvariantMonitor(invariants)

    def process(self, node_id=1, **options):
        return Process(self, node_id, **options)

    @property
    def reported(self):
        return [violation.detail for violation in self.monitor.violations]


def vote(candidate, epoch, last_epoch=0, log_end=0):
    asked = vote_request.PartitionData(
        replica_epoch=epoch,
        replica_id=candidate,
        last_offset_epoch=last_epoch,
        last_offset=log_end,
    )
    return vote_request.VoteRequest(topics=(vote_request.TopicData(partitions=(asked,)),))


def fetch(replica, offset, *, epoch=7, last_fetched=7, cluster_id=None):
    asked = fetch_request.FetchPartition(
        current_leader_epoch=epoch, fetch_offset=offset, last_fetched_epoch=last_fetched
    )
    return fetch_request.FetchRequest(
        cluster_id=cluster_id,
        replica_state=fetch_request.ReplicaState(replica_id=replica),
        topics=(fetch_request.FetchTopic(topic_id=TOPIC_ID, partitions=(asked,)),),
    )


def granted(epoch=0, *, is_granted=True, error=0):
    partition = vote_response.PartitionData(
        leader_epoch=epoch, vote_granted=is_granted, error_code=error
    )
    return vote_response.VoteResponse(topics=(vote_response.TopicData(partitions=(partition,)),))


def batch_of(base_offset, epoch, *written):
    return Batch(
        base_offset=base_offset,
        epoch=epoch,
        timestamp_ms=0,
        records=written or (records.NoOpRecord(),),
    )


def broker(broker_id, epoch, *, fenced=False, incarnation=b"i"):
    return records.RegisterBrokerRecord(
        broker_id=broker_id,
        incarnation_id=Uuid(incarnation * 16),
        broker_epoch=epoch,
        end_points=(),
        features=(),
        fenced=fenced,
    )


def topic():
    return records.TopicRecord(name="t", topic_id=TOPIC)


def partition(*, isr, leader, replicas=(4, 5), index=0):
    return records.PartitionRecord(
        partition_id=index,
        topic_id=TOPIC,
        replicas=replicas,
        isr=isr,
        leader=leader,
        leader_epoch=0,
        partition_epoch=0,
    )


def image_of(*written):
    return apply_all(EMPTY_IMAGE, written)
