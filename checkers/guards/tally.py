"""Counts of a run's operations by outcome and by the windows that they ended in.

The sum of the tallies of the parts of a history is the tally of the whole, in any order.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kraftproof.checkers.figures import Window
from kraftproof.checkers.guards.facts import RunFacts
from kraftproof.checkers.guards.windows import fault_windows, merged, quiet_windows
from kraftproof.checkers.history.faults import FaultEvent

COLUMNS: Final = ("status", "invoke_time", "complete_time")
"""The columns of a table of operations that a tally needs."""
TOTAL_OUTAGES: Final = frozenset({"kill-all", "lose-unsynced"})
"""The kinds of faults during which no node can answer."""
STOPS: Final = frozenset({"kill", "pause", "restart", "stop"})
"""The kinds of faults whose targets can't answer."""


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of completed operations of a run, by kind and by stretch.

    Attributes:
        ok, fail, info: by outcome, the final reads left out.
        ok_in_faults: ok, while a fault was in force, the final reads left out.
        ok_when_quiet: ok, in the quiet windows, the final reads left out.
        ok_in_partial_faults: ok, while every fault in force left a node that can answer.
    """

    ok: int = 0
    fail: int = 0
    info: int = 0
    ok_in_faults: int = 0
    ok_when_quiet: int = 0
    ok_in_partial_faults: int = 0


def tally_of(facts: RunFacts, operations: pa.Table) -> Tally:
    """Return the tally of a run's operations; all zero for a run without operations."""
    if facts.span is None:
        return Tally()
    _, ended_ns = facts.span
    table = operations.select(COLUMNS)
    timed = pc.and_(pc.is_valid(table["invoke_time"]), pc.is_valid(table["complete_time"]))
    table = table.filter(timed)
    status = table["status"].to_numpy(zero_copy_only=False)
    completed = table["complete_time"].to_numpy()
    is_ok = status == "ok"
    is_within = table["invoke_time"].to_numpy() <= ended_ns
    busy, partial, quiet = windows_of(facts)
    ok_at = completed[is_ok & is_within]
    return Tally(
        ok=len(ok_at),
        fail=int(((status == "fail") & is_within).sum()),
        info=int(((status == "info") & is_within).sum()),
        ok_in_faults=_count_in(ok_at, busy),
        ok_when_quiet=_count_in(ok_at, quiet),
        ok_in_partial_faults=_count_in(completed[is_ok], partial),
    )


def windows_of(
    facts: RunFacts,
) -> tuple[tuple[Window, ...], tuple[Window, ...], tuple[Window, ...]]:
    """Return when faults were in force, when partial ones were, and when all was quiet."""
    assert facts.span is not None, "only a run that got there has windows"
    started_ns, ended_ns = facts.span
    busy = fault_windows(facts.faults, ended_ns)
    partial = fault_windows((one for one in facts.faults if not _is_total(one, facts)), ended_ns)
    return busy, partial, quiet_windows(busy, started_ns, ended_ns, facts.bounds.settle_ns)


def _is_total(event: FaultEvent, facts: RunFacts) -> bool:
    """Return whether a fault leaves no node that can answer."""
    if event.kind in TOTAL_OUTAGES:
        return True
    return event.kind in STOPS and bool(facts.nodes) and set(facts.nodes) <= targets_of(event)


def targets_of(event: FaultEvent) -> set[int]:
    """Return the nodes that a fault hits."""
    targets = event.targets if isinstance(event.targets, list | tuple) else ()
    return {one for one in targets if isinstance(one, int)}


def _count_in(times: NDArray[np.int64], windows: Sequence[Window]) -> int:
    """Return how many times lie in any of the windows."""
    union = merged(windows)
    if not union or not len(times):
        return 0
    starts, stops = np.array(union, dtype=np.int64).T
    place = np.searchsorted(starts, times, side="right") - 1
    return int(((place >= 0) & (times < stops[place])).sum())
