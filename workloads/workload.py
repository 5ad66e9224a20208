"""Define the protocol of a workload and of the session that a run provides.

A workload is a file of this folder: coroutines over the Scope invoke operations through processes
until the session's time is over, and make final reads after all faults are healed. The workload
names its model by string. Results are JSON data; the model (checkers/) decides on their
correctness. See cluster/systems for the way of operations to a system.
"""

from dataclasses import dataclass
from random import Random
from typing import ClassVar, Protocol

from kraftproof.cluster.scope import Scope
from kraftproof.cluster.systems.system import Completion, Outcome, Value

__all__ = ("Completion", "Load", "Outcome", "Pacer", "Process", "Session", "Value", "Workload")


class Process(Protocol):
    """A logical client: one operation at a time, over one connection.

    A lost connection ends the process in the history; a new process invokes the next operation.
    """

    async def invoke(self, f: str, key: str, value: Value = None) -> Completion:
        """Execute an operation without retries and return its completion."""
        ...

    def close(self) -> None:
        """End the process."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Requested operations per second, and number of concurrent clients."""

    rate: float
    concurrency: int
    session_ns: int
    """Session timeout of a broker without heartbeats in the system under test, in nanoseconds."""


class Session(Protocol):
    """A run of a workload."""

    @property
    def scope(self) -> Scope:
        """Clock and tasks; an uncaught exception of a spawned task ends the run."""
        ...

    @property
    def random(self) -> Random:
        """Random generator of the workload."""
        ...

    @property
    def load(self) -> Load:
        """Rate and concurrency of the run."""
        ...

    @property
    def run_id(self) -> str:
        """A short text that no other run on the machine has; values of the run carry it."""
        ...

    @property
    def ending(self) -> bool:
        """Return whether the time limit for new operations has passed."""
        ...

    def process(self) -> Process:
        """Return a new client process."""
        ...


class Workload(Protocol):
    """A workload; each run makes a new instance.

    If the system does not start empty, a workload may have an attribute `initial`: a tuple of texts
    in the form of `kraftproof check --initial`, for example ("0",) or ("k1=5",). A workload that
    produces records has an attribute `has_data`, which is true: simulated brokers then keep
    replicas. With a true attribute `has_security`, brokers have an authorizer and a listener for
    logins. With a true attribute `owns_settings`, no load beside the workload alters the settings
    of brokers. An attribute `faults` names the kinds of faults that each simulated run has besides
    the kinds that its seed draws.
    """

    name: ClassVar[str]
    model: ClassVar[str]

    async def run(self, session: Session) -> None:
        """Invoke operations until the session is ending."""
        ...

    async def final_reads(self, session: Session) -> int:
        """Read all used keys; return the number of keys whose read failed."""
        ...


class Pacer:
    """Gives turns at random times, on average `rate` turns a second for all waiting clients."""

    __slots__ = ("_next_ns", "_random", "_rate", "_scope")

    def __init__(self, scope: Scope, random: Random, rate: float) -> None:
        self._scope = scope
        self._random = random
        self._rate = rate
        self._next_ns = scope.now()

    async def turn(self) -> None:
        """Wait for the next turn; a turn without a waiting client is lost."""
        now_ns = self._scope.now()
        at_ns = max(self._next_ns, now_ns)
        self._next_ns = at_ns + int(self._random.expovariate(self._rate) * 1e9)
        if at_ns > now_ns:
            await self._scope.sleep(at_ns - now_ns)
