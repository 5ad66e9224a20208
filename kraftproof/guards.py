"""Guards against a vacuous pass: a run that hardly broke or did anything proves nothing.

Pure functions of the fault events and the operations. Each guard that is not met is one sentence,
and makes a run that would be valid unknown. Not: whether the history is right (checkers/).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kraftproof.history import FaultEvent
from kraftproof.interpreter import Interpreted
from kraftproof.operations import DoneOperation
from kraftproof.planning import FEWEST_BITTEN
from nemesis.schedule import QUIET_SHARE, quiet_windows

SECOND_NS = 1_000_000_000
TOTAL_OUTAGES = frozenset({"kill-all", "lose-unsynced"})
"""While these last nobody is there who could answer."""
Window = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a run did, in numbers."""

    ok: int
    fail: int
    info: int
    ok_in_faults: int
    quiet_share: float
    quiet_ok_rate: float
    """ok operations a second over the quiet windows."""
    quiet: tuple[Window, ...]
    busy: tuple[Window, ...]
    bitten: tuple[tuple[str, int], ...]
    """How many faults of each kind have bitten."""
    moot: int
    failed: int
    unread_keys: int


def fault_windows(
    events: Sequence[FaultEvent], end_ns: int, *, besides: frozenset[str] = frozenset()
) -> tuple[Window, ...]:
    """Return when each fault was in force, from applied to healed."""
    since: dict[str, int] = {}
    windows: list[Window] = []
    for event in events:
        if event.kind in besides:
            continue
        if event.phase == "applied":
            since[event.name] = event.time_ns
        elif event.phase == "healed" and event.name in since:
            windows.append((since.pop(event.name), event.time_ns))
    windows.extend((start_ns, end_ns) for start_ns in since.values())
    return tuple(sorted(windows))


def figures(run: Interpreted) -> Figures:
    """Count a run."""
    within = [one for one in run.operations if one.invoke_ns <= run.ended_ns]
    ok = [one for one in within if one.outcome == "ok"]
    span_ns = max(1, run.ended_ns - run.started_ns)
    busy = fault_windows(run.faults, run.ended_ns)
    shifted = [(start - run.started_ns, stop - run.started_ns) for start, stop in busy]
    quiet = tuple(
        (start + run.started_ns, stop + run.started_ns)
        for start, stop in quiet_windows(shifted, span_ns)
    )
    quiet_ns = sum(stop - start for start, stop in quiet)
    kinds = sorted({event.kind for event in run.faults})
    return Figures(
        ok=len(ok),
        fail=sum(one.outcome == "fail" for one in within),
        info=sum(one.outcome == "info" for one in within),
        ok_in_faults=sum(_lies_in(one, busy) for one in ok),
        quiet_share=quiet_ns / span_ns,
        quiet_ok_rate=sum(_lies_in(one, quiet) for one in ok) * SECOND_NS / max(1, quiet_ns),
        quiet=quiet,
        busy=busy,
        bitten=tuple((kind, _count(run.faults, "bitten", kind)) for kind in kinds),
        moot=_count(run.faults, "moot"),
        failed=_count(run.faults, "failed"),
        unread_keys=run.unread_keys,
    )


def unmet(run: Interpreted, nemeses: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence for every guard that the run does not meet."""
    found = figures(run)
    bitten = dict(found.bitten)
    sentences = [
        f"{kind}: {bitten.get(kind, 0)} faults have bitten, at least {FEWEST_BITTEN} are needed"
        for kind in nemeses
        if bitten.get(kind, 0) < FEWEST_BITTEN
    ]
    sentences += [
        f"fault {event.name} ({event.kind}) failed: {event.detail}"
        for event in run.faults
        if event.phase == "failed"
    ]
    if found.ok == 0:
        sentences.append("no operation succeeded")
    if nemeses and found.quiet_share < QUIET_SHARE:
        sentences.append(
            f"{found.quiet_share:.0%} of the run was quiet, at least {QUIET_SHARE:.0%} is needed"
        )
    if found.quiet and found.quiet_ok_rate == 0:
        sentences.append("no operation succeeded in the quiet windows")
    partial = fault_windows(run.faults, run.ended_ns, besides=TOTAL_OUTAGES)
    ok = [one for one in run.operations if one.outcome == "ok"]
    if partial and not any(_lies_in(one, partial) for one in ok):
        sentences.append("no operation succeeded while faults were in force")
    if run.unread_keys:
        sentences.append(f"{run.unread_keys} keys could not be read after healing")
    return tuple(sentences)


def _count(events: Sequence[FaultEvent], phase: str, kind: str | None = None) -> int:
    return sum(event.phase == phase and kind in {None, event.kind} for event in events)


def _lies_in(operation: DoneOperation, windows: Sequence[Window]) -> bool:
    """Whether an operation ended within one of the windows."""
    return any(start <= operation.complete_ns < stop for start, stop in windows)
