"""The measuring half of a node's shell: only there if `metrics.listener` asks for it.

See raft.py for the figures, and endpoint.py for the way to a reader.
"""

from collections.abc import Callable, Sequence, Set
from typing import Final

from typing_extensions import override

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Instant, Monotonic, NodeId
from kraftproof.node.core.effects import Effect
from kraftproof.node.core.events import Event
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.node import Node
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.server.metrics.catalogue import CONTROLLER, RAFT, SERVER
from kraftproof.node.server.metrics.clients import ClientMetrics
from kraftproof.node.server.metrics.cluster import cluster_gauges
from kraftproof.node.server.metrics.endpoint import MetricsEndpoint
from kraftproof.node.server.metrics.figures import Figure, prefixed
from kraftproof.node.server.metrics.forwarding import ForwardingMetrics
from kraftproof.node.server.metrics.raft import RaftMetrics
from kraftproof.node.shell.ports import SteppedNode
from kraftproof.node.wire.schema import Message

ADMIN_KEYS: Final = frozenset({19, 20, 30, 31, 33, 37, 38, 39, 40, 43, 44, 45, 49, 51, 57, 64})
"""The requests that change metadata: topics, ACLs, configurations, partitions, tokens, leaders,
reassignments, quotas, SCRAM credentials, features, registrations; each waits for commit."""


class Meter:
    """Metrics of a node: recorded by the shell, read by the metrics endpoint."""

    __slots__ = (
        "_clock",
        "_exposition",
        "_figures",
        "_forwarding",
        "_offset",
        "_unknown_voters",
        "_voters",
        "clients",
        "endpoint",
        "image",
    )

    def __init__(
        self,
        address: tuple[str, int],
        status: NodeStatus,
        clock: Callable[[], Instant],
        unknown_voters: Callable[[], int],
        *,
        voters: int = 0,
    ) -> None:
        # A node without metrics does not load prometheus-client, which takes 2 MB.
        from kraftproof.node.server.metrics.exposition import exposition

        self._exposition = exposition
        self._clock = clock
        self._unknown_voters = unknown_voters
        self._figures = RaftMetrics(status, clock().monotonic)
        self._forwarding = ForwardingMetrics(clock().monotonic)
        self._offset = status.image_offset
        self._voters = voters
        self.clients = ClientMetrics()
        self.image = EMPTY_IMAGE
        """The image that the node has published last."""
        self.endpoint = MetricsEndpoint(*address, self.text)

    def now(self) -> Monotonic:
        """The time that all durations are taken by."""
        return self._clock().monotonic

    def text(self) -> str:
        """All figures as of now."""
        now = self.now()
        raft = {
            **self._figures.gauges(now, self._unknown_voters()),
            "number-of-voters": self._voters,
        }
        controller = self._figures.controller_gauges(now)
        if controller:
            controller |= cluster_gauges(self.image)
        broker = self._figures.broker_gauges()
        if broker:
            broker |= self._forwarding.gauges(now)
        return self._exposition(
            [
                *prefixed(RAFT, raft),
                *(
                    Figure(f"{RAFT}current_state", int(holds), (state,))
                    for state, holds in self._figures.states().items()
                ),
                *prefixed(CONTROLLER, controller),
                *prefixed(SERVER, broker),
                *self.clients.figures(),
            ]
        )

    def stepped(
        self, status: NodeStatus, since: Monotonic, event: Event, effects: Sequence[Effect]
    ) -> None:
        """The core has taken an event; what it shows now, when it began, and its effects."""
        now = self.now()
        self._forwarding.stepped(event, effects, now)
        if status.image_offset != self._offset:
            self._offset = status.image_offset
            self._figures.applied(since, now)
        self._figures.observe(status, now)

    def answered(self, request: Message, since: Monotonic) -> None:
        """A request that came at `since` is answered."""
        self.clients.answered(request, (self.now() - since) / NANOSECONDS_PER_MS)
        if request.API_KEY in ADMIN_KEYS:
            self._figures.answered(since, self.now())

    def flushed(self, since: Monotonic) -> None:
        """An fsync that began at `since` has returned."""
        self._figures.flushed(since, self.now())

    def idled(self, since: Monotonic) -> None:
        """The node has waited since then."""
        self._figures.idled(since, self.now())


def unknown_voters(config: NodeConfig, asked: Set[NodeId]) -> int:
    """Return how many other voters the node has asked nothing yet (595-71)."""
    return len({voter.node_id for voter in config.voters} - asked - {config.node_id})


class MeasuredNode(SteppedNode):
    """A node whose steps are measured, without the time that their effects take."""

    __slots__ = ("_meter", "_node")

    def __init__(self, node: Node, meter: Meter) -> None:
        self._node = node
        self._meter = meter

    @override
    def start(self, now: Instant) -> list[Effect]:
        return self._node.start(now)

    @override
    def step(self, event: Event, now: Instant) -> list[Effect]:
        effects = self._node.step(event, now)
        self._meter.stepped(self._node.status(), now.monotonic, event, effects)
        return effects

    @override
    def deadline(self) -> Monotonic | None:
        return self._node.deadline()
