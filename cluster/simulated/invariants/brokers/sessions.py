"""The invariant of the time at which a broker's lease ends (KIP-631 "Broker Leases").

The deadline of a controller counts its running time only, without pauses and waits for its disk;
the commit of a written fencing additionally waits for a majority. See leases.py for the use of
broker epochs.
"""

from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.committed.registrations import Registry
from kraftproof.cluster.simulated.invariants.brokers.leases import (
    CONTACTS,
    HeartbeatRequest,
    RegistrationRequest,
    RegistrationResponse,
)
from kraftproof.cluster.simulated.invariants.invariant import (
    LEADER,
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.cluster.simulated.invariants.moments import Moment, moment
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.events import Received
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch

LOOK_EACH_NS = milliseconds(250)
TICK_NS = milliseconds(250)
"""Time within which a running controller acts on an expired lease."""


class FencedInTime(Invariant):
    """Leases last one session since the last contact with the active controller."""

    statement = (
        "The active controller fences a broker and releases its id at the end of its session: "
        "never earlier, and not much later."
    )
    requests: ClassVar[Requests] = CONTACTS

    def __init__(self, config: ClusterConfig, registry: Registry) -> None:
        super().__init__()
        self._session_ns = config.timeouts.session_ns
        self._slack_ns = config.timeouts.fetch_ns * 3 // 2 + milliseconds(500)
        self._registry = registry
        self._leads_since: dict[int, Moment] = {}
        self._claims_at: dict[int, int] = {}
        self._contacts: dict[tuple[int, int], Moment] = {}
        self._arrivals: dict[tuple[int, int, int], Moment] = {}
        self._asks_to_stop: set[tuple[int, int]] = set()  # asked for membership only
        self._look_at: dict[int, int] = {}
        self._written: dict[int, dict[int, int]] = {}
        """Offset of the last record that ends the lease of a broker, by leader and broker."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._leads_since.pop(process.node_id, None)
        self._written.pop(process.node_id, None)

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        """Start the leases of a new leader at the commit of the first record of its epoch."""
        if after.role != LEADER:
            self._leads_since.pop(process.node_id, None)
            self._written.pop(process.node_id, None)
            return
        if before is None or before.role != LEADER:
            self._claims_at[process.node_id] = after.log_end
        is_active = after.high_watermark >= self._claims_at[process.node_id]
        if is_active and process.node_id not in self._leads_since:
            self._leads_since[process.node_id] = moment(process)

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        request, status = event.message, process.status
        if status is None or status.role != LEADER:
            return
        # A leader that is not active yet keeps requests until then.
        if isinstance(request, RegistrationRequest):
            self._arrivals[process.node_id, process.incarnation, event.request] = moment(process)
        elif isinstance(request, HeartbeatRequest):
            stops = request.want_fence or request.want_shut_down
            if request.broker_epoch >= self._registry.floor(request.broker_id):
                self._touch(process, request.broker_id, moment(process), stops=stops)

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        """Count an accepted registration as a contact."""
        if not self._arrivals:
            return
        arrived = self._arrivals.pop((process.node_id, process.incarnation, event.request), None)
        match event.message, message:
            case RegistrationRequest() as request, RegistrationResponse(error_code=code):
                if arrived is not None and code == ErrorCode.NONE:
                    self._touch(process, request.broker_id, arrived, stops=False)
                elif arrived is not None and code == ErrorCode.DUPLICATE_BROKER_REGISTRATION:
                    self._refused(process, request.broker_id, arrived)
            case _:
                return

    def _refused(self, process: ProcessView, broker_id: int, arrived: Moment) -> None:
        """Check that a broker id is released soon after the end of its session."""
        since = self._leads_since.get(process.node_id)
        if since is None:
            return
        contact = self._contacts.get((process.node_id, broker_id), since)
        silence_ns = arrived.running_ns - max(contact.running_ns, since.running_ns)
        if silence_ns > self._session_ns * (1 + self.monitor.rate_error) + TICK_NS:
            detail = f"broker {broker_id}: id not released {silence_ns / 1e9:.3f} s"
            self.monitor.report_violation(self, process, f"{detail} after a contact")

    def _touch(self, process: ProcessView, broker_id: int, contact: Moment, *, stops: bool) -> None:
        key = (process.node_id, broker_id)
        self._contacts[key] = contact
        if stops:
            self._asks_to_stop.add(key)
        else:
            self._asks_to_stop.discard(key)

    @override
    def on_appended(self, process: ProcessView, batch: Batch) -> None:
        since = self._leads_since.get(process.node_id)
        if since is None:
            return
        written = self._written.setdefault(process.node_id, {})
        for record in batch.records:
            if type(record) is records.BrokerRegistrationChangeRecord and record.fenced == 1:
                written[record.broker_id] = batch.last_offset
                self._fenced(process, record.broker_id, since)
            elif type(record) is records.FenceBrokerRecord:
                written[record.id] = batch.last_offset
                self._fenced(process, record.id, since)
            elif type(record) is records.RegisterBrokerRecord:
                written[record.broker_id] = batch.last_offset
                # A slow disk may let the request time out, but the written lease counts.
                self._touch(process, record.broker_id, moment(process), stops=False)

    def _fenced(self, process: ProcessView, broker_id: int, since: Moment) -> None:
        """Check that a fencing is not early, in true time including pauses of the controller."""
        key = (process.node_id, broker_id)
        if key in self._asks_to_stop:
            return
        contact_ns = max(self._contacts.get(key, since).true_ns, since.true_ns)
        silence_ns = process.now_ns() - contact_ns
        if silence_ns < self._session_ns * (1 - self.monitor.rate_error):
            detail = f"broker {broker_id} was fenced {silence_ns / 1e9:.3f} s after a contact"
            self.monitor.report_violation(self, process, detail)

    @override
    def on_leader_step(self, process: ProcessView) -> None:
        """Check that a fencing is not late, in running time of the controller."""
        since = self._leads_since.get(process.node_id)
        if since is None or process.now_ns() < self._look_at.get(process.node_id, 0):
            return
        self._look_at[process.node_id] = process.now_ns() + LOOK_EACH_NS
        image, status = process.image, process.status
        if status is None:
            return
        # Records without acknowledgement may prevent the commit of a fencing.
        is_settled = status.high_watermark == status.log_end
        limit_ns = self._session_ns * (1 + self.monitor.rate_error)
        limit_ns += TICK_NS if is_settled else self._slack_ns
        written = self._written.get(process.node_id, {})
        for broker in image.sorted_brokers():
            if written.get(broker.broker_id, -1) >= status.high_watermark:
                continue  # the written fencing or registration has not committed yet
            contact = self._contacts.get((process.node_id, broker.broker_id), since)
            silence_ns = process.running_ns() - max(contact.running_ns, since.running_ns)
            if not broker.fenced and silence_ns > limit_ns:
                detail = f"broker {broker.broker_id}: unfenced after {silence_ns / 1e9:.3f} s"
                self.monitor.report_violation(self, process, detail)
