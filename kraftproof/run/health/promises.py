"""The promises of live nodes by name, and the faults that excuse a node."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from kraftproof.checkers.history.faults import FaultEvent
from kraftproof.checkers.run_outcome import ViolatedInvariant
from kraftproof.cluster.protocol import Capability
from kraftproof.nemesis.catalogue import ours
from kraftproof.nemesis.fault import SPARING

IN_ORDER: Final = "AnswersComeOnceInOrder"
ENDS: Final = "EveryRequestEnds"
STAY: Final = "NodesStayUp"
NO_FATAL_FAULT: Final = "NoFatalFault"
ENDS_AFTER_FATAL: Final = "FatalFaultsEndTheNode"
NO_INTERNAL_ERROR: Final = "NoInternalError"
RESIGN: Final = "ReplacedLeadersResign"
REGISTER: Final = "ControllersRegister"
RECOVER: Final = "ClusterRecovers"

STATEMENTS: Final = {
    IN_ORDER: "Each request on a connection is answered once, in order and in its version.",
    ENDS: "A node answers each request within the client's time-out and the `answers_s` of its "
    "system, or ends the connection.",
    STAY: "A node ends only when it is told to.",
    NO_FATAL_FAULT: "A node logs no fatal fault.",
    ENDS_AFTER_FATAL: "A node that logs a fatal fault ends.",
    NO_INTERNAL_ERROR: "Without a fault, no request is answered by an internal error.",
    RESIGN: "A leader resigns soon after another node leads a later epoch.",
    REGISTER: "Each process of a controller is registered in the metadata log.",
    RECOVER: "The cluster is ready again after all faults are healed.",
}
_LAST: Final = 1 << 62


class InForce(NamedTuple):
    """The time of a fault from the intent to the heal."""

    begin_ns: int
    end_ns: int
    kind: str
    nodes: frozenset[int] | None
    """The nodes; None if the fault does not say."""

    def concerns(self, node_id: int) -> bool:
        """Return whether the fault may be felt at a node."""
        return self.nodes is None or node_id in self.nodes


def in_force(events: Iterable[FaultEvent]) -> list[InForce]:
    """Return the times of the faults; a fault without a heal lasts for ever."""
    found: dict[str, InForce] = {}
    for event in events:
        if event.phase in {"intent", "applied"}:
            begin_ns = found[event.fault].begin_ns if event.fault in found else event.time
            found[event.fault] = InForce(begin_ns, _LAST, event.kind, _nodes(event.targets))
        elif event.fault in found and event.phase in {"healed", "moot"}:
            found[event.fault] = found[event.fault]._replace(end_ns=event.time)
    return list(found.values())


def ending(faults: Iterable[InForce]) -> list[InForce]:
    """Return the faults that may end processes; a fault of a plug-in may."""
    return [one for one in faults if requirement(one.kind) not in SPARING]


def requirement(kind: str) -> Capability | None:
    """Return the capability for a kind of fault; None for a fault of a plug-in."""
    known = ours().get(kind)
    return None if known is None else known.requires


def violation(invariant: str, *, node: int | None, time_ns: int, detail: str) -> ViolatedInvariant:
    """Return the violation of a promise."""
    return ViolatedInvariant(
        invariant=invariant,
        sentence=STATEMENTS[invariant],
        node=node,
        time_ns=time_ns,
        detail=detail,
    )


def _nodes(targets: object) -> frozenset[int] | None:
    if isinstance(targets, list | tuple) and all(isinstance(one, int) for one in targets):
        return frozenset(targets)
    return None
