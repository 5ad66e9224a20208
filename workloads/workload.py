"""What a workload is, and what it is handed. Not: how operations reach a system (cluster/systems).

A workload is one file of this folder: coroutines over the Scope that invoke operations through
processes, until the session's time is up, and final reads once all is healed. It names its model
by string. What is answered is JSON-able data; what is right is the model's to say (checkers/).
"""

from dataclasses import dataclass
from random import Random
from typing import ClassVar, Protocol

from kraftproof.cluster.scope import Scope
from kraftproof.cluster.systems.system import Completion, Outcome, Value

__all__ = ("Completion", "Load", "Outcome", "Pacer", "Process", "Session", "Value", "Workload")


class Process(Protocol):
    """One logical client: an operation at a time, over one connection.

    A lost connection ends the process in the history; the next operation comes from a new one.
    """

    async def invoke(self, f: str, key: str, value: Value = None) -> Completion:
        """Do one operation and return what became of it; never retries."""
        ...

    def close(self) -> None:
        """Leave; the process does nothing more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much a workload is to do, in operations a second and at once."""

    rate: float
    concurrency: int
    session_ns: int
    """How long the system under test keeps a broker's session without a heartbeat."""


class Session(Protocol):
    """One run of one workload."""

    @property
    def scope(self) -> Scope:
        """Time and tasks; an exception that leaves a spawned task ends the run."""
        ...

    @property
    def random(self) -> Random:
        """The workload's own chance."""
        ...

    @property
    def load(self) -> Load:
        """How much to do."""
        ...

    @property
    def ending(self) -> bool:
        """Whether the time for new operations is over."""
        ...

    def process(self) -> Process:
        """Return a new client process."""
        ...


class Workload(Protocol):
    """A workload; an instance serves one run.

    A workload whose system does not start empty may have a further attribute, `initial`: a tuple of
    texts as `kraftproof check --initial` takes them, for example ("0",) or ("k1=5",).
    """

    name: ClassVar[str]
    model: ClassVar[str]

    async def run(self, session: Session) -> None:
        """Invoke operations until the session is ending."""
        ...

    async def final_reads(self, session: Session) -> int:
        """Read every key that was used; return how many could not be read."""
        ...


class Pacer:
    """Turns at random moments, `rate` of them a second on average over all who wait."""

    __slots__ = ("_next_ns", "_random", "_rate", "_scope")

    def __init__(self, scope: Scope, random: Random, rate: float) -> None:
        self._scope = scope
        self._random = random
        self._rate = rate
        self._next_ns = scope.now()

    async def turn(self) -> None:
        """Wait for the next turn; turns that nobody took in time are lost."""
        now_ns = self._scope.now()
        at_ns = max(self._next_ns, now_ns)
        self._next_ns = at_ns + int(self._random.expovariate(self._rate) * 1e9)
        if at_ns > now_ns:
            await self._scope.sleep(at_ns - now_ns)
