"""Judge what the clients of a live run have seen of their requests.

Time in which a fault may have stopped the node, or the way to it, does not count as silence.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from kraftproof.checkers.history.faults import FaultSpan, fault_spans, read_faults
from kraftproof.checkers.run_outcome import ViolatedInvariant
from kraftproof.cluster.answer_watch import BOUND_NS, AnswerWatch, Silence, WatchesAnswers
from kraftproof.cluster.protocol import Cluster

IN_ORDER: Final = "AnswersComeOnceInOrder"
ENDS: Final = "EveryRequestEnds"
STATEMENTS: Final = {
    IN_ORDER: "Each request on a connection is answered once, in order and in its version.",
    ENDS: f"A node answers each request within the client's time-out and {BOUND_NS // 10**9} s, "
    "or ends the connection.",
}
HARMLESS: Final = frozenset({"partition"})
"""Kinds of faults under which a node answers its clients in time."""
RECOVERY_NS: Final = 5_000_000_000
"""Time after a fault that does not count either."""


def violations_of_answers(cluster: Cluster | None, faults: Path) -> tuple[ViolatedInvariant, ...]:
    """Return what the clients of a live cluster have seen, judged by the log of its faults."""
    if not isinstance(cluster, WatchesAnswers):
        return ()
    return broken_promises(cluster.answers, fault_spans(read_faults(faults)))


def broken_promises(
    watch: AnswerWatch, faults: Iterable[FaultSpan]
) -> tuple[ViolatedInvariant, ...]:
    """Return a violation for each wrong answer and each silence that no fault excuses."""
    spans = [(one.start, one.end) for one in faults if one.kind not in HARMLESS]
    found = [_violation(IN_ORDER, one.node_id, one.time_ns, one.detail) for one in watch.wrong]
    for one in watch.silent:
        silent_ns = _counted_ns(one, spans)
        if silent_ns > one.timeout_ns + BOUND_NS:
            detail = f"{one.about}: no answer for {silent_ns / 1e9:.1f} s without a fault"
            found.append(_violation(ENDS, one.node_id, one.asked_ns, detail))
    return tuple(sorted(found, key=lambda one: one.time_ns or 0))


def _counted_ns(silence: Silence, spans: Iterable[tuple[int, int | None]]) -> int:
    """Return the time of a silence outside of all spans."""
    counted_ns, reached_ns = 0, silence.asked_ns
    for start, end in sorted(spans):
        if start > reached_ns:
            counted_ns += max(0, min(start, silence.until_ns) - reached_ns)
        healed_ns = silence.until_ns if end is None else end + RECOVERY_NS
        reached_ns = max(reached_ns, healed_ns)
    return counted_ns + max(0, silence.until_ns - reached_ns)


def _violation(invariant: str, node: int, time_ns: int, detail: str) -> ViolatedInvariant:
    return ViolatedInvariant(
        invariant=invariant,
        sentence=STATEMENTS[invariant],
        node=node,
        time_ns=time_ns,
        detail=detail,
    )
