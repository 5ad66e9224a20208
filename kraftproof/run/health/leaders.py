"""The leaders that a run's looks saw: their changes, and the promise ReplacedLeadersResign.

A leader without a majority does not stay leader (KIP-595).

For a moment two nodes may lead, in two epochs: the old leader has not yet learned of the new
leader. The old leader resigns after a time-out.
"""

from collections.abc import Iterator, Sequence

from kraftproof.checkers.run_outcome import ViolatedInvariant
from kraftproof.nemesis.fault import CLOCKS
from kraftproof.run.health.node_watch import GAP_NS, Look
from kraftproof.run.health.promises import RESIGN, InForce, requirement, violation


def leader_changes(looks: Sequence[Look]) -> tuple[tuple[int, int], ...]:
    """Return for each new leader the time of the look before, and that of the first look after."""
    changes, newest, seen_ns = [], 0, 0
    for look in looks:
        epoch = max(look.leaders.values(), default=0)
        if newest and epoch > newest:
            changes.append((seen_ns, look.time_ns))
        if epoch and epoch >= newest:
            newest, seen_ns = epoch, look.time_ns
    return tuple(changes)


def replaced_leaders(
    looks: Sequence[Look], faults: Sequence[InForce], bound_ns: int
) -> Iterator[ViolatedInvariant]:
    """Find each leader of an epoch after the bound since the start of a later leader.

    A stretch with a wrong clock does not count: time-outs may follow the clock.
    """
    wrong_clocks = [one for one in faults if requirement(one.kind) in CLOCKS]
    first: dict[tuple[int, int], Look] = {}
    last: dict[tuple[int, int], Look] = {}
    found: set[int] = set()
    for look in looks:
        newest = max(look.leaders.values(), default=0)
        replaced = {(node, epoch) for node, epoch in look.leaders.items() if epoch < newest}
        for one in [each for each in first if each not in replaced]:
            del first[one], last[one]
        for one in sorted(replaced):
            if one in last and look.time_ns - last[one].time_ns > GAP_NS:
                del first[one]
            begun = first.setdefault(one, look)
            last[one] = look
            node_id, epoch = one
            late_ns = look.time_ns - begun.time_ns
            if late_ns <= bound_ns or node_id in found:
                continue
            if any(
                fault.begin_ns < look.time_ns and fault.end_ns > begun.time_ns
                for fault in wrong_clocks
            ):
                continue
            found.add(node_id)
            newer = max(begun.leaders, key=begun.leaders.__getitem__)
            yield violation(
                RESIGN,
                node=node_id,
                time_ns=look.time_ns,
                detail=f"said that it leads epoch {epoch} for {late_ns / 1e9:.1f} s "
                f"after node {newer} said so of epoch {begun.leaders[newer]}",
            )
