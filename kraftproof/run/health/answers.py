"""AnswersComeOnceInOrder and EveryRequestEnds: the answers to clients, judged."""

from collections.abc import Iterable
from typing import Final

from kraftproof.checkers.history.faults import FaultSpan
from kraftproof.checkers.run_outcome import ViolatedInvariant
from kraftproof.cluster.answer_watch import AnswerWatch, Silence
from kraftproof.run.health.promises import ENDS, IN_ORDER, violation

HARMLESS: Final = frozenset({"partition", "isolate"})
"""Kinds of faults under which a node answers its clients in time."""
RECOVERY_NS: Final = 5_000_000_000
"""Time after a fault, which does not count."""


def broken_promises(
    watch: AnswerWatch, faults: Iterable[FaultSpan]
) -> tuple[ViolatedInvariant, ...]:
    """Return a violation for each wrong answer and each silence that no fault excuses."""
    spans = [(one.start, one.end) for one in faults if one.kind not in HARMLESS]
    found = [
        violation(IN_ORDER, node=one.node_id, time_ns=one.time_ns, detail=one.detail)
        for one in watch.wrong
    ]
    for one in watch.silent:
        silent_ns = _counted_ns(one, spans)
        allowed_ns = one.timeout_ns + watch.bound_ns
        if silent_ns > allowed_ns:
            detail = (
                f"{one.about}: no answer for {silent_ns / 1e9:.1f} s without a fault, "
                f"{allowed_ns / 1e9:.1f} s are allowed"
            )
            found.append(violation(ENDS, node=one.node_id, time_ns=one.asked_ns, detail=detail))
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
