"""Where in a step a crash falls: between two effects, or between two operations of the disk.

A process that is killed, or whose machine loses its power, may have done any part of a step. What
is dealt there is the caller's; some blows fall at other moments still (opportunity.py).
"""

from collections.abc import Callable

from kraftproof.cluster.simulated.disk.faults import DiskFaults
from kraftproof.cluster.simulated.faults.fault_timing import max_wait_ns, wait_for_write
from kraftproof.cluster.simulated.kernel.scope import SimulatedPromise, SimulatedScope
from kraftproof.cluster.simulated.node.machine import Machine
from kraftproof.node.core.effects import (
    Append,
    CleanLog,
    Effect,
    Flush,
    InstallSnapshot,
    PersistQuorumState,
    StoreSlice,
    Truncate,
    WriteSnapshot,
)

CRASH_BETWEEN_EFFECTS = 0.3
"""The share of blows that fall between two effects of a step."""
CRASH_BETWEEN_DISK_OPERATIONS = 0.25
"""The share of blows that fall between two operations of the disk."""
MAX_EFFECTS = 5
MAX_OPERATIONS = 14
"""Enough for a batch of a new epoch, or a truncation with what is written about it."""
WRITES = frozenset(
    (
        Append,
        CleanLog,
        Flush,
        InstallSnapshot,
        PersistQuorumState,
        StoreSlice,
        Truncate,
        WriteSnapshot,
    )
)


async def strike(scope: SimulatedScope, machine: Machine, crash: Callable[[], int | None]) -> int:
    """Deal a crash that ends the process at a drawn moment of its work; return what it returns.

    Where nothing is written for a while it falls at once.
    """
    process, random = machine.process, machine.fault_random("strike")
    drawn = random.random()
    if process is not None and not process.is_paused:
        if drawn < CRASH_BETWEEN_EFFECTS:
            await crash_after_effects(scope, machine, random.randrange(MAX_EFFECTS))
        elif drawn < CRASH_BETWEEN_EFFECTS + CRASH_BETWEEN_DISK_OPERATIONS:
            await crash_after_disk_operations(scope, machine, random.randrange(MAX_OPERATIONS))
        else:
            await wait_for_write(scope, machine)
    return crash() or 0


async def crash_after_effects(scope: SimulatedScope, machine: Machine, effects: int) -> None:
    """Kill the process when so many effects have been carried out after its next write."""
    crashed, left, has_begun = scope.promise(), effects, False

    def count(effect: Effect) -> None:
        nonlocal left, has_begun
        has_begun = has_begun or type(effect) in WRITES
        if not has_begun:
            return
        if left == 0:
            machine.kill()
            crashed.set(None)
        left -= 1

    machine.env.on_effect = count
    try:
        await _crashed(scope, machine, crashed)
    finally:
        machine.env.on_effect = None


async def crash_after_disk_operations(
    scope: SimulatedScope, machine: Machine, operations: int
) -> None:
    """Kill the process before its disk has done more than so many changes from now on."""
    crashed = scope.promise()
    machine.set_disk_fault(lambda health: health.crash_after(operations, lambda: crashed.set(None)))
    try:
        await _crashed(scope, machine, crashed)
        machine.kill()
    finally:
        machine.set_disk_fault(DiskFaults.revive)


async def _crashed(
    scope: SimulatedScope, machine: Machine, crashed: SimulatedPromise[None]
) -> None:
    timer = scope.scheduler.after(max_wait_ns(machine), lambda: crashed.set(None))
    try:
        await crashed
    finally:
        timer.cancel()
