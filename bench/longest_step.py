"""Measure the longest step of a node's core under the largest requests, in CPU time.

    python -m bench.longest_step

Three controllers and three brokers in one process, without network or disk: each line is one
load and, per role, the longest step and the event that it took. Not: the work of the shell
(frames, files), which is listed apart for the largest batch.
"""

import time
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Final

from kraftproof.node.core.base.config import Endpoint, NodeConfig, Voter
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, WallClock, milliseconds
from kraftproof.node.core.controller.topics import MOST_RECORDS
from kraftproof.node.core.effects import Effect, Flush, Forward, Reply, Send
from kraftproof.node.core.events import Answered, Event, Flushed, Received, Tick
from kraftproof.node.core.node import Node
from kraftproof.node.server.garbage_collection import keep_collections_short
from kraftproof.node.wire.batches import decode_batches, encode_batch
from kraftproof.node.wire.messages import Message, create_topics_request, delete_topics_request
from kraftproof.node.wire.messages.batch import Batch
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.types import Uuid

CONTROLLERS: Final = 3
BROKERS: Final = 3
BOUND_MS: Final = 50
Asker = tuple[int, int] | None


class Cluster:
    """The cores of a cluster, whose messages and flushes take no time."""

    def __init__(self) -> None:
        self.now = milliseconds(1000)
        self.events: deque[tuple[int, Event]] = deque()
        self.asked: dict[int, tuple[int, Asker]] = {}
        self.longest: dict[str, tuple[float, str]] = {}
        self.largest: Batch | None = None
        self.nodes = {node_id: self._node(node_id) for node_id in range(1, 7)}
        for node_id, node in self.nodes.items():
            self._carry_out(node_id, node.start(self._instant()))
        self.run(milliseconds(15_000))

    def _node(self, node_id: int) -> Node:
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
            incarnation=Uuid(bytes([node_id] * 16)),
            log_dirs=(Uuid(bytes([100 + node_id] * 16)),),
        )
        return Node(config, QuorumState(), (), Random(node_id), self._instant())

    def _instant(self) -> Instant:
        return Instant(Monotonic(self.now), WallClock(self.now))

    def _step(self, node_id: int, event: Event) -> None:
        node = self.nodes[node_id]
        begun = time.process_time_ns()
        effects = node.step(event, self._instant())
        took_ms = (time.process_time_ns() - begun) / 1e6
        role = node.status().role if node_id <= CONTROLLERS else "broker"
        name = type(event.message if isinstance(event, Received | Answered) else event).__name__
        self.longest[role] = max(self.longest.get(role, (0.0, "")), (took_ms, name))
        self._carry_out(node_id, effects)

    def _carry_out(self, node_id: int, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Flush():
                    flushed = Flushed(generation=effect.generation, end_offset=effect.end_offset)
                    self.events.append((node_id, flushed))
                case Send() | Forward() if effect.destination in self.nodes:
                    asker = (node_id, effect.correlation)
                    self._ask(effect.destination, effect.message, effect.version, asker)
                case Reply():
                    _, replied_to = self.asked.pop(effect.request)
                    if replied_to is not None:
                        answer = Answered(correlation=replied_to[1], message=effect.message)
                        self.events.append((replied_to[0], answer))
                case _:
                    pass

    def _ask(self, node_id: int, message: Message, version: int, asker: Asker) -> None:
        request = len(self.asked) and max(self.asked) + 1
        self.asked[request] = (node_id, asker)
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
            while self.events:
                node_id, event = self.events.popleft()
                if node_id in self.nodes:
                    self._step(node_id, event)
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

    def kill(self, node_id: int) -> None:
        """Take a node away."""
        del self.nodes[node_id]

    def measure(self, label: str, act: Callable[[], None]) -> None:
        """Print the longest steps while an action takes its course."""
        self.longest.clear()
        epochs = {node.status().epoch for node in self.nodes.values()}
        act()
        self.run(milliseconds(30_000))
        words = ", ".join(
            f"{role} {took_ms:.1f} ms ({name})"
            for role, (took_ms, name) in sorted(self.longest.items())
        )
        unseated = epochs != {node.status().epoch for node in self.nodes.values()}
        print(f"{label}: {words}{'; THE LEADER WAS UNSEATED' if unseated else ''}")

    def ask_leader(self, message: Message, version: int) -> None:
        """Send a request to the active controller."""
        leader = next(n for n, node in self.nodes.items() if node.status().role == "leader")
        self._ask(leader, message, version, None)


def creation(topics: int, partitions: int) -> create_topics_request.CreateTopicsRequest:
    """Return a CreateTopics of so many topics of so many partitions each."""
    return create_topics_request.CreateTopicsRequest(
        topics=tuple(
            create_topics_request.CreatableTopic(
                name=f"t-{partitions}-{number}",
                num_partitions=partitions,
                replication_factor=BROKERS,
            )
            for number in range(topics)
        ),
        timeout_ms=60_000,
    )


def deletion(topics: int, partitions: int) -> delete_topics_request.DeleteTopicsRequest:
    """Return the DeleteTopics of what `creation` makes."""
    state = delete_topics_request.DeleteTopicState
    return delete_topics_request.DeleteTopicsRequest(
        topics=tuple(state(name=f"t-{partitions}-{number}") for number in range(topics)),
        timeout_ms=60_000,
    )


def measure_shell(cluster: Cluster) -> None:
    """Print what the shell does with the largest batch."""
    leader = next(node for node in cluster.nodes.values() if node.status().role == "leader")
    log = leader._raft._state.log  # noqa: SLF001 (the log has no other window)
    batch = max(log.read(log.start_offset, 1 << 40), key=lambda batch: len(batch.records))
    begun = time.process_time_ns()
    data = encode_batch(batch)
    encoded = time.process_time_ns()
    decode_batches(data)
    decoded = time.process_time_ns()
    print(
        f"shell, a batch of {len(batch.records)} records ({len(data)} bytes): "
        f"encoded in {(encoded - begun) / 1e6:.1f} ms, "
        f"decoded in {(decoded - encoded) / 1e6:.1f} ms"
    )


def main() -> None:
    """Measure each load in turn; the cluster keeps the topics of the loads before."""
    cluster = Cluster()
    keep_collections_short()  # as node/server/main.py does
    one, many = (1, MOST_RECORDS - 1), (MOST_RECORDS // 2, 1)
    print(f"to stay below: {BOUND_MS} ms")
    for label, shape in (("1 topic, 9,999 partitions", one), ("5,000 topics", many)):
        create = creation(*shape)
        cluster.measure(f"create {label}", lambda create=create: cluster.ask_leader(create, 7))  # type: ignore[misc]
    measure_shell(cluster)
    cluster.measure("a broker of 14,999 partitions goes", lambda: cluster.kill(6))
    for label, shape in (("1 topic, 9,999 partitions", one), ("5,000 topics", many)):
        delete = deletion(*shape)
        cluster.measure(f"delete {label}", lambda delete=delete: cluster.ask_leader(delete, 6))  # type: ignore[misc]


if __name__ == "__main__":
    main()
