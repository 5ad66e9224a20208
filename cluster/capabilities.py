"""The optional fault capabilities of backends; the simulator has every capability.

A fault names its required capability, and a run with a backend that lacks the capability is
refused at its start (kraftproof/run/planning.py). See protocol.py for the common interface.
"""

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from kraftproof.cluster.protocol import Link


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFault:
    """A fault of a link; shares are probabilities per message, between 0 and 1.

    Attributes:
        loss: Share of lost segments: TCP retransmits a segment after 200 ms, then 400 ms, and so
            on, and later messages of the connection wait.
        reset: Share of requests whose arrival breaks the connection, with or without handling.
        stall: Share of messages that stall the connection for up to `stall_ns`.
        stall_ns: Longest stall, in nanoseconds.
        slow_ns: Extra delay of each message, in nanoseconds.
        bandwidth: Largest rate of a connection, in bytes per second; 0 means no limit.
        close_ns: Delay of the end of a connection, in nanoseconds.
        limit: Bytes after which a connection ends; 0 means no limit.
    """

    loss: float = 0.0
    reset: float = 0.0
    stall: float = 0.0
    stall_ns: int = 0
    slow_ns: int = 0
    bandwidth: int = 0
    close_ns: int = 0
    limit: int = 0


@runtime_checkable
class LinkFaultCapable(Protocol):
    """A backend whose links can lose, delay or reset messages."""

    async def add_link_fault(self, links: frozenset[Link], link_fault: LinkFault) -> None:
        """Add a fault to links, in addition to present faults."""
        ...

    async def remove_link_fault(self, links: frozenset[Link], link_fault: LinkFault) -> None:
        """Undo one `add_link_fault`; without a matching call, do nothing."""
        ...

    async def link_fault_count(self, links: frozenset[Link]) -> int:
        """Return the number of messages on links affected by faults."""
        ...

    async def link_fault_effect(
        self, links: frozenset[Link], link_fault: LinkFault, before: int
    ) -> str | None:
        """Return the measured effect of a present fault; None while there is no effect.

        Args:
            links: The links of the fault.
            link_fault: The fault.
            before: The `link_fault_count` of the links when the fault began.
        """
        del link_fault
        affected = await self.link_fault_count(links) - before
        return f"{affected} messages affected" if affected else None

    async def link_failure(self) -> str | None:
        """Return the proxy of a link that failed by itself, in a line; None if all work."""
        return None


DiskFailureMode = Literal["full", "write", "fsync"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFault:
    """A fault of a node's disk.

    Attributes:
        failure: With `full`, writes and new files fail with ENOSPC, and a part of the data may be
            written. With `write` or `fsync`, these operations fail with EIO. None means no failure.
        slow_ns: Longest extra time of an fsync, in nanoseconds.
    """

    failure: DiskFailureMode | None = None
    slow_ns: int = 0


@runtime_checkable
class DiskFaultCapable(Protocol):
    """A backend whose disks can fail, be slow, or be lost as a whole."""

    async def add_disk_fault(self, node_id: int, fault: DiskFault) -> None:
        """Add a fault to a disk, in addition to present faults."""
        ...

    async def remove_disk_fault(self, node_id: int, fault: DiskFault) -> None:
        """Undo one `add_disk_fault`; without a matching call, do nothing."""
        ...

    async def disk_fault_count(self, node_id: int) -> int:
        """Return the number of disk operations affected by faults."""
        ...

    async def wipe(self, node_id: int) -> None:
        """Kill a node, delete its data, and format its directories again."""
        ...


@runtime_checkable
class DiskFailureReporting(Protocol):
    """A backend whose nodes may take time to end after a failure of their disk."""

    async def disk_failure_line(self, node_id: int) -> str | None:
        """Return the last line of a node that has ended if it names its disk; else None."""
        ...


@runtime_checkable
class DirectoryFaultCapable(Protocol):
    """A backend whose brokers have several log directories, each on a disk that can fail."""

    async def fail_directory(self, node_id: int) -> str | None:
        """Let each use of a drawn log directory be an error.

        Return the directory, or None if the node has one directory or has lost one already.
        """
        ...

    async def directory_failure_observed(self, node_id: int) -> str | None:
        """Return the reaction of the node to a failed directory; None before a reaction."""
        ...

    async def end_directory_failure(self, node_id: int) -> None:
        """Kill the node, and give the directory back or put an empty disk in its place."""
        ...


@runtime_checkable
class BitRotCapable(Protocol):
    """A backend that can damage a durable file of a node, and restore the file."""

    async def damage_file(self, node_id: int) -> str | None:
        """Flip a bit of a closed segment, a snapshot or quorum-state.

        Return the damaged file, or None if the node has no such file.
        """
        ...

    async def damage_observed(self, node_id: int) -> str | None:
        """Return the damage, and the reaction of the node to it; None without damage."""
        ...

    async def restore_file(self, node_id: int) -> None:
        """Restore the damaged file; without damage, do nothing."""
        ...


CrashMoment = Literal[
    "appending",
    "serving-snapshot",
    "copying-snapshot",
    "installing-snapshot",
    "writing-snapshot",
    "truncating",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashAim:
    """A crash at a moment of a node's own work, wherever the moment comes.

    Attributes:
        moment: The work. `serving-snapshot` and `copying-snapshot` begin with each slice,
            `copying-snapshot` also with the check of the copy.
        operations: Number of changes of the disk between the beginning of the work and the crash.
        loses_power: Whether the first crash loses the unsynced data.
        operations_again: Number of changes of the disk between the restart and a second crash,
            which may come amid the recovery and loses the unsynced data; None means a single crash.
    """

    moment: CrashMoment
    operations: int
    loses_power: bool = False
    operations_again: int | None = None


@runtime_checkable
class AimedCrashCapable(Protocol):
    """A backend that can crash a node at a moment of the node's own work."""

    async def arm_crash(self, node_id: int, aim: CrashAim) -> None:
        """Crash the node when its work comes to the moment; replace an earlier aim."""
        ...

    async def disarm_crash(self, node_id: int) -> None:
        """Remove the aim, if any."""
        ...


@runtime_checkable
class ClockFaultCapable(Protocol):
    """A backend whose monotonic clocks can have a wrong rate."""

    async def set_clock_rate(self, node_id: int, rate_ppm: int) -> None:
        """Set the rate error of a node's monotonic clock in parts per million; 0 heals."""
        ...

    async def clock_rate(self, node_id: int) -> int | None:
        """Return the rate error of a node's monotonic clock, or None for a stopped node."""
        ...


@runtime_checkable
class WallClockFaultCapable(Protocol):
    """A backend whose wall clocks can jump between two values, or run at a wrong rate."""

    async def strobe_clock(self, node_id: int, offset_ns: int, period_ns: int) -> None:
        """Alternate a node's wall clock between offset and no offset; offset 0 heals."""
        ...

    async def drift_clock(self, node_id: int, rate_ppm: int) -> None:
        """Let a node's wall clock drift from now on, in parts per million; 0 heals at true time."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a node has used of its processor and memory since the start of its process.

    Attributes:
        memory: Memory in use now, in bytes.
        memory_limit: Limit of the memory, in bytes.
        at_memory_limit: Allocations that met the limit; None where the kernel does not count them.
        throttled: Periods in which the node had to wait for the processor.
        throttled_ns: Time that the node had to wait, in nanoseconds.
        is_out_of_memory: Whether the kernel ended the last process for lack of memory.
    """

    memory: int
    memory_limit: int
    at_memory_limit: int | None
    throttled: int
    throttled_ns: int
    is_out_of_memory: bool


@runtime_checkable
class LimitCapable(Protocol):
    """A backend that can limit the processor time and the memory of a node."""

    async def limit_cpu(self, node_id: int, share: float | None) -> None:
        """Limit a node to a share of one processor; None heals."""
        ...

    async def limit_memory(self, node_id: int, slack: int | None) -> int | None:
        """Limit a node to its present memory and `slack` bytes; return the limit. None heals.

        Negative slack takes memory away. A crowd of connections makes the node need memory.
        """
        ...

    async def usage(self, node_id: int) -> Usage | None:
        """Return the usage of a node; None for a node that never ran."""
        ...


@runtime_checkable
class StartFaultCapable(Protocol):
    """A backend that can take a node's port, or hide the names of its peers, before a start."""

    async def take_port(self, node_id: int) -> str:
        """Take the first port of a node that is down; return the address."""
        ...

    async def free_port(self, node_id: int) -> None:
        """Free the port; without a port taken, do nothing."""
        ...

    def names_in_use(self, node_id: int) -> tuple[str, ...]:
        """Return the names by which a node's deployment knows its peers; empty for addresses."""
        ...

    async def hide_names(self, node_id: int) -> None:
        """Let the names of a node's peers not resolve there."""
        ...

    async def restore_names(self, node_id: int) -> None:
        """Let all names resolve again."""
        ...

    async def unresolved(self, node_id: int) -> tuple[str, ...]:
        """Return the names in use that do not resolve at a node."""
        ...

    async def last_words(self, node_id: int) -> str:
        """Return the last line that a node printed."""
        ...
