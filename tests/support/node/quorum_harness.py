"""A quorum in memory for tests: nodes on one clock, messages that wait until they are delivered.

Real: node/core/raft. Played: the disk (what a crash may lose), the network (links may be cut),
the shell (effects in order, time-outs of Sends). Not: the simulator; nothing happens here that a
test does not ask for.
"""

from random import Random

from kraftproof.node.core.base.config import NodeConfig, Timeouts, Voter
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, Offset, WallClock
from kraftproof.node.core.effects import (
    Append,
    Effect,
    Exit,
    Flush,
    PersistQuorumState,
    Reply,
    Send,
    Truncate,
)
from kraftproof.node.core.events import Flushed, Received
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.raft.raft import Raft
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records.metadata import TopicRecord
from kraftproof.node.wire.types import ZERO_UUID
from tests.support.node.quorum_member import Disk, Member, Message, deadline_of

CLUSTER = "a-cluster"
DEFAULTS = Timeouts()


class Quorum:
    """Voters 1..n and observers after them."""

    def __init__(self, voters, observers=0, *, seed=0, timeouts=DEFAULTS, cluster_ids=None):
        self.now = 1_000_000_000
        self.random = Random(seed)
        self.messages: list[Message] = []
        self.cut: set[tuple[int, int]] = set()
        self.trace = []
        self.hears: dict[int, int | None] = {}
        self._tokens = 0
        known = tuple(
            Voter(node_id=NodeId(node_id), host=f"node-{node_id}", port=9093)
            for node_id in range(1, voters + 1)
        )
        self.members = {}
        for node_id in range(1, voters + observers + 1):
            config = NodeConfig(
                node_id=NodeId(node_id),
                cluster_id=(cluster_ids or {}).get(node_id, CLUSTER),
                is_controller=node_id <= voters,
                is_broker=node_id > voters,
                voters=known,
                endpoints=(),
                timeouts=timeouts,
            )
            self.members[node_id] = Member(node_id, config, Disk())

    @property
    def instant(self):
        return Instant(Monotonic(self.now), WallClock(1_700_000_000_000_000_000 + self.now))

    def start(self, node_id):
        member = self.members[node_id]
        member.starts += 1
        member.exit = None
        member.shown = ("", "high watermark 0")
        member.outbox = Outbox()
        member.raft = Raft(
            member.config,
            member.disk.durable,
            Log(member.disk.batches),
            member.outbox,
            Random(self.random.randrange(1 << 30)),
            self.instant,
        )
        member.raft.start(self.instant)
        self.settle(member)

    def crash(self, node_id, *, lose_unflushed=False):
        member = self.members[node_id]
        if lose_unflushed:
            member.disk.cut(member.disk.flushed)
        member.raft = None
        member.flushes, member.sends, member.requests = [], {}, {}
        self.messages = [
            message
            for message in self.messages
            if node_id not in {message.source, message.destination}
        ]

    # One node's steps

    def do(self, node_id, action):
        """Run `action(raft)` as one step of this node."""
        member = self.members[node_id]
        member.raft.check_leadership(self.instant)
        action(member.raft)
        self.settle(member)

    def settle(self, member):
        member.raft.settle(self.instant)
        self.note_changes(member)
        for effect in member.outbox.drain():
            if member.exit is None:
                self.trace.append((member.node_id, effect))
                self.carry_out(member, effect)
        if member.exit is not None:
            self.crash(member.node_id)

    def note_changes(self, member):
        """Put a changed role or high watermark into the trace, before the step's effects."""
        raft = member.raft
        shown = (f"{raft.role.name} in epoch {raft.epoch}", f"high watermark {raft.high_watermark}")
        for word in shown:
            if word not in member.shown:
                self.trace.append((member.node_id, word))
        member.shown = shown

    def carry_out(self, member, effect: Effect):
        match effect:
            case PersistQuorumState():
                member.disk.durable = effect.state
            case Append():
                member.disk.batches.append(effect.batch)
            case Truncate():
                member.disk.cut(effect.end_offset)
            case Flush():
                member.flushes.append(effect)
            case Send():
                member.sends[effect.correlation] = self.now + effect.timeout_ns
                self._post(member, effect.destination, effect, is_request=True)
            case Reply():
                destination, correlation, version = member.requests.pop(effect.request)
                if destination is not None:
                    message = Message(
                        member.node_id, destination, effect.message, correlation, version, False
                    )
                    self.messages.append(message)
            case Exit():
                member.exit = effect

    def _post(self, member, destination, send, *, is_request):
        self.messages.append(
            Message(
                member.node_id,
                destination,
                send.message,
                send.correlation,
                send.version,
                is_request,
            )
        )

    def tick(self, node_id):
        self.do(node_id, lambda raft: raft.tick(self.instant))

    def propose(self, node_id, name):
        """Append one record, unless the node leads no more by the time that it is its turn."""
        record = TopicRecord(name=name, topic_id=ZERO_UUID)
        self.do(
            node_id,
            lambda raft: raft.propose((record,), self.instant) if raft.is_leader else None,
        )

    def request(self, node_id, payload, version, source=None, correlation=0):
        """Hand a request in; its answer goes to `source`, or only to the trace."""
        self._tokens += 1
        self.hears[self._tokens] = source
        self.members[node_id].requests[self._tokens] = (source, correlation, version)
        event = Received(
            request=self._tokens,
            message=payload,
            version=version,
            on_controller_listener=True,
            principal=ANONYMOUS,
            client_host="127.0.0.1",
        )
        self.do(node_id, lambda raft: raft.receive(event, self.instant))

    def flush(self, node_id):
        """Complete the oldest fsync."""
        member = self.members[node_id]
        flush = member.flushes.pop(0)
        if flush.generation == member.raft.log.generation:
            member.disk.flushed = max(member.disk.flushed, flush.end_offset)
        event = Flushed(
            log=flush.log, generation=flush.generation, end_offset=Offset(flush.end_offset)
        )
        self.do(node_id, lambda raft: raft.flushed_event(event))

    # The network

    def deliver_one(self, message):
        """Deliver a message that is already out of the queue; false if its link is cut."""
        member = self.members[message.destination]
        if (message.source, message.destination) in self.cut or not member.is_up:
            return False
        if message.is_request:
            source = message.source
            self.request(
                member.node_id, message.payload, message.version, source, message.correlation
            )
        elif member.sends.pop(message.correlation, None) is not None:
            self._resume(member, message.correlation, message.payload)
        return True

    def lose(self, message):
        """The connection breaks: whoever has asked learns that no answer will come."""
        asker = message.source if message.is_request else message.destination
        member = self.members[asker]
        if member.is_up and member.sends.pop(message.correlation, None) is not None:
            self._resume(member, message.correlation, None)

    def _resume(self, member, correlation, payload):
        self.do(
            member.node_id,
            lambda _raft: member.outbox.resume(correlation, payload, self.instant),
        )

    def expire(self):
        """Fail the Sends whose time is over."""
        for member in self.members.values():
            for correlation, deadline in sorted(member.sends.items()):
                if deadline <= self.now and member.sends.pop(correlation, None) is not None:
                    self._resume(member, correlation, None)

    def quiesce(self, limit=2000):
        """Complete every fsync and deliver every message, until nothing moves."""
        for _ in range(limit):
            flushing = [m for m in self.members.values() if m.flushes and not m.holds_flushes]
            if flushing:
                self.flush(flushing[0].node_id)
            elif self.messages:
                self.deliver_one(self.messages.pop(0))
            else:
                return
        raise AssertionError("the quorum never comes to rest")

    # Time

    def advance(self, by_ns):
        self.run_until(self.now + by_ns)

    def run_until(self, end):
        """Let time pass, with every tick, delivery and time-out in it."""
        for _ in range(20_000):
            self.quiesce()
            due = [(d, n) for n, m in self.members.items() if (d := deadline_of(m)) is not None]
            if not due or min(due)[0] > end:
                self.now = max(self.now, end)
                return
            when, node_id = min(due)
            self.now = max(self.now, when)
            self.expire()
            if self.members[node_id].is_up:
                self.tick(node_id)
        raise AssertionError("too many ticks")
