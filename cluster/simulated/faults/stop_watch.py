"""Wait for the exit of a process that was asked to stop, and judge its time.

A broker asks the controller for a session at most, and then leaves; a controller announces the end
of its epoch for a request time-out at most (KIP-631 "Controlled Shutdown", 595-42).
"""

from typing import Final

from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.node.machine import Machine
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds

INVARIANT: Final = "ShutdownsEnd"
STATEMENT: Final = (
    "A process that is asked to stop exits within a session, for the controller's grant, and a "
    "request time-out, for the quorum."
)
POLL_NS: Final = milliseconds(50)
SLACK_NS: Final = milliseconds(500)
"""Running time for the steps of a shutdown."""


def longest_ns(timeouts: Timeouts, rate_error: float) -> int:
    """Return the longest running time from the request to stop to the exit."""
    waits_ns = timeouts.session_ns + timeouts.request_ns
    return int(waits_ns * (1 + 2 * rate_error)) + SLACK_NS


async def wait_for_exit(
    scope: SimulatedScope, world: World, machine: Machine, within_ns: int
) -> None:
    """Wait until the process is gone or the time is over; report a process that takes too long."""
    process, deadline_ns = machine.process, scope.now() + within_ns
    if process is None:
        return
    began_ns = process.running_ns()
    while machine.process is process and scope.now() < deadline_ns:
        await scope.sleep(POLL_NS)
        ran_ns = process.running_ns() - began_ns
        limit_ns = longest_ns(world.timeouts, world.monitor.rate_error)
        if machine.process is process and ran_ns > limit_ns:
            detail = f"still runs {ran_ns / 1e6:.0f} ms after the request to stop"
            world.monitor.report_violation_of(INVARIANT, STATEMENT, process, detail)
            return
