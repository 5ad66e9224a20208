"""Brokers of the data plane without shell, disk and quorum. No tests here.

The world executes the effects: appends go to lists of batches, sends go to the other broker or to
the real decisions of the controller, and answers come back. A test moves the time, drops messages,
and lets brokers see the image late.
"""

from collections import deque
from random import Random

from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, WallClock
from kraftproof.node.core.controller.partitions.isr import alter_partition
from kraftproof.node.core.controller.producer_ids import allocate_producer_ids
from kraftproof.node.core.effects import Append, EndRequest, Flush, Reply, Send, Truncate
from kraftproof.node.core.events import Flushed, Received, TimestampFound
from kraftproof.node.core.log_effects import (
    ConfigureLog,
    CreateLog,
    DeleteLog,
    FindTimestamp,
    NoteEpoch,
    RaiseLogStart,
    ReplyWithBatches,
    ReplyWithVolumes,
    RestartLog,
    WriteCheckpoints,
)
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.messages import (
    allocate_producer_ids_request,
    alter_partition_request,
)
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records import metadata as records
from tests.support.node.data_broker import LOG, TOPIC, DataBroker
from tests.support.node.data_clients import START_MS, DataClients
from tests.support.node.data_hooks import DataHooks
from tests.support.node.data_messages import answer_with_batches

__all__ = ("LOG", "TOPIC", "DataWorld")
MS = 1_000_000
POLICY = ReplicationPolicy(
    is_enabled=True, lag_ns=3000 * MS, fetch_wait_ms=100, fetch_backoff_ns=200 * MS
)


class DataWorld(DataClients, DataHooks):
    """Brokers 1 to `count`, and a topic with one partition on all of them."""

    def __init__(
        self, count=3, *, configs=None, seed=0, policy=POLICY, replicas=None, partitions=1
    ):
        self.random = Random(seed)
        self.policy = policy
        self.time_ms = 0
        self.controller = NodeId(100)
        self.queue: deque = deque()
        """Deliveries under way: the test delivers, reorders or drops."""
        self.loss = 0.0
        self.hold_flushes = False
        self.flushes: list = []
        self.checkpoints, self.epochs, self.starts = {}, {}, {}
        self.effects: list = []
        self.requests = 0
        self.closed: list[int] = []
        self.missed: dict[int, list] = {}
        """The messages of a paused process."""
        self.image = EMPTY_IMAGE
        ids = tuple(range(1, count + 1))
        self.begin()
        for node_id in ids:
            self.write(self.registration(node_id, 10 + node_id))
        self.write(records.TopicRecord(name="t", topic_id=TOPIC))
        for name, value in (configs or {}).items():
            self.write(
                records.ConfigRecord(resource_type=2, resource_name="t", name=name, value=value)
            )
        placed = replicas or ids
        for index in range(partitions):
            self.write(
                records.PartitionRecord(
                    partition_id=index,
                    topic_id=TOPIC,
                    replicas=placed,
                    isr=placed,
                    leader=placed[0],
                    leader_epoch=0,
                    partition_epoch=0,
                    directories=self.new_directories(placed),
                )
            )
        self.brokers = {node_id: DataBroker(self, node_id) for node_id in ids}

    @property
    def now(self):
        return Instant(Monotonic(self.time_ms * MS), WallClock((START_MS + self.time_ms) * MS))

    @property
    def partition(self):
        return self.image.partitions[TOPIC][0]

    def write(self, *written):
        """Commit records; the brokers see them with `publish`."""
        self.image = apply_all(self.image, written)

    def publish(self, *node_ids):
        """Let the brokers see the image, all of them without names."""
        for node_id in node_ids or sorted(self.brokers):
            if self.brokers[node_id].is_up:
                self.brokers[node_id].see(self.image)

    def execute(self, broker, effect):
        """Carry out one effect of a broker."""
        self.effects.append((broker.node_id, effect))
        if not self._execute_on_log(broker, effect) and not self._execute_answer(broker, effect):
            raise AssertionError(f"the world does not execute {effect}")

    def _execute_on_log(self, broker, effect):
        disk = broker.disk
        match effect:
            case CreateLog():
                assert effect.log not in disk, "a log is created once"
                broker.placed[effect.log] = effect.directory
                disk[effect.log] = []
            case DeleteLog():
                del disk[effect.log]
            case Append(log=log, batch=batch):
                end = disk[log][-1].next_offset if disk[log] else None
                assert end is None or end == batch.base_offset, "no gap in a log"
                disk[log].append(batch)
            case Truncate(log=log, end_offset=end):
                disk[log] = [batch for batch in disk[log] if batch.next_offset <= end]
            case RestartLog(log=log):
                disk[log] = []
            case RaiseLogStart() | NoteEpoch() | ConfigureLog():
                pass
            case _:
                return False
        return True

    def _execute_answer(self, broker, effect):
        match effect:
            case WriteCheckpoints(high_watermarks=offsets):
                self.checkpoints |= {(broker.node_id, log): offset for log, offset in offsets}
            case Flush():
                self._flush(broker, effect)
            case FindTimestamp():
                self._find(broker, effect)
            case Send():
                self.queue.append((broker, effect))
            case Reply(request=request, message=message):
                broker.answers[request] = message
            case ReplyWithVolumes(request=request, message=message):
                broker.answers[request] = message
            case ReplyWithBatches():
                answer_with_batches(broker, effect, self.now)
            case EndRequest(request=request, closes_connection=closes):
                broker.answers[request] = None
                if closes:
                    self.closed.append(request)
            case _:
                return False
        return True

    def _flush(self, broker, effect):
        done = Flushed(log=effect.log, generation=effect.generation, end_offset=effect.end_offset)
        self.flushes.append((broker, done))
        if not self.hold_flushes:
            self.queue.append((broker, done))

    def _find(self, broker, effect):
        found = (-1, -1, -1)
        for batch in broker.disk[effect.log]:
            if batch.max_timestamp_ms >= effect.timestamp_ms and found[0] < 0:
                found = (batch.base_offset, batch.max_timestamp_ms, batch.epoch)
        offset, timestamp_ms, epoch = found
        event = TimestampFound(
            token=effect.token, offset=offset, timestamp_ms=timestamp_ms, epoch=epoch
        )
        self.queue.append((broker, event))

    def deliver(self, place=0):
        """Deliver one message: a request to its end, or an answer that is already there."""
        self.queue.rotate(-place)
        sender, item = self.queue.popleft()
        self.queue.rotate(place)
        if self.brokers[sender.node_id] is not sender:
            return
        if not sender.is_up:
            self.missed.setdefault(sender.node_id, []).append(item)
            return
        if isinstance(item, Flushed):
            sender.data.flushed(item)
            sender.advance()
        elif isinstance(item, TimestampFound):
            sender.data.timestamp_found(item)
            sender.advance()
        elif isinstance(item, Send):
            self._send(sender, item)
        else:
            self._await(sender, *item)

    def _send(self, sender, effect):
        if self.random.random() < self.loss:
            self._answer(sender, effect, None)
        elif effect.is_to_broker:
            target = self.brokers.get(effect.destination)
            if target is None or not target.is_up:
                self._answer(sender, effect, None)
                return
            request = self.request(target, effect.message, effect.version)
            self.queue.append((sender, (effect, target, request)))
        else:
            self._answer(sender, effect, self.decide(effect.message))

    def _await(self, sender, effect, target, request):
        """Give the answer to a request of a broker back, or wait on."""
        if not target.is_up or self.brokers[target.node_id] is not target:
            self._answer(sender, effect, None)
        elif request in target.answers:
            answer = target.answers.pop(request)
            self._answer(sender, effect, None if self.random.random() < self.loss else answer)
        else:
            self.queue.append((sender, (effect, target, request)))

    def _answer(self, sender, effect, message):
        sender.outbox.resume(effect.correlation, message, self.now)
        sender.advance()

    def decide(self, message):
        """Decide as the active controller, and let every broker see the records."""
        match message:
            case alter_partition_request.AlterPartitionRequest():
                outcome = alter_partition(self.image, message)
            case allocate_producer_ids_request.AllocateProducerIdsRequest():
                outcome = allocate_producer_ids(self.image, message)
            case _:
                raise AssertionError(f"the controller does not decide {message}")
        self.write(*outcome.records)
        return outcome.reply

    def request(self, broker, message, version, client_id=""):
        """Send a request to a broker; return its token."""
        self.requests += 1
        broker.receive(
            Received(
                request=self.requests,
                message=message,
                version=version,
                on_controller_listener=False,
                principal=ANONYMOUS,
                client_host="127.0.0.1",
                client_id=client_id,
            )
        )
        return self.requests

    def run(self, for_ms=1000, step_ms=10):
        """Let time pass: deliver everything, and tick."""
        end = self.time_ms + for_ms
        while self.time_ms < end:
            self.settle()
            self.time_ms += step_ms
            for broker in list(self.brokers.values()):
                if broker.is_up:
                    broker.tick()
        self.settle()

    def settle(self, most=2000):
        """Deliver until only waiting requests are left."""
        for _ in range(most):
            busy = [place for place, item in enumerate(self.queue) if self._is_ready(item)]
            if not busy:
                return
            self.deliver(busy[0])
        raise AssertionError("the brokers exchange messages without an end")

    def _is_ready(self, entry):
        _, item = entry
        if not isinstance(item, tuple):
            return True
        _, target, request = item
        is_alive = target.is_up and self.brokers[target.node_id] is target
        return not is_alive or request in target.answers

    def kill(self, node_id):
        """End a process; the page cache keeps what was written."""
        self.brokers[node_id].is_up = False

    def restart(self, node_id, *, disk=None):
        """Start a new process with a new broker epoch, fenced until `unfence`."""
        was = self.brokers[node_id]
        was.is_up = False
        epoch = max(broker.epoch for broker in self.image.brokers.values()) + 1
        self.write(self.registration(node_id, epoch, incarnation=was.incarnation + 1))
        self.brokers[node_id] = DataBroker(
            self, node_id, was.disk if disk is None else disk, was.incarnation + 1
        )
