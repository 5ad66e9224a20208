"""A crash aimed at a moment of a node's own work: snapshots and truncations.

A kill at a random time seldom hits such work, which takes a few operations of the disk. The crash
comes after a number of further changes of the disk, and another may follow the restart.
"""

from collections.abc import Callable, Mapping
from typing import Final

from kraftproof.cluster.capabilities import CrashAim, CrashMoment
from kraftproof.cluster.disk_faults import DiskFaults
from kraftproof.cluster.simulated.node.machine import Machine
from kraftproof.node.core.effects import (
    Append,
    CheckSnapshot,
    Effect,
    InstallSnapshot,
    ReplyWithSlice,
    StoreSlice,
    Truncate,
    WriteSnapshot,
)

WORK: Final[Mapping[CrashMoment, frozenset[type[Effect]]]] = {
    "appending": frozenset({Append}),
    "serving-snapshot": frozenset({ReplyWithSlice}),
    "copying-snapshot": frozenset({StoreSlice, CheckSnapshot}),
    "installing-snapshot": frozenset({InstallSnapshot}),
    "writing-snapshot": frozenset({WriteSnapshot}),
    "truncating": frozenset({Truncate}),
}
"""The effects with which the work of a moment begins."""


class AimedCrash:
    """The aim at one machine, until the last crash or the end of the fault."""

    def __init__(self, machine: Machine, aim: CrashAim) -> None:
        self._machine = machine
        self._aim = aim
        self._is_armed = True
        machine.env.on_disk_work = self._begun

    def disarm(self) -> None:
        """End the aim; the disk works."""
        self._is_armed = False
        self._machine.env.on_disk_work = None
        self._machine.set_disk_fault(DiskFaults.revive)

    def _begun(self, work: type[Effect]) -> None:
        if work in WORK[self._aim.moment]:
            self._machine.env.on_disk_work = None
            self._crash_after(self._aim.operations, self._crashed)

    def _crash_after(self, operations: int, crashed: Callable[[], None]) -> None:
        """Let the disk fail after a number of changes, and the machine crash at the same time."""

        def on_death() -> None:
            self._machine.env.scheduler.after(0, crashed)

        self._machine.set_disk_fault(lambda faults: faults.crash_after(operations, on_death))

    def _crashed(self) -> None:
        again = self._aim.operations_again
        if not self._is_armed:
            return
        if self._aim.loses_power:
            self._machine.lose_power()
        else:
            self._machine.kill()
        if again is None:
            self.disarm()
        else:
            self._crash_after(again, self._crashed_again)
            self._machine.start()

    def _crashed_again(self) -> None:
        if self._is_armed:
            self._machine.lose_power()
            self.disarm()
