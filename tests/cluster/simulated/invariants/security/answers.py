"""Show an answer to an invariant of descriptions. No tests here."""

from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.wire.principal import ANONYMOUS
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness, Process
from tests.node.core.security.rules import received


def violations_of(invariant, request, answer, image):
    """Return what an invariant reports of an answer by a process with an image."""
    harness = MonitorHarness(invariant)
    process = Process(harness, 1, durable=QuorumState())
    process.publishes(1, image)
    for hook in harness.monitor.on_replying[type(request)]:
        hook(process, received(request, ANONYMOUS), answer)
    return harness.reported
