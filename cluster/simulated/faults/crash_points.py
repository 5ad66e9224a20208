"""Crash points within a step: between two effects, or between two operations of the disk.

A process may be killed, or its machine may lose power, after any part of a step. The caller gives
the kind of crash. See fault_timing.py for the crash points outside of a step.
"""

from collections.abc import Callable

from kraftproof.cluster.disk_faults import DiskFaults
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
"""Share of crashes between two effects of a step."""
CRASH_BETWEEN_DISK_OPERATIONS = 0.25
"""Share of crashes between two operations of the disk."""
MAX_EFFECTS = 5
MAX_OPERATIONS = 14
"""Maximum number of disk operations before a crash.

The number covers a batch of a new epoch, and a truncation with its checkpoint files.
"""
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


async def crash_at_random_point(
    scope: SimulatedScope, machine: Machine, crash: Callable[[], int | None]
) -> int:
    """Crash a process at a random crash point of its work; return the result of `crash`.

    A process that writes nothing for a while is crashed at once.
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
    """Kill the process after a number of effects, counted from its next write."""
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
    """Kill the process after a number of changes of its disk."""
    crashed = scope.promise()
    machine.set_disk_fault(lambda faults: faults.crash_after(operations, lambda: crashed.set(None)))
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
