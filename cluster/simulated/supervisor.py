"""The supervisor of a simulated run: starts brokers that have given up their registration.

A healthy broker ends if it is not registered within initial.broker.registration.timeout.ms, which
the session of an earlier process may outlast. Before the end of the faults such a broker stays
down, which is harder for the others.
"""

from functools import partial
from typing import Final

from kraftproof.cluster.simulated.kernel.scheduler import Scheduler
from kraftproof.cluster.simulated.node.machine import Machine
from kraftproof.node.core.base.types import milliseconds

RESTART_NS: Final = milliseconds(1_000)
"""Time after which the supervisor starts a broker that has given up."""


class Supervisor:
    """The brokers that have given up, and their starts."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._is_active = False
        self._given_up: dict[int, Machine] = {}
        self.dead: frozenset[int] = frozenset()
        """Nodes that stay down until the end of the run."""

    def begin(self) -> None:
        """Start the brokers that have given up, and those that give up from now on."""
        self._is_active = True
        for node_id in sorted(self._given_up):
            self._start_later(self._given_up[node_id])

    def gave_up(self, machine: Machine) -> None:
        """Note a broker that has ended by itself."""
        self._given_up[machine.info.node_id] = machine
        if self._is_active:
            self._start_later(machine)

    def _start_later(self, machine: Machine) -> None:
        self._scheduler.after(RESTART_NS, partial(self._start, machine))

    def _start(self, machine: Machine) -> None:
        if machine.process is None and machine.info.node_id not in self.dead:
            machine.start()
