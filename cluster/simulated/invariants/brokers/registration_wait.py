"""The time for which each broker has had no registration, and the give-ups that the time allows.

A broker ends its process if it is not registered within initial.broker.registration.timeout.ms of
its start, or of the answer that its epoch is stale (KIP-631). See world.py for the judgment.
"""

from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.cluster.simulated.invariants.moments import ROUNDING_NS
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    broker_registration_response,
)


class RegistrationWait(Invariant):
    """Follows the registrations of brokers by their answers; reports no violation by itself."""

    statement = "A broker gives up only after its time for the registration."
    requests: ClassVar[Requests] = (
        broker_registration_request.BrokerRegistrationRequest,
        broker_heartbeat_request.BrokerHeartbeatRequest,
    )

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._wait_ns = config.timeouts.initial_registration_ns
        self._since_ns: dict[int, int] = {}
        """By node without a registration: the true time of its start or of the stale epoch."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._since_ns[process.node_id] = process.now_ns()

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        match answer:
            case broker_registration_response.BrokerRegistrationResponse(error_code=0):
                self._since_ns.pop(process.node_id, None)
            case broker_heartbeat_response.BrokerHeartbeatResponse(
                error_code=ErrorCode.STALE_BROKER_EPOCH
            ):
                self._since_ns[process.node_id] = process.now_ns()
            case _:
                return

    def may_give_up(self, process: ProcessView) -> bool:
        """Return whether a broker has had no registration for the whole time."""
        since_ns = self._since_ns.get(process.node_id)
        least_ns = self._wait_ns * (1 - 2 * self.monitor.rate_error) - ROUNDING_NS
        return since_ns is not None and process.now_ns() - since_ns >= least_ns
