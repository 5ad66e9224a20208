"""Environment of a simulated process, the same at each of its starts."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol

from kraftproof.cluster.disk_faults import DiskFaults
from kraftproof.cluster.simulated.disk.directory_files import DirectoryFiles
from kraftproof.cluster.simulated.disk.log_mirror import LogMirror
from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirrors
from kraftproof.cluster.simulated.invariants.invariant import InvariantMonitor, ProcessView
from kraftproof.cluster.simulated.kernel.clock import SimulatedClock
from kraftproof.cluster.simulated.kernel.scheduler import Scheduler
from kraftproof.cluster.simulated.network.network import Network
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.effects import Effect, Exit
from kraftproof.node.core.security.login_policy import LoginPolicy
from kraftproof.node.wire.types import Uuid

FSYNC_NS = 300_000
SLOW_FSYNC_NS = 20_000_000
SLOW_FSYNC_SHARE = 0.01


class OnExit(Protocol):
    """Handler of a process that ends by itself."""

    def __call__(self, process: ProcessView, effect: Exit) -> None:
        """Take it off its machine."""


class OnCrash(Protocol):
    """Reports an exception out of a node's code, and ends its process if it has one."""

    def __call__(self, node_id: int, error: Exception) -> None:
        """Record the crash of this node."""


class OnDiskError(Protocol):
    """Handler of a process whose disk has failed."""

    def __call__(self, process: ProcessView, error: OSError) -> None:
        """Take it off its machine."""


def _nothing() -> None:
    """Observers of most writes of a process."""


class NodeEnvironment:
    """Time, network, monitor and chance, and the mirrors of the disk's logs."""

    __slots__ = (
        "attempted",
        "broker_incarnation",
        "clock",
        "disk_faults",
        "fsync_factor",
        "log",
        "log_directories",
        "log_files",
        "login_policy",
        "monitor",
        "network",
        "node_id",
        "on_crash",
        "on_disk_error",
        "on_disk_work",
        "on_effect",
        "on_exit",
        "on_next_write",
        "partitions",
        "random",
        "scheduler",
    )

    def __init__(
        self,
        *,
        node_id: int,
        scheduler: Scheduler,
        network: Network,
        clock: SimulatedClock,
        monitor: InvariantMonitor,
        random: Random,
        on_exit: OnExit,
        on_crash: OnCrash,
        on_disk_error: OnDiskError,
    ) -> None:
        self.node_id = node_id
        self.scheduler = scheduler
        self.network = network
        self.clock = clock
        self.monitor = monitor
        self.random = random
        self.on_exit = on_exit
        self.on_crash = on_crash
        self.on_disk_error = on_disk_error
        self.on_effect: Callable[[Effect], None] | None = None
        """Told of each effect that has been carried out, while somebody waits for one."""
        self.on_disk_work: Callable[[type[Effect]], None] | None = None
        """Told of snapshot work and truncations as they begin, while somebody waits for one."""
        self.attempted: QuorumState | None = None
        """The write under way when the disk failed; the write may be on the disk."""
        self.fsync_factor = 1
        """How many times longer an fsync takes on this machine than on others."""
        self.broker_incarnation: Uuid | None = None
        """The incarnation of the last process, as a broker registers; None before the start."""
        self.login_policy: LoginPolicy | None = None
        """The rules of the SASL listener; None without such a listener."""
        self.disk_faults: DiskFaults | None = None
        """None while the disk is well."""
        self.on_next_write: Callable[[], None] = _nothing
        self.log = LogMirror()
        self.partitions = PartitionMirrors()
        self.log_files: Callable[[], Sequence[str]] = tuple
        """Returns the names of the files in the log's directory; set by the machine."""
        self.log_directories: Callable[[], Sequence[DirectoryFiles]] = tuple
        """Returns the log directories for partitions; set by the machine."""

    def fsync_ns(self) -> int:
        """Draw how long the disk takes for one fsync."""
        if self.disk_faults is not None:
            return FSYNC_NS + self.disk_faults.slowness_ns()
        if self.random.random() < SLOW_FSYNC_SHARE:
            return int(self.random.random() * SLOW_FSYNC_NS)
        return int(FSYNC_NS * self.fsync_factor * (0.5 + self.random.random()))
