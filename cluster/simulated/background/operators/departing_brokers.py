"""Brokers that are stopped in order and started again, one at a time (KIP-631, 631-60).

A broker in controlled shutdown leaves its leaderships and ISRs, and fetches on until the grant: its
leaders must not propose it again. Faults stop any node, most of them controllers; this load stops
brokers that are no controllers.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.cluster.simulated.invariants.invariant import ProcessView
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.node.machine import Machine
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.types import milliseconds

SHARE: Final = 0.08
"""Share of the runs with a data plane that have such brokers."""
LABEL: Final = "departing-brokers-285"
"""Source of the draw; by this label no seed recorded for older mutants has such brokers."""
SHORTEST_REST_NS, LONGEST_REST_NS = milliseconds(1_500), milliseconds(8_000)
"""Time between two stops."""
ABSENCE_NS: Final = milliseconds(1)
"""Time from the end of a process to the next start: no fault finds the broker down."""


async def stop_and_start_brokers(
    scope: SimulatedScope, world: World, random: Random, brokers: Sequence[int]
) -> None:
    """Stop brokers in order until the final phase; each is started again once it has ended.

    A broker that a fault kills meanwhile is the fault's to start.
    """
    departures = _Departures(world)
    machines = [world.machines[each] for each in brokers if each not in world.voters]
    while not world.is_in_final_phase and machines:
        await scope.sleep(random.randrange(SHORTEST_REST_NS, LONGEST_REST_NS))
        machine = random.choice(machines)
        process = machine.process
        if process is not None and not process.is_paused and not world.is_in_final_phase:
            departures.stop(machine)


class _Departures:
    """The processes that were asked to end."""

    def __init__(self, world: World) -> None:
        self._scheduler = world.scheduler
        self._asked: dict[int, tuple[Machine, int]] = {}
        """By node: the machine, and the incarnation that was asked."""
        world.monitor.on_exited.append(self._on_exited)

    def stop(self, machine: Machine) -> None:
        """Ask the process of a machine to end."""
        process = machine.process
        assert process is not None, "the machine is up"
        self._asked[machine.info.node_id] = (machine, process.incarnation)
        process.stop()

    def _on_exited(self, process: ProcessView) -> None:
        machine, incarnation = self._asked.pop(process.node_id, (None, -1))
        if machine is not None and incarnation == process.incarnation:
            self._scheduler.after(ABSENCE_NS, machine.start)
