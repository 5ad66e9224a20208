"""Invariants of broker epochs and leases (KIP-631 "Broker Leases").

The length of a lease is measured in true time, with a tolerance for the rate error that faults
give to monotonic clocks. See sessions.py for the end of leases.
"""

from typing import ClassVar

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.committed.registrations import RegistrationChange, Registry
from kraftproof.cluster.simulated.invariants.invariant import (
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.node.core.events import Received
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
RegistrationResponse = broker_registration_response.BrokerRegistrationResponse
CONTACTS = (HeartbeatRequest, RegistrationRequest)


class Contact(Struct, frozen=True, kw_only=True, gc=False):
    """The arrival of a heartbeat or registration of a broker."""

    broker_id: int
    time_ns: int
    floor: int
    """Lowest broker epoch that may be current at the arrival."""


class CurrentEpochsOnly(Invariant):
    """Broker epochs are fencing tokens, by the answers to brokers."""

    statement = "The controller accepts a broker epoch only while the epoch is current."
    requests: ClassVar[Requests] = CONTACTS

    def __init__(self, registry: Registry) -> None:
        super().__init__()
        self._registry = registry
        self._contacts: dict[tuple[int, int, int], Contact] = {}

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        request = event.message
        if isinstance(request, CONTACTS):
            key = (process.node_id, process.incarnation, event.request)
            self._contacts[key] = Contact(
                broker_id=request.broker_id,
                time_ns=process.now_ns(),
                floor=self._registry.floor(request.broker_id),
            )

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        if not self._contacts:
            return  # most answers are to Fetches
        contact = self._contacts.pop((process.node_id, process.incarnation, event.request), None)
        if contact is None:
            return
        match event.message, message:
            case HeartbeatRequest() as request, HeartbeatResponse(error_code=ErrorCode.NONE):
                self._heartbeat(process, request, message, contact)
            case RegistrationRequest() as request, RegistrationResponse(error_code=ErrorCode.NONE):
                self._registration(process, request, message, contact)
            case _:
                return

    def _heartbeat(
        self,
        process: ProcessView,
        request: HeartbeatRequest,
        message: HeartbeatResponse,
        contact: Contact,
    ) -> None:
        if request.broker_epoch < contact.floor:
            detail = (
                f"broker {request.broker_id}: accepted epoch {request.broker_epoch}, but at least "
                f"{contact.floor} is current"
            )
            self.monitor.report_violation(self, process, detail)
        elif message.should_shut_down:
            self._registry.let_go(request.broker_id, request.broker_epoch)
        else:
            self._registry.alive(request.broker_id, request.broker_epoch, contact.time_ns)

    def _registration(
        self,
        process: ProcessView,
        request: RegistrationRequest,
        message: RegistrationResponse,
        contact: Contact,
    ) -> None:
        incarnation = self._registry.incarnation(request.broker_id, message.broker_epoch)
        if message.broker_epoch < contact.floor or incarnation != request.incarnation_id:
            owner = "nobody" if incarnation is None else incarnation.hex()
            detail = (
                f"broker {request.broker_id}: epoch {message.broker_epoch} of {owner} "
                f"given to {request.incarnation_id.hex()}; at least {contact.floor} is current"
            )
            self.monitor.report_violation(self, process, detail)
        else:
            self._registry.alive(request.broker_id, message.broker_epoch, contact.time_ns)


class OneIncarnationPerSession(Invariant):
    """A broker keeps its id for a session, and its epoch (631-42)."""

    statement = (
        "A broker keeps its id for a session after an accepted contact, and its epoch until it is "
        "unregistered."
    )

    def __init__(self, config: ClusterConfig, registry: Registry) -> None:
        super().__init__()
        self._session_ns = config.timeouts.session_ns
        self._registry = registry

    @override
    def on_step(self, process: ProcessView) -> None:
        if self._registry.changes:
            for change in self._registry.take_changes():
                self._judge(process, change)

    def _judge(self, process: ProcessView, change: RegistrationChange) -> None:
        broker_id, previous = change.broker_id, change.previous_epoch
        amends = change.incarnation == change.previous_incarnation and not change.was_unregistered
        if change.epoch < previous or (change.epoch == previous and not amends):
            detail = f"broker {broker_id}: {change.epoch} after {previous}"
            self.monitor.report_violation(self, process, f"epoch does not rise: {detail}")
        if change.incarnation == change.previous_incarnation:
            if change.epoch > previous and not change.was_unregistered:
                detail = f"new epoch {change.epoch} for the incarnation with epoch {previous}"
                self.monitor.report_violation(self, process, f"broker {broker_id}: {detail}")
            return
        alive_ns = self._registry.alive_ns(broker_id, previous)
        if alive_ns is None:
            return
        if change.time_ns < alive_ns + self._session_ns * (1 - self.monitor.rate_error):
            lived_ns = change.time_ns - alive_ns
            detail = f"broker {broker_id}: id reassigned {lived_ns / 1e9:.3f} s after a contact"
            self.monitor.report_violation(self, process, detail)
