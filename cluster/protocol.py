"""The one protocol that every backend fulfils; what it can't do it does not declare.

Not: faults (nemesis/), clients of a particular system (cluster/systems/).
"""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol

from kraftproof.cluster.connection import Connection
from kraftproof.cluster.scope import Scope


class Capability(StrEnum):
    """What a backend can do to its nodes; a fault names the one it requires."""

    KILL = "kill"
    PAUSE = "pause"
    RESTART = "restart"
    PARTITION = "partition"
    CLOCK = "clock"
    LOSE_UNSYNCED = "lose-unsynced"
    LOSS = "loss"
    RESET = "reset"
    STALL = "stall"
    DISK_FULL = "disk-full"
    DISK_ERROR = "disk-error"
    SLOW_DISK = "slow-disk"
    WIPE = "wipe"
    CLOCK_STROBE = "clock-strobe"
    DRIFT = "drift"


class Link(NamedTuple):
    """Traffic from one node to another, one way."""

    source: int
    target: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInfo:
    """One node of a cluster as the harness knows it."""

    node_id: int
    is_controller: bool
    is_broker: bool

    @property
    def name(self) -> str:
        """The name in reports: its role and id."""
        return f"{'controller' if self.is_controller else 'broker'}-{self.node_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """What a backend is told when a cluster is made."""

    controllers: int
    brokers: int
    seed: int
    directory: Path
    """The run directory: each node writes under nodes/<id>/."""
    timeouts: str = "chaos"
    """`chaos` (session 2000, heartbeat 500, fetch 1000, election 500 ms) or `default`."""
    mutant: str | None = None
    node_config: tuple[tuple[str, str], ...] = ()
    """Keys and values that all nodes get besides (cluster/node_config.py says which)."""
    is_collected: bool = True
    """Whether the nodes' files will be read; a simulated node writes no trace for nobody."""

    @property
    def nodes(self) -> tuple[NodeInfo, ...]:
        """Controllers 1..C, then brokers C+1..C+B."""
        total = self.controllers + self.brokers
        return tuple(
            NodeInfo(
                node_id=number,
                is_controller=number <= self.controllers,
                is_broker=number > self.controllers,
            )
            for number in range(1, total + 1)
        )


class ClusterError(Exception):
    """The cluster could not do what it was told; the text is one clear line."""


class Cluster(Protocol):
    """A running cluster. Every method that touches a node is a coroutine over `scope`."""

    @property
    def backend(self) -> str:
        """`simulated`, `local` or `docker`."""
        ...

    @property
    def nodes(self) -> tuple[NodeInfo, ...]:
        """All nodes, by id."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What can be done to the nodes."""
        ...

    @property
    def scope(self) -> Scope:
        """The time and tasks that everything in this run uses."""
        ...

    async def start(self) -> None:
        """Bring every node up and wait until each broker answers as unfenced.

        Raises:
            ClusterError: not ready within the backend's time limit.
        """
        ...

    async def stop(self) -> None:
        """Take every node down and remove what the backend made; files stay."""
        ...

    async def kill(self, node_id: int) -> None:
        """End the node's process with SIGKILL; its disk keeps all that was written."""
        ...

    async def start_node(self, node_id: int) -> None:
        """Start a node that is down (does not wait for readiness)."""
        ...

    async def stop_node(self, node_id: int) -> None:
        """SIGTERM and wait for the end; SIGKILL after ten seconds."""
        ...

    async def pause(self, node_id: int) -> None:
        """SIGSTOP, or the freezer."""
        ...

    async def resume(self, node_id: int) -> None:
        """Let a paused node go on."""
        ...

    async def process_id(self, node_id: int) -> int | None:
        """The id of the node's process (new at each start), or None when it is down."""
        ...

    async def is_paused(self, node_id: int) -> bool:
        """Whether the process is stopped, as the operating system sees it."""
        ...

    async def cut(self, links: frozenset[Link]) -> None:
        """Withhold all traffic on these links until healed."""
        ...

    async def heal(self, links: frozenset[Link]) -> None:
        """Undo `cut` of these links; healing what is whole is no error."""
        ...

    async def withheld(self, links: frozenset[Link]) -> int:
        """Packets (messages, in simulation) withheld on these links since their cut."""
        ...

    async def round_trip(self, link: Link) -> bool:
        """Whether an application round trip opened by the source reaches the target."""
        ...

    async def shift_clock(self, node_id: int, offset_ns: int) -> None:
        """Set the wall clock of a node that far from the true one; 0 heals."""
        ...

    async def wall_clock_offset(self, node_id: int) -> int | None:
        """Reported wall clock of the node minus the true one, in ns; None when it can't say."""
        ...

    async def lose_unsynced(self, node_id: int) -> int:
        """Kill the node and drop what it had not fsynced; returns the bytes lost."""
        ...

    async def connect(self, node_id: int, timeout_ns: int) -> Connection:
        """Open a client connection: to a controller's controller listener, a broker's client one.

        Raises:
            ConnectionFailed: refused or no answer.
        """
        ...

    def bootstrap(self) -> str:
        """host:port list of the brokers for ordinary clients; empty in simulation."""
        ...

    def node_files(self, node_id: int) -> Path:
        """The directory with the node's raw files; simulated nodes write theirs at the end."""
        ...
