"""Registrations beside the brokers: the broker's own again, of another process, or removed.

A registration arrives again if its answer was lost. Another process takes over the id of a broker
if its configuration names the id by mistake: the controller refuses the process while the broker
lives, and accepts it after the broker's session. The visitor never sends a heartbeat, so that its
own session ends, and the broker registers again. An operator may unregister a living broker, which
has to register again. See invariants/brokers/leases.py for the judgment.
"""

from collections.abc import Container, Sequence
from random import Random
from typing import Final

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import NodeInfo
from kraftproof.cluster.simulated.invariants.invariant import ProcessView
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.network.connection import connect
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import BrokerRegistration
from kraftproof.node.wire.messages import (
    Message,
    broker_heartbeat_request,
    broker_registration_request,
    unregister_broker_request,
)
from kraftproof.node.wire.types import Uuid

SHARE: Final = 0.25
"""Share of runs with visitors."""
MAX_WAIT_NS: Final = milliseconds(500)
LONGEST_REST_NS: Final = milliseconds(5_000)
"""Longest time between two registrations."""
AGAIN_SHARE: Final = 0.6
"""Share of registrations that a broker has sent before."""
UNREGISTER_SHARE: Final = 0.15
"""Share of requests that unregister the broker."""
VERSION: Final = 4
UNREGISTER_VERSION: Final = 0

HeartbeatRequest = broker_heartbeat_request.BrokerHeartbeatRequest
RegistrationRequest = broker_registration_request.BrokerRegistrationRequest


async def send_registrations(
    scope: SimulatedScope, world: World, random: Random, nodes: Sequence[NodeInfo]
) -> None:
    """Send registrations to random controllers, one after the other, until the run ends.

    The ids are those of the cluster's brokers: a workload knows who has its own ids.
    """
    controllers = [node.node_id for node in nodes if node.has("controller")]
    brokers = {node.node_id for node in nodes if node.has("broker")}  # asked for membership only
    if not brokers:
        return
    begins = ShutdownWatch(scope, brokers)
    world.monitor.on_received[HeartbeatRequest].append(begins.on_received)
    while True:
        leaving = await begins.wait(random.randrange(LONGEST_REST_NS))
        asked, broker_id = leaving or (random.choice(controllers), random.choice(sorted(brokers)))
        process = world.machines[asked].process
        known = [] if process is None else process.image.sorted_brokers()
        registered = [broker for broker in known if broker.broker_id == broker_id]
        if not registered or broker_id in world.missing:
            continue  # a broker that is gone for good sends nothing again, and has to be fenced
        is_again = leaving is not None or random.random() < AGAIN_SHARE
        if is_again and not _is_running(world, registered[0]):
            continue  # nobody repeats it for ever: the session of a dead process has to end
        request: Message = registration(random, registered[0], world.cluster_id, is_again=is_again)
        version = VERSION
        if random.random() < UNREGISTER_SHARE:
            request = unregister_broker_request.UnregisterBrokerRequest(broker_id=broker_id)
            version = UNREGISTER_VERSION
        try:
            connection = await connect(scope, world.network, asked, MAX_WAIT_NS)
            await connection.call(request, version, MAX_WAIT_NS)
        except (ConnectionFailed, OutcomeUnknown):
            continue
        connection.close()


def _is_running(world: World, broker: BrokerRegistration) -> bool:
    machine = world.machines[broker.broker_id]
    return machine.process is not None and machine.env.broker_incarnation == broker.incarnation


class ShutdownWatch:
    """Waits for a heartbeat that asks for a controlled shutdown.

    A registration that arrives again at this moment must not end the shutdown.
    """

    def __init__(self, scope: SimulatedScope, brokers: Container[int]) -> None:
        self._scope = scope
        self._brokers = brokers
        self._asked = scope.promise()

    async def wait(self, longest_ns: int) -> tuple[int, int] | None:
        """Return the controller that gets such a heartbeat, and the broker; None after a time."""
        self._asked = self._scope.promise()
        found: tuple[int, int] | None = await self._scope.wait(self._asked, longest_ns)
        return found

    def on_received(self, process: ProcessView, event: Received) -> None:
        """Take note of a heartbeat; called by the monitor."""
        message = event.message
        assert isinstance(message, HeartbeatRequest), "the type of the hook"
        if message.want_shut_down and message.broker_id in self._brokers:
            self._asked.set((process.node_id, message.broker_id))


def registration(
    random: Random, broker: BrokerRegistration, cluster_id: str, *, is_again: bool
) -> RegistrationRequest:
    """Return the registration of a broker again, or one of a visitor with the broker's id."""
    return RegistrationRequest(
        broker_id=broker.broker_id,
        cluster_id=cluster_id,
        incarnation_id=broker.incarnation if is_again else Uuid(random.randbytes(16)),
        listeners=tuple(
            broker_registration_request.Listener(
                name=endpoint.name,
                host=endpoint.host,
                port=endpoint.port,
                security_protocol=endpoint.security_protocol,
            )
            for endpoint in broker.endpoints
        ),
        features=tuple(
            broker_registration_request.Feature(
                name=feature.name,
                min_supported_version=feature.min_supported_version,
                max_supported_version=feature.max_supported_version,
            )
            for feature in broker.features
        ),
        rack=broker.rack if is_again else random.choice((None, "east", "north")),
        log_dirs=broker.log_dirs if is_again else (Uuid(random.randbytes(16)),),
    )
