"""What a simulated run has been through: in which role which event came, and under which faults.

A cell is (role, event, fault): the role in which a node took the event, the event with its
message, and a kind of fault that was in force in the cluster then, or "none". Not: what was right
or wrong with it (invariants.py), nor which seeds to run for more (kraftproof/search/steering.py).
"""

from collections import Counter

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView
from kraftproof.node.core.base.quorum_state import QuorumState

NO_FAULT = "none"
AT_START = "unstarted"

Cell = tuple[str, str, str]


class Coverage(Invariant):
    """Keeps the cells of one run; it objects to nothing, and costs a set's `add` each step."""

    sentence = "What the run has been through."

    def __init__(self) -> None:
        super().__init__()
        self._roles: dict[int, str] = {}
        self._faults: Counter[str] = Counter()
        self._in_force: tuple[str, ...] = (NO_FAULT,)
        self._steps: set[tuple[str, type, type, tuple[str, ...]]] = set()

    def fault_begins(self, kind: str) -> None:
        """A fault of this kind is in force from now on."""
        self._faults[kind] += 1
        self._name_faults()

    def fault_ends(self, kind: str) -> None:
        """One of this kind less is in force."""
        self._faults[kind] -= 1
        self._name_faults()

    def _name_faults(self) -> None:
        kinds = sorted(kind for kind, number in self._faults.items() if number > 0)
        self._in_force = tuple(kinds) or (NO_FAULT,)

    @override
    def started(self, process: ProcessView, durable: QuorumState) -> None:
        self._roles[process.node_id] = AT_START

    @override
    def stepped(self, process: ProcessView) -> None:
        event, status = process.event, process.status
        assert status is not None, "it is there from the first step on"
        role = self._roles[process.node_id]
        message = type(getattr(event, "message", None))
        self._steps.add((role, type(event), message, self._in_force))
        self._roles[process.node_id] = status.role

    @property
    def cells(self) -> frozenset[Cell]:
        """All that the run has been through."""
        return frozenset(
            (role, _name(event, message), fault)
            for role, event, message, faults in self._steps
            for fault in faults
        )


def _name(event: type, message: type) -> str:
    """Return a name such as `Received Fetch`, or `Tick` for what carries no message."""
    if message is type(None):
        return event.__name__ if event is not type(None) else "start"
    name = message.__name__.removesuffix("Request").removesuffix("Response")
    return f"{event.__name__} {name}"
