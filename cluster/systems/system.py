"""What a system under test brings: its clients, who has which role, and what it promises.

One file a system; `reference` is ours. A client does one operation at a time and never retries
inside it. What became of an operation is ok, fail (surely not done) or info (nobody knows), from
a table of the system's errors. Not: what operations to do (workloads/), what is right (checkers/).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Protocol

from kraftproof.cluster.protocol import Cluster

Value = Mapping[str, object] | None


class Outcome(StrEnum):
    """What became of an operation: done, surely not done, or nobody knows."""

    OK = "ok"
    FAIL = "fail"
    INFO = "info"


class Guarantee(StrEnum):
    """What a system declares of an operation's answers."""

    LINEARIZABLE = "linearizable"
    SESSION_MONOTONIC = "session-monotonic"
    BOUNDED_STALENESS = "bounded-staleness"
    LEASE = "lease"


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The end of one operation."""

    outcome: Outcome
    value: Value = None
    error: str | None = None
    connected: bool = True
    """Whether the connection lives on; if not, the process in the history ends here."""

    def told(self, outcome: str) -> bool:
        """Whether the operation is ok, with this outcome in its value."""
        if self.outcome is not Outcome.OK or self.value is None:
            return False
        return self.value.get("outcome") == outcome


class Client(Protocol):
    """One client of one workload, over one connection at a time."""

    @property
    def node(self) -> int | None:
        """The node that it talks to, or would talk to next."""
        ...

    async def open(self) -> None:
        """Connect, to the next node if the last connection was lost.

        Raises:
            ConnectionFailed: the node can't be reached; the next call tries another.
        """
        ...

    async def invoke(self, f: str, key: str, value: Value) -> Completion:
        """Do one operation over the open connection."""
        ...

    def close(self) -> None:
        """Drop the connection."""
        ...


class System(Protocol):
    """A kind of cluster and how it is talked to; an instance serves one run."""

    @property
    def name(self) -> str:
        """Its name, as in run.json."""
        ...

    @property
    def guarantees(self) -> Mapping[str, Guarantee]:
        """What it declares for each operation."""
        ...

    async def prepare(self, cluster: Cluster) -> None:
        """Learn what clients need of a cluster that has just started."""
        ...

    def client(self, cluster: Cluster, workload: str, random: Random) -> Client:
        """Return a client for the operations of a workload, not yet connected.

        Raises:
            SystemUnavailableError: the system has no operations for that workload.
        """
        ...

    async def roles(self, cluster: Cluster) -> Mapping[str, tuple[int, ...]]:
        """Say who is `active-controller` and who `standby-controller` now, as far as known."""
        ...

    def rows(self, cluster: Cluster, table: str) -> list[dict[str, object]] | None:
        """Decode the nodes' raw files into rows of a neutral table; None: it has no such table."""
        ...


class SystemUnavailableError(ValueError):
    """A system that is not there or can't do what is asked; the text is one clear line."""
