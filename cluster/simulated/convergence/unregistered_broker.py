"""The last check of some runs: a living broker is unregistered, and registers again by itself.

An operator may unregister a broker that still runs. The broker learns from its next heartbeat that
its epoch is stale, and has a new time for its registration, however long the process has run.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.simulated.invariants.invariant import LEADER
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.network.connection import connect
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import NodeId, milliseconds
from kraftproof.node.core.metadata.image import BrokerRegistration
from kraftproof.node.wire.messages import unregister_broker_request, unregister_broker_response

SHARE: Final = 0.5
"""Share of runs with this check."""
VERSION: Final = 0
POLL_NS: Final = milliseconds(50)
MAX_WAIT_NS: Final = milliseconds(2_000)
SLACK_NS: Final = milliseconds(1_000)
MOST_REMOVALS: Final = 5
"""After so many removals by the load within one wait nothing can be said."""
INVARIANT: Final = "UnregisteredBrokersReturn"
STATEMENT: Final = (
    "In a healthy cluster, a broker whose registration was removed registers again and is unfenced."
)


def draw_broker(world: World, core: Sequence[int], random: Random) -> int | None:
    """Return the broker of the core that a run unregisters; None in most runs."""
    brokers = [node_id for node_id in core if world.machines[node_id].info.has("broker")]
    return random.choice(brokers) if random.random() < SHARE and brokers else None


async def judge_return(
    scope: SimulatedScope, world: World, core: Sequence[int], broker: int
) -> None:
    """Unregister a broker of the core at the leader, and wait for its return."""
    registered = _registration(world, broker)
    if registered is None or registered.fenced:
        return
    before = registered.epoch
    if not await _unregister(scope, world, core, broker):
        return
    limit_ns = longest_return_ns(world.timeouts, world.monitor.rate_error)
    removed_ns, removals, was_there = scope.now(), 1, False
    while scope.now() < removed_ns + limit_ns:
        known = _registration(world, broker)
        is_there = known is not None and known.epoch > before
        if known is not None and is_there and not known.fenced:
            return
        if was_there and not is_there:
            # A client of the load unregistered the broker once more: the wait begins again.
            removed_ns, removals = scope.now(), removals + 1
        if removals > MOST_REMOVALS:
            return
        was_there = is_there
        await scope.sleep(POLL_NS)
    process = world.machines[broker].process
    world.monitor.record(
        INVARIANT,
        STATEMENT,
        f"{limit_ns / 1e6:.0f} ms later: {'no process' if process is None else process.status}",
        node=broker,
        time_ns=scope.now(),
    )


def longest_return_ns(timeouts: Timeouts, rate_error: float) -> int:
    """Return how long a removed broker may take until it is unfenced again.

    The next heartbeat tells the broker that its epoch is stale. The first heartbeat after the
    registration may name an offset before the record of the registration, which the broker has not
    read yet: then only the heartbeat of the next interval unfences the broker.
    """
    intervals_ns = 2 * timeouts.heartbeat_interval_ns + 3 * timeouts.retry_backoff_max_ns
    return int(intervals_ns * (1 + 2 * rate_error)) + SLACK_NS


def _registration(world: World, broker: int) -> BrokerRegistration | None:
    """Return the registration of a broker by its own image; None if there is none."""
    process = world.machines[broker].process
    return None if process is None else process.image.brokers.get(NodeId(broker))


async def _unregister(
    scope: SimulatedScope, world: World, core: Sequence[int], broker: int
) -> bool:
    """Ask each leader of the core to unregister a broker; return whether the broker is removed."""
    request = unregister_broker_request.UnregisterBrokerRequest(broker_id=broker)
    for node_id in core:
        process = world.machines[node_id].process
        if process is None or process.status is None or process.status.role != LEADER:
            continue
        try:
            connection = await connect(scope, world.network, node_id, MAX_WAIT_NS)
            answer = await connection.call(request, VERSION, MAX_WAIT_NS)
        except (ConnectionFailed, OutcomeUnknown):
            continue
        connection.close()
        assert isinstance(answer, unregister_broker_response.UnregisterBrokerResponse)
        return answer.error_code == 0
    return False
