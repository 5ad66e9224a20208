"""The invariant of the contents of a broker's heartbeats (KIP-631 "BrokerHeartbeat")."""

from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    broker_registration_response,
)

HeartbeatRequest = broker_heartbeat_request.BrokerHeartbeatRequest
HeartbeatResponse = broker_heartbeat_response.BrokerHeartbeatResponse
RegistrationRequest = broker_registration_request.BrokerRegistrationRequest


class HeartbeatsAreAccurate(Invariant):
    """The controller unfences a broker by the offset that the broker claims (631-48)."""

    statement = (
        "A heartbeat has the offset of the last record that the broker has applied, the epoch of "
        "its last registration, and asks for fencing until the listeners are open; none follows a "
        "granted shutdown."
    )
    requests: ClassVar[Requests] = (HeartbeatRequest, RegistrationRequest)

    def __init__(self) -> None:
        super().__init__()
        self._applied: dict[int, int] = {}
        """The end of the records in the last published image, by node."""
        self._epochs: dict[int, int] = {}
        """The broker epoch of the last answer to a registration, by node."""
        self._listening: set[int] = set()  # asked for membership only
        self._newest: dict[int, Send] = {}
        """The newest heartbeat of each node."""
        self._granted: dict[int, int] = {}
        """The controller that has granted the shutdown of each node."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._applied[process.node_id] = 0
        self._epochs.pop(process.node_id, None)
        self._listening.discard(process.node_id)
        self._granted.pop(process.node_id, None)

    @override
    def on_published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        self._applied[process.node_id] = offset

    @override
    def on_listeners_opened(self, process: ProcessView) -> None:
        self._listening.add(process.node_id)

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        if isinstance(answer, broker_registration_response.BrokerRegistrationResponse):
            if answer.error_code == ErrorCode.NONE:
                self._epochs[process.node_id] = answer.broker_epoch
        elif isinstance(answer, HeartbeatResponse) and answer.should_shut_down:
            newest, status = self._newest.get(process.node_id), process.status
            is_newest = newest is not None and newest.correlation == request.correlation
            if is_newest and status is not None and status.leader == request.destination:
                self._granted[process.node_id] = request.destination

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        message, node_id = effect.message, process.node_id
        if not isinstance(message, HeartbeatRequest):
            return
        self._newest[node_id] = effect
        if self._granted.pop(node_id, None) == effect.destination:
            detail = "another heartbeat after the controller has granted the shutdown"
            self.monitor.report_violation(self, process, detail)
        found = (message.broker_id, message.broker_epoch, message.current_metadata_offset)
        expected = (node_id, self._epochs.get(node_id), self._applied[node_id] - 1)
        if found != expected:
            detail = f"broker, broker epoch and offset are {found}, not {expected}"
            self.monitor.report_violation(self, process, detail)
        elif not message.want_shut_down and message.want_fence == (node_id in self._listening):
            is_open = "open" if node_id in self._listening else "closed"
            detail = f"want_fence is {message.want_fence} with {is_open} listeners"
            self.monitor.report_violation(self, process, detail)
