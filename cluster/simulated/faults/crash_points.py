"""Where in a step a blow falls: between two effects, or between two operations of the disk.

A process that is killed, or whose machine loses its power, may have done any part of a step. What
is dealt there is the caller's; some blows fall at other moments still (opportunity.py).
"""

from collections.abc import Callable

from kraftproof.cluster.simulated.disk.faults import DiskHealth
from kraftproof.cluster.simulated.faults.fault_timing import amid_write, patience_ns
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

AMID_EFFECTS = 0.3
"""The share of blows that fall between two effects of a step."""
AMID_OPERATIONS = 0.25
"""The share of blows that fall between two operations of the disk."""
MOST_EFFECTS = 5
MOST_OPERATIONS = 14
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


async def strike(scope: SimulatedScope, machine: Machine, blow: Callable[[], int | None]) -> int:
    """Deal a blow that ends the process at a drawn moment of its work; return what it returns.

    Where nothing is written for a while it falls at once.
    """
    process, random = machine.process, machine.chance("strike")
    drawn = random.random()
    if process is not None and not process.is_paused:
        if drawn < AMID_EFFECTS:
            await after_effects(scope, machine, random.randrange(MOST_EFFECTS))
        elif drawn < AMID_EFFECTS + AMID_OPERATIONS:
            await after_operations(scope, machine, random.randrange(MOST_OPERATIONS))
        else:
            await amid_write(scope, machine)
    return blow() or 0


async def after_effects(scope: SimulatedScope, machine: Machine, effects: int) -> None:
    """Kill the process when so many effects have been carried out after its next write."""
    struck, left, has_begun = scope.promise(), effects, False

    def count(effect: Effect) -> None:
        nonlocal left, has_begun
        has_begun = has_begun or type(effect) in WRITES
        if not has_begun:
            return
        if left == 0:
            machine.kill()
            struck.set(None)
        left -= 1

    machine.around.on_effect = count
    try:
        await _struck(scope, machine, struck)
    finally:
        machine.around.on_effect = None


async def after_operations(scope: SimulatedScope, machine: Machine, operations: int) -> None:
    """Kill the process before its disk has done more than so many changes from now on."""
    struck = scope.promise()
    machine.fall_ill(lambda health: health.die_after(operations, lambda: struck.set(None)))
    try:
        await _struck(scope, machine, struck)
        machine.kill()
    finally:
        machine.fall_ill(DiskHealth.revive)


async def _struck(scope: SimulatedScope, machine: Machine, struck: SimulatedPromise[None]) -> None:
    timer = scope.scheduler.after(patience_ns(machine), lambda: struck.set(None))
    try:
        await struck
    finally:
        timer.cancel()
