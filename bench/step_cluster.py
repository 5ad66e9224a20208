"""The cores of six nodes in one process, and the CPU time of each of their steps.

See longest_step.py for the loads.
"""

import time
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Final

from kraftproof.node.core.base.config import Endpoint, NodeConfig, SnapshotPolicy, Voter
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SNAPSHOTS_KEPT, SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, WallClock, milliseconds
from kraftproof.node.core.effects import (
    CheckSnapshot,
    Effect,
    Flush,
    Forward,
    Reply,
    ReplyWithSlice,
    Send,
    StoreSlice,
    WriteSnapshot,
)
from kraftproof.node.core.events import (
    Answered,
    Event,
    Flushed,
    Received,
    SnapshotChecked,
    SnapshotWritten,
    Tick,
    Unanswered,
)
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.snapshot import NO_HISTORY, History, batches_of, load
from kraftproof.node.core.node import Node
from kraftproof.node.core.raft.snapshots.rpc import with_slice
from kraftproof.node.server.large_messages import is_large, parts_of
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import decode_batches, encode_batches
from kraftproof.node.wire.types import Uuid

CONTROLLERS: Final = 3
BROKERS: Final = 3
SNAPSHOT_SECONDS: Final = 600
"""Time between two snapshots of a node, in the cluster's time."""
Asker = tuple[int, int] | None


class Cluster:
    """The cores of a cluster, whose messages and flushes take no time."""

    def __init__(self) -> None:
        self.now = milliseconds(1000)
        self.events: deque[tuple[int, Event]] = deque()
        self.asked: dict[int, tuple[int, Asker]] = {}
        self._snapshots: dict[SnapshotId, bytes] = {}
        self._downloads: dict[int, bytes] = {}
        """Downloaded bytes of a snapshot, by node."""
        self.largest_answers: dict[type, tuple[Message, int, Message]] = {}
        """Request, version and answer of the largest answer, by the type of the request."""
        self._requests: dict[int, tuple[Message, int]] = {}
        self.longest: dict[str, tuple[float, str]] = {}
        self.longest_ms = 0.0
        self._incarnations = 0
        self._for_next_leader: list[tuple[Message, int]] = []
        self.nodes = {node_id: self._node(node_id) for node_id in range(1, 7)}
        for node_id, node in self.nodes.items():
            self._carry_out(node_id, node.start(self._instant()))
        self.run(milliseconds(15_000))

    def _node(self, node_id: int, incarnation: int = 0, history: History = NO_HISTORY) -> Node:
        is_broker = node_id > CONTROLLERS
        name = "PLAINTEXT" if is_broker else "CONTROLLER"
        config = NodeConfig(
            node_id=NodeId(node_id),
            cluster_id="c",
            is_controller=not is_broker,
            is_broker=is_broker,
            voters=tuple(
                Voter(node_id=NodeId(n), host="h", port=n) for n in range(1, CONTROLLERS + 1)
            ),
            endpoints=(Endpoint(name=name, host="h", port=node_id, is_controller=not is_broker),),
            incarnation=Uuid(bytes([incarnation, *([node_id] * 15)])),
            log_dirs=(Uuid(bytes([100 + node_id] * 16)),),
            snapshots=SnapshotPolicy(interval_ns=milliseconds(1000 * SNAPSHOT_SECONDS)),
        )
        return Node(config, QuorumState(), (), Random(node_id), self._instant(), history=history)

    def _instant(self) -> Instant:
        return Instant(Monotonic(self.now), WallClock(self.now))

    def _step(self, node_id: int, event: Event) -> None:
        name = type(event.message if isinstance(event, Received | Answered) else event).__name__
        role = self._timed(node_id, name, lambda node: node.step(event, self._instant()))
        if role == "leader" and self._for_next_leader:
            waited, self._for_next_leader = self._for_next_leader, []
            for message, version in waited:
                self._ask(node_id, message, version, None)

    def _timed(self, node_id: int, name: str, act: Callable[[Node], list[Effect]]) -> str:
        """Let a node act, measure the time, and return the node's role."""
        node = self.nodes[node_id]
        begun = time.thread_time_ns()
        effects = act(node)
        took_ms = (time.thread_time_ns() - begun) / 1e6
        role = node.status().role if node_id <= CONTROLLERS else "broker"
        self.longest[role] = max(self.longest.get(role, (0.0, "")), (took_ms, name))
        self._carry_out(node_id, effects)
        return role

    def _carry_out(self, node_id: int, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Flush():
                    flushed = Flushed(
                        log=effect.log, generation=effect.generation, end_offset=effect.end_offset
                    )
                    self.events.append((node_id, flushed))
                case Send() | Forward():
                    asker = (node_id, effect.correlation)
                    if effect.destination in self.nodes:
                        self._ask(effect.destination, effect.message, effect.version, asker)
                    else:
                        self._leave_unanswered(asker)
                case Reply():
                    self._answer(effect.request, effect.message)
                case ReplyWithSlice():
                    begin, end = effect.position, effect.position + effect.max_bytes
                    data = self._snapshots[effect.snapshot][begin:end]
                    self._answer(effect.request, with_slice(effect.message, data))
                case WriteSnapshot() | StoreSlice() | CheckSnapshot():
                    self._keep_snapshot(node_id, effect)
                case _:
                    pass

    def _answer(self, request: int, message: Message) -> None:
        _, replied_to = self.asked.pop(request)
        asked, version = self._requests.pop(request)
        largest = self.largest_answers.get(type(asked))
        if is_large(message) and (largest is None or parts_of(message) > parts_of(largest[2])):
            self.largest_answers[type(asked)] = (asked, version, message)
        if replied_to is not None:
            answer = Answered(correlation=replied_to[1], message=message)
            self.events.append((replied_to[0], answer))

    def _keep_snapshot(
        self, node_id: int, effect: WriteSnapshot | StoreSlice | CheckSnapshot
    ) -> None:
        """Write and load snapshots, as a thread of a node does."""
        match effect:
            case WriteSnapshot(snapshot=snapshot):
                written = batches_of(snapshot, effect.image, effect.timestamp_ms)
                data = self._snapshots[snapshot] = encode_batches(written)
                stored = StoredSnapshot(snapshot=snapshot, size=len(data))
                self.events.append((node_id, SnapshotWritten(stored)))
            case StoreSlice():
                before = self._downloads[node_id] if effect.position else b""
                self._downloads[node_id] = before + effect.data
            case CheckSnapshot():
                data = self._downloads.pop(node_id)
                stored = StoredSnapshot(snapshot=effect.snapshot, size=len(data))
                loaded = load(stored, decode_batches(data))
                self.events.append((node_id, SnapshotChecked(copy=effect.copy, loaded=loaded)))

    def _ask(self, node_id: int, message: Message, version: int, asker: Asker) -> None:
        request = len(self.asked) and max(self.asked) + 1
        self.asked[request] = (node_id, asker)
        self._requests[request] = (message, version)
        event = Received(
            request=request,
            message=message,
            version=version,
            on_controller_listener=node_id <= CONTROLLERS,
            principal=ANONYMOUS,
            client_host="127.0.0.1",
            forwarded_by=None,
        )
        self.events.append((node_id, event))

    def run(self, for_ns: int) -> None:
        """Let time pass."""
        end = self.now + for_ns
        while True:
            self.take(len(self.events))
            if self.events:
                continue
            due = [
                (deadline, node_id)
                for node_id, node in self.nodes.items()
                if (deadline := node.deadline()) is not None and deadline <= end
            ]
            if not due:
                self.now = end
                return
            deadline, node_id = min(due)
            self.now = max(self.now, deadline)
            self._step(node_id, Tick())

    def take(self, count: int) -> None:
        """Process up to the given number of events."""
        for _ in range(min(count, len(self.events))):
            node_id, event = self.events.popleft()
            if node_id in self.nodes:
                self._step(node_id, event)

    def leader(self) -> int:
        """Return the id of the active controller."""
        return next(n for n, node in self.nodes.items() if node.status().role == "leader")

    def kill(self, node_id: int) -> None:
        """Remove a node; its pending requests stay unanswered."""
        del self.nodes[node_id]
        for request, (asked, asker) in list(self.asked.items()):
            if asked == node_id:
                del self.asked[request]
                self._leave_unanswered(asker)

    def _leave_unanswered(self, asker: Asker) -> None:
        if asker is not None:
            self.events.append((asker[0], Unanswered(correlation=asker[1])))

    def start(self, node_id: int, history: History = NO_HISTORY) -> None:
        """Start a broker anew, from a snapshot or from nothing."""
        self._incarnations += 1
        self.nodes[node_id] = self._node(node_id, self._incarnations, history)
        self._timed(node_id, "start", lambda node: node.start(self._instant()))

    def measure(self, label: str, act: Callable[[], None]) -> None:
        """Print the longest steps while an action takes its course."""
        self.longest.clear()
        epoch = max(node.status().epoch for node in self.nodes.values())
        act()
        self.run(milliseconds(30_000))
        words = ", ".join(
            f"{role} {took_ms:.1f} ms ({name})"
            for role, (took_ms, name) in sorted(self.longest.items())
        )
        self.longest_ms = max(self.longest_ms, *(took_ms for took_ms, _ in self.longest.values()))
        elected = epoch != max(node.status().epoch for node in self.nodes.values())
        print(f"{label}: {words}{'; another epoch began' if elected else ''}")

    def ask_leader(self, *requests: tuple[Message, int]) -> None:
        """Send requests to the active controller, all at once."""
        for message, version in requests:
            self._ask(self.leader(), message, version, None)

    def ask_next_leader(self, *requests: tuple[Message, int]) -> None:
        """Send requests to the next controller that wins an election, as soon as it has."""
        self._for_next_leader.extend(requests)

    def ask_broker(self, *requests: tuple[Message, int]) -> None:
        """Send requests to the first broker, all at once."""
        for message, version in requests:
            self._ask(CONTROLLERS + 1, message, version, None)

    def let_snapshots_be_written(self) -> None:
        """Let the nodes write snapshots until the logs begin at a snapshot."""
        for _ in range(SNAPSHOTS_KEPT + 1):
            self.run(milliseconds(1000 * SNAPSHOT_SECONDS))

    def image(self) -> MetadataImage:
        """Return the active controller's committed image."""
        return self.nodes[self.leader()]._committed.image  # noqa: SLF001 (no other window)

    def partitions(self) -> int:
        """Return how many partitions the cluster has."""
        return sum(map(len, self.image().partitions.values()))

    def batches(self) -> tuple[Batch, ...]:
        """Return the active controller's log."""
        log = self.nodes[self.leader()]._raft.log  # noqa: SLF001 (no other window)
        return tuple(log.batches(log.start_offset, log.end_offset))

    def end(self) -> SnapshotId:
        """Return where the active controller's log ends, and in which epoch."""
        status = self.nodes[self.leader()].status()
        return SnapshotId(status.log_end, status.last_epoch)
