"""Coverage of a simulated run: cells of (role, event, fault).

A cell has the role in which a node handled an event, the event with its message, and a kind of
fault that was active in the cluster at the time, or "none". See kraftproof/search/steering.py for
the choice of seeds by coverage.
"""

from collections import Counter

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView
from kraftproof.node.core.base.quorum_state import QuorumState

NO_FAULT = "none"
AT_START = "unstarted"

Cell = tuple[str, str, str]


class Coverage(Invariant):
    """Collects the cells of one run, with one `add` to a set per step."""

    statement = "The coverage reports no violation."

    def __init__(self) -> None:
        super().__init__()
        self._roles: dict[int, str] = {}
        self._faults: Counter[str] = Counter()
        self._in_force: tuple[str, ...] = (NO_FAULT,)
        self._steps: set[tuple[str, type, type, tuple[str, ...]]] = set()

    def fault_begins(self, kind: str) -> None:
        """Count one more active fault of a kind."""
        self._faults[kind] += 1
        self._name_faults()

    def fault_ends(self, kind: str) -> None:
        """Count one active fault of a kind less."""
        self._faults[kind] -= 1
        self._name_faults()

    def _name_faults(self) -> None:
        kinds = sorted(kind for kind, number in self._faults.items() if number > 0)
        self._in_force = tuple(kinds) or (NO_FAULT,)

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._roles[process.node_id] = AT_START

    @override
    def on_step(self, process: ProcessView) -> None:
        event, status = process.event, process.status
        assert status is not None, "it is there from the first step on"
        role = self._roles[process.node_id]
        message = type(getattr(event, "message", None))
        self._steps.add((role, type(event), message, self._in_force))
        self._roles[process.node_id] = status.role

    @property
    def cells(self) -> frozenset[Cell]:
        """The covered cells of the run."""
        return frozenset(
            (role, _name(event, message), fault)
            for role, event, message, faults in self._steps
            for fault in faults
        )


def _name(event: type, message: type) -> str:
    """Return a name such as `Received Fetch`, or `Tick` for an event without a message."""
    if message is type(None):
        return event.__name__ if event is not type(None) else "start"
    name = message.__name__.removesuffix("Request").removesuffix("Response")
    return f"{event.__name__} {name}"
