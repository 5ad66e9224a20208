"""Timing of faults: a share of the faults waits until its node is in the middle of work.

Nine of ten kills at random times hit an idle node, but bugs are in the tenth kill. A random share
of the faults therefore waits, for a short time, until the target writes. The nemesis (nemesis/)
chooses the fault and its target.
"""

from collections.abc import Iterable

from kraftproof.cluster.simulated.invariants.invariant import LEADER
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.node.machine import Machine
from kraftproof.cluster.simulated.node.process import NodeProcess
from kraftproof.node.core.base.types import milliseconds

IMMEDIATE_SHARE = 0.3
"""Share of the faults that are injected at once, without a wait."""
MAX_WAIT_NS = milliseconds(100)
"""Maximum wait for a write of a leader or a broker."""
WRITE_NS = milliseconds(3)
"""Approximate time for the replication of a record to a majority."""
LONG_MAX_WAIT_NS = milliseconds(400)
"""Maximum wait for a voter: the spread of the voters' fetch time-outs."""
LOOK_NS = milliseconds(3)
"""Interval between two checks for a successor."""


def max_wait_ns(machine: Machine) -> int:
    """Return the maximum wait of a fault for a write of a node.

    A voter that follows writes often, unless there is no leader: then the voter is about to vote,
    which a longer wait catches.
    """
    process = machine.process
    is_voter = machine.info.has("controller") and process is not None and not _leads(process)
    return LONG_MAX_WAIT_NS if is_voter else MAX_WAIT_NS


async def wait_for_write(scope: SimulatedScope, machine: Machine) -> None:
    """Wait until the node writes to its log or to its quorum state, or until a time-out."""
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
    """Wait for a write of the leader among the nodes, if any."""
    for machine in machines:
        if machine.process is not None and _leads(machine.process):
            await wait_for_write(scope, machine)
            return


async def wait_until_superseded(
    scope: SimulatedScope, machine: Machine, others: Iterable[Machine]
) -> None:
    """Wait until a paused leader has a successor that has committed a record.

    At this moment the paused leader has no evidence of its successor.
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
