"""NodesStayUp, NoFatalFault and FatalFaultsEndTheNode: the processes of live nodes, judged."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from kraftproof.checkers.run_outcome import ViolatedInvariant
from kraftproof.run.health.node_watch import FatalLine, Look
from kraftproof.run.health.promises import (
    ENDS_AFTER_FATAL,
    NO_FATAL_FAULT,
    STAY,
    InForce,
    ending,
    violation,
)

STARTS_NS: Final = 3_000_000_000
"""Time after a heal in which a node may have no process yet."""
ENDS_NS: Final = 15_000_000_000
"""Time in which a node ends after a fatal fault."""


def processes_that_ended(
    looks: Sequence[Look],
    nodes: Sequence[int],
    faults: Sequence[InForce],
    last_words: Callable[[int], str],
) -> Iterator[ViolatedInvariant]:
    """Find each time without a process and without an excuse."""
    excuses = ending(faults)
    for node_id in nodes:
        mine = [one for one in excuses if one.concerns(node_id)]
        for first, last in _down(looks, node_id):
            since_ns = _unexcused(first, last, mine)
            if since_ns is not None:
                status = _status(looks, node_id, since_ns)
                how = "" if status is None else f" with status {status}"
                yield violation(
                    STAY,
                    node=node_id,
                    time_ns=since_ns,
                    detail=f"ended by itself{how}; its last output: {last_words(node_id)}",
                )
                break


def fatal_lines(fatal: Sequence[FatalLine], looks: Sequence[Look]) -> Iterator[ViolatedInvariant]:
    """Find the first fatal line of each node, and the nodes with a process long after the line."""
    firsts: dict[int, FatalLine] = {}
    for line in fatal:
        firsts.setdefault(line.node_id, line)
    for line in firsts.values():
        yield violation(
            NO_FATAL_FAULT,
            node=line.node_id,
            time_ns=line.time_ns,
            detail=f"printed {line.text!r}",
        )
        bound_ns = line.time_ns + ENDS_NS
        later = [look for look in looks if look.time_ns >= line.time_ns]
        if later and later[-1].time_ns > bound_ns and all(line.node_id in at.up for at in later):
            alive_s = (later[-1].time_ns - line.time_ns) / 1e9
            yield violation(
                ENDS_AFTER_FATAL,
                node=line.node_id,
                time_ns=bound_ns,
                detail=f"had a process for {alive_s:.0f} s after it printed {line.text!r}",
            )


def _down(looks: Sequence[Look], node_id: int) -> Iterator[tuple[Look, Look]]:
    """Return the times without a process: the first look that saw none, and the last one."""
    first: Look | None = None
    last: Look | None = None
    for look in looks:
        if node_id not in look.up:
            first, last = first or look, look
        elif first is not None and last is not None:
            yield first, last
            first = None
    if first is not None and last is not None:
        yield first, last


def _status(looks: Sequence[Look], node_id: int, since_ns: int) -> int | None:
    """Return the exit status at the first look from a time on that has the status."""
    later = (look for look in looks if look.time_ns >= since_ns)
    return next((at.exit_statuses[node_id] for at in later if node_id in at.exit_statuses), None)


def _unexcused(first: Look, last: Look, excuses: Sequence[InForce]) -> int | None:
    """Return the begin of the time without an excuse; None for an excused time.

    A look takes seconds on a busy machine, and saw the node at one moment of these. After an excuse
    only a look that began later is evidence.
    """
    reached_ns: int | None = None
    for one in sorted(excuses):
        until_ns = one.end_ns + STARTS_NS
        if one.begin_ns <= max(reached_ns or 0, first.time_ns) and until_ns >= first.begun_ns:
            reached_ns = max(reached_ns or 0, until_ns)
    if reached_ns is None:
        return first.time_ns
    return reached_ns if reached_ns < last.begun_ns else None
