"""ControllersRegister: each process of a controller is registered in the metadata log (KIP-919).

A controller registers after its start, and again until the registration is committed. The watch
knows the processes, the collected logs have the registrations.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from kraftproof.checkers.run_outcome import ViolatedInvariant
from kraftproof.cluster.systems.system import Registration
from kraftproof.nemesis.fault import CLOCKS
from kraftproof.run.health.node_watch import GAP_NS, Look
from kraftproof.run.health.promises import REGISTER, InForce, requirement, violation

BOUND_NS: Final = 20_000_000_000
"""Time with a leader and without a fault in which a controller registers."""
LINGER_NS: Final = 5_000_000_000
"""A batch has the time of its first record; a later record may wait in memory with the first."""


class _Process(NamedTuple):
    """A process of a node, with the looks that saw the process."""

    begin_ns: int
    """The look before the first; the process is younger."""
    looks: list[Look]


def unregistered(
    looks: Sequence[Look],
    registrations: Sequence[Registration],
    faults: Sequence[InForce],
    wall_ns: int,
) -> Iterator[ViolatedInvariant]:
    """Find each controller whose process runs without a registration for longer than the bound.

    Only controllers of which another process registered count: older releases do not register.
    Nothing is judged with a wrong clock, since the logs have times of the nodes' clocks.

    Args:
        looks: The looks at the nodes, in order.
        registrations: The registrations in the order of the log.
        faults: The times of the faults.
        wall_ns: The wall-clock time at time 0 of the looks.
    """
    if any(requirement(one.kind) in CLOCKS for one in faults):
        return
    for node_id in sorted({one.controller for one in registrations}):
        mine = [one for one in registrations if one.controller == node_id]
        taken: set[str] = set()
        processes = _processes(looks, node_id)
        for place, process in enumerate(processes):
            later = processes[place + 1 :]
            until_ns = later[0].begin_ns if later else 1 << 62
            own = _first_of(mine, taken, process, until_ns, wall_ns)
            due_ns = _due(process, faults)
            if own is not None:
                taken.add(own.incarnation)
            elif due_ns is not None:
                yield violation(
                    REGISTER,
                    node=node_id,
                    time_ns=due_ns,
                    detail=f"its process, seen first at {process.looks[0].time_ns / 1e9:.1f} s, "
                    f"was not registered after {BOUND_NS / 1e9:.0f} s with a leader and without "
                    f"a fault; the log has {_count(mine)} of the controller",
                )
                break


def _count(mine: Sequence[Registration]) -> str:
    count = len({one.incarnation for one in mine})
    return f"{count} registration{'s' * (count != 1)}"


def _processes(looks: Sequence[Look], node_id: int) -> list[_Process]:
    """Return the processes of a node in order, the first of which began before the watch."""
    found: list[_Process] = []
    before_ns = 0
    last: int | None = None
    for look in looks:
        process_id = look.processes.get(node_id)
        if process_id is not None and process_id == last:
            found[-1].looks.append(look)
        elif process_id is not None:
            found.append(_Process(before_ns if found else -(1 << 62), [look]))
        last, before_ns = process_id or last, look.time_ns
    return found


def _first_of(
    mine: Sequence[Registration], taken: set[str], process: _Process, until_ns: int, wall_ns: int
) -> Registration | None:
    for one in mine:
        at_ns = one.timestamp_ms * 1_000_000 - wall_ns
        is_in_time = process.begin_ns - LINGER_NS <= at_ns < until_ns
        if is_in_time and one.incarnation not in taken:
            return one
    return None


def _due(process: _Process, faults: Sequence[InForce]) -> int | None:
    """Return when the bound has passed with a leader and without a fault; None if it never has."""
    since: Look | None = None
    before: Look | None = None
    for look in process.looks:
        is_calm = bool(look.leaders) and not any(
            one.begin_ns <= look.time_ns and (before is None or before.time_ns <= one.end_ns)
            for one in faults
        )
        is_near = before is None or look.time_ns - before.time_ns <= GAP_NS
        since = (since or look) if is_calm and is_near else None
        before = look
        if since is not None and look.time_ns - since.time_ns >= BOUND_NS:
            return look.time_ns
    return None
