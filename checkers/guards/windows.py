"""The stretches of a run with faults in force, and the quiet stretches."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kraftproof.checkers.figures import Window

if TYPE_CHECKING:
    from kraftproof.checkers.history.faults import FaultEvent


def fault_windows(events: "Iterable[FaultEvent]", end_ns: int) -> tuple[Window, ...]:
    """Return when each applied fault was in force: from the intent, since `apply` takes time."""
    intended: dict[str, int] = {}
    since: dict[str, int] = {}
    windows: list[Window] = []
    for event in events:
        if event.phase == "intent":
            intended[event.fault] = event.time
        elif event.phase == "applied":
            since[event.fault] = intended.get(event.fault, event.time)
        elif event.phase == "healed" and event.fault in since:
            windows.append((since.pop(event.fault), event.time))
    windows.extend((start_ns, end_ns) for start_ns in since.values())
    return tuple(sorted(windows))


def quiet_windows(
    busy: Sequence[Window], start_ns: int, end_ns: int, settle_ns: int
) -> tuple[Window, ...]:
    """Return the windows that open some time after a heal and end at the next fault."""
    windows = []
    opens_ns = start_ns
    for begins_ns, ends_ns in sorted(busy):
        if begins_ns > opens_ns:
            windows.append((opens_ns, begins_ns))
        opens_ns = max(opens_ns, ends_ns + settle_ns)
    if opens_ns < end_ns:
        windows.append((opens_ns, end_ns))
    return tuple(windows)


def merged(windows: Iterable[Window]) -> list[Window]:
    """Return the union of some windows as windows that do not overlap, in order."""
    union: list[Window] = []
    for start, stop in sorted(windows):
        if union and start <= union[-1][1]:
            union[-1] = (union[-1][0], max(stop, union[-1][1]))
        else:
            union.append((start, stop))
    return union
