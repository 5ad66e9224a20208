"""When faults strike: at opportune moments, since an arbitrary one finds nodes idle.

Nine kills in ten at random times meet a node that does nothing; the bugs are in the tenth. So a
drawn share of the faults waits, not for long, until its node is in the midst of something. Not:
which fault, nor on whom (nemesis/).
"""

from collections.abc import Iterable

from kraftproof.cluster.simulated.invariants.invariant import LEADER
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.node.machine import Machine
from kraftproof.cluster.simulated.node.process import NodeProcess
from kraftproof.node.core.base.types import milliseconds

IMMEDIATE_SHARE = 0.3
"""The share of the faults that come at once, whatever the nodes do."""
MAX_WAIT_NS = milliseconds(100)
WRITE_NS = milliseconds(3)
"""About as long as a record is on its way to a majority."""
LONG_MAX_WAIT_NS = milliseconds(400)
"""As long as voters may differ in when they miss their leader."""
LOOK_NS = milliseconds(3)


def max_wait_ns(machine: Machine) -> int:
    """Return how long a fault waits for this node to write.

    A voter that follows writes often, or there is no leader: then it is about to vote.
    """
    process = machine.process
    is_voter = machine.info.has("controller") and process is not None and not _leads(process)
    return LONG_MAX_WAIT_NS if is_voter else MAX_WAIT_NS


async def wait_for_write(scope: SimulatedScope, machine: Machine) -> None:
    """Wait until the node has just written to its log or to its quorum state."""
    process, random = machine.process, machine.fault_random("opportunity")
    if process is None or process.is_paused or random.random() < IMMEDIATE_SHARE:
        return
    written = scope.promise()
    machine.env.on_next_write = lambda: written.set(None)
    timer = scope.scheduler.after(max_wait_ns(machine), lambda: written.set(None))
    await written
    timer.cancel()
    await scope.sleep(int(random.random() ** 4 * WRITE_NS))


async def wait_for_leader_write(scope: SimulatedScope, machines: Iterable[Machine]) -> None:
    """Wait until a leader among these nodes, if there is one, has just written."""
    for machine in machines:
        if machine.process is not None and _leads(machine.process):
            await wait_for_write(scope, machine)
            return


async def wait_until_superseded(
    scope: SimulatedScope, machine: Machine, others: Iterable[Machine]
) -> None:
    """Wait until a leader that sleeps has a successor who has just committed something.

    Woken then, it has the least cause to doubt that it leads.
    """
    asleep, random = machine.process, machine.fault_random("opportunity")
    if asleep is None or not _leads(asleep) or random.random() < IMMEDIATE_SHARE:
        return
    machines = tuple(others)
    deadline_ns = scope.now() + LONG_MAX_WAIT_NS
    while scope.now() < deadline_ns and not _is_superseded(asleep, machines):
        await scope.sleep(LOOK_NS)


def _leads(process: NodeProcess) -> bool:
    return process.status is not None and process.status.role == LEADER


def _is_superseded(asleep: NodeProcess, machines: tuple[Machine, ...]) -> bool:
    ours = asleep.status
    assert ours is not None, "it leads"
    for machine in machines:
        other = None if machine.process is None else machine.process.status
        if other is not None and other.role == LEADER and other.epoch > ours.epoch:
            last = machine.env.log.ending_at(other.high_watermark)
            return last is not None and last.epoch == other.epoch
    return False
