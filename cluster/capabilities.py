"""What only some backends can do to their clusters; the simulator fulfils each of these.

A fault that needs one names the capability, so a backend without it is refused before a run
(kraftproof/run/planning.py). Not: what every backend has (cluster/protocol.py).
"""

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from kraftproof.cluster.protocol import Link


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFault:
    """How bad a link is; shares are chances of one message, between 0 and 1.

    Attributes:
        loss: Its segment is lost: TCP sends it again after 200 ms, then 400 ms, and so on, and
            what comes after it on the same connection waits.
        reset: The connection breaks as a request arrives, before or after it is carried out.
        stall: The connection stands still for up to `stall_ns`.
        stall_ns: See `stall`.
        slow_ns: What every message takes longer.
    """

    loss: float = 0.0
    reset: float = 0.0
    stall: float = 0.0
    stall_ns: int = 0
    slow_ns: int = 0


@runtime_checkable
class LinkFaultCapable(Protocol):
    """Links that are bad without being cut."""

    async def add_link_fault(self, links: frozenset[Link], link_fault: LinkFault) -> None:
        """Make links bad, besides what is wrong with them already."""
        ...

    async def remove_link_fault(self, links: frozenset[Link], link_fault: LinkFault) -> None:
        """Undo one such `degrade`; undoing what was not done is no error."""
        ...

    async def link_fault_count(self, links: frozenset[Link]) -> int:
        """How many messages on these links have been lost, reset, stalled or slowed by toxics."""
        ...


DiskFailureMode = Literal["full", "write", "fsync"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFault:
    """What is wrong with a node's disk.

    Attributes:
        failure: `full`: writes and new files are refused with ENOSPC, a part of a write may still
            have been made; `write` and `fsync`: these fail with EIO. None: nothing fails.
        slow_ns: The longest that an fsync takes besides.
    """

    failure: DiskFailureMode | None = None
    slow_ns: int = 0


@runtime_checkable
class DiskFaultCapable(Protocol):
    """Disks that refuse, are slow, or are lost as a whole."""

    async def add_disk_fault(self, node_id: int, fault: DiskFault) -> None:
        """Make a disk bad, besides what is wrong with it already."""
        ...

    async def remove_disk_fault(self, node_id: int, fault: DiskFault) -> None:
        """Undo one such `add_disk_fault`; undoing what was not done is no error."""
        ...

    async def disk_fault_count(self, node_id: int) -> int:
        """How many operations of the disk have been refused or slowed by troubles."""
        ...

    async def wipe(self, node_id: int) -> None:
        """Kill a node, take away all it has stored, and format its directories again."""
        ...


@runtime_checkable
class ClockFaultCapable(Protocol):
    """Clocks that run at a wrong rate, or jump to and fro."""

    async def set_clock_rate(self, node_id: int, rate_ppm: int) -> None:
        """Let a node's monotonic clock run that many millionths quicker; 0 heals."""
        ...

    async def clock_rate(self, node_id: int) -> int | None:
        """By how many millionths the node's monotonic clock runs quicker; None when down."""
        ...

    async def strobe_clock(self, node_id: int, offset_ns: int, period_ns: int) -> None:
        """Let a node's wall clock jump to and fro by an offset each period; offset 0 heals."""
        ...
