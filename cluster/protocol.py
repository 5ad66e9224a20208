"""Protocol of a cluster, implemented by each backend; a backend declares its capabilities.

See nemesis/ for faults, cluster/systems/ for the clients of a system.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from kraftproof.cluster.scope import Scope


class Capability(StrEnum):
    """A fault that a backend can give to its nodes; each fault names its capability."""

    KILL = "kill"
    PAUSE = "pause"
    RESTART = "restart"
    PARTITION = "partition"
    CLOCK = "clock"
    LOSE_UNSYNCED = "lose-unsynced"
    LOSS = "loss"
    RESET = "reset"
    STALL = "stall"
    LATENCY = "latency"
    BANDWIDTH = "bandwidth"
    SLOW_CLOSE = "slow-close"
    LIMIT_DATA = "limit-data"
    DISK_FULL = "disk-full"
    DISK_ERROR = "disk-error"
    SLOW_DISK = "slow-disk"
    WIPE = "wipe"
    FAILED_DIRECTORY = "failed-directory"
    BIT_ROT = "bit-rot"
    AIMED_CRASH = "aimed-crash"
    CLOCK_STROBE = "clock-strobe"
    CLOCK_DRIFT = "clock-drift"
    CPU = "cpu"
    MEMORY = "memory"
    TAKEN_PORT = "taken-port"
    LOST_NAME = "lost-name"
    DRIFT = "drift"


LIVE_ONLY: Final = frozenset(
    {
        Capability.CPU,
        Capability.MEMORY,
        Capability.TAKEN_PORT,
        Capability.LOST_NAME,
        Capability.BANDWIDTH,
        Capability.SLOW_CLOSE,
        Capability.LIMIT_DATA,
    }
)
"""Faults of processors, memory, ports, names and bytes, which simulated nodes do not have."""
PROXIED: Final = frozenset(
    {
        Capability.LATENCY,
        Capability.BANDWIDTH,
        Capability.SLOW_CLOSE,
        Capability.LIMIT_DATA,
        Capability.RESET,
    }
)
"""Faults of links for which the links of live nodes lead through proxies."""
OF_LINKS: Final = PROXIED | {Capability.PARTITION, Capability.LOSS, Capability.STALL}
"""Faults of the links between nodes, which a single node does not have."""
CLOCKS: Final = frozenset({Capability.CLOCK, Capability.CLOCK_STROBE, Capability.CLOCK_DRIFT})
"""Faults of wall clocks; the node has to report its wall clock."""


class Link(NamedTuple):
    """Traffic from one node to another, one way."""

    source: int
    target: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Address at which a node listens.

    Attributes:
        host: The address that the node binds, and that its clients use.
        port: The port's number.
        peer_host: The name or address that other nodes use.
    """

    host: str
    port: int
    peer_host: str

    @property
    def as_peer(self) -> "Address":
        """Return the address as other nodes use it, if they use a number: behind a proxy, say."""
        try:
            ip_address(self.peer_host)
        except ValueError:
            return self
        return replace(self, host=self.peer_host)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInfo:
    """One node of a cluster as the harness knows it.

    Attributes:
        node_id: Its number, from 1 on.
        name: Its name in reports.
        roles: What it is there for, in words of the system: `controller`, `broker`, `server`.
    """

    node_id: int
    name: str
    roles: tuple[str, ...]

    def has(self, role: str) -> bool:
        """Return whether the node has a role."""
        return role in self.roles


def nodes_of(**counts: int) -> tuple[NodeInfo, ...]:
    """Return nodes numbered from 1 on: as many of each role, role by role, as is told.

    A node that is to have several roles has them joined by +, as in `controller+broker`.
    """
    roles = [role.split("+") for role, count in counts.items() for _ in range(count)]
    return tuple(
        NodeInfo(node_id=number, name=f"{'-'.join(names)}-{number}", roles=tuple(names))
        for number, names in enumerate(roles, start=1)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterOptions:
    """Options of a new cluster."""

    nodes: tuple[NodeInfo, ...]
    seed: int
    directory: Path
    """The run directory: each node writes under nodes/<id>/."""
    timeouts: str = "chaos"
    """The name of a profile (cluster/profiles.py)."""
    backend: str = ""
    """The backend of the run; empty if a cluster is made without a run."""
    system_version: str | None = None
    """The release of the system under test; None for the system's default release."""
    hosts: Path | None = None
    """The file of hosts, for a backend that finds its hosts in a file."""
    mutant: str | None = None
    node_config: tuple[tuple[str, str], ...] = ()
    """Settings that all nodes get besides, as the system takes them."""
    needs: frozenset[Capability] = frozenset()
    """The capabilities required by the faults of the run, so that a backend can prepare disks."""
    has_data: bool = False
    """Whether simulated brokers keep replicas; live brokers always do."""
    owns_settings: bool = False
    """Whether the workload judges the settings of brokers, so that nobody else may alter them."""
    has_security: bool = False
    """Whether brokers have an authorizer and a listener for logins with SCRAM and tokens."""
    is_collected: bool = True
    """Whether the nodes' files will be read; a simulated node writes no trace for nobody."""


class ClusterError(Exception):
    """The cluster could not do what it was told; the text is one clear line."""


class ContaminatedError(ClusterError):
    """A port, node or value of the run belongs to another run, so the run proves nothing."""


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
        """Return the faults that the cluster can give to its nodes."""
        ...

    @property
    def scope(self) -> Scope:
        """The time and tasks that everything in this run uses."""
        ...

    async def start(self) -> None:
        """Bring every node up and wait until the system is ready.

        Raises:
            ClusterError: not ready within the backend's time limit.
        """
        ...

    async def lacks(self) -> str | None:
        """Return what the running cluster lacks to be ready, in a few words; None if ready."""
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
        """Return whether the process is stopped, as the operating system sees it."""
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
        """Return whether an application round trip opened by the source reaches the target."""
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

    def address(self, node_id: int, port: str) -> Address:
        """Return where a node listens on one of its named ports.

        Raises:
            ClusterError: the nodes of this backend have no addresses.
        """
        ...

    def bootstrap(self) -> str:
        """host:port list for ordinary clients, as the system has it; empty in simulation."""
        ...

    def monotonic_offset_ns(self, node_id: int) -> int:
        """The monotonic clock of the node's machine minus that of the harness, in ns."""
        return 0

    def node_files(self, node_id: int) -> Path:
        """The directory with the node's raw files; simulated nodes write theirs at the end."""
        ...
