"""The invariant of a controller's answers to heartbeats (KIP-631 "BrokerHeartbeat").

A heartbeat may request to be fenced, to serve or to shut down. See leases.py and sessions.py for
the lengths of leases, answers.py for the read barrier.
"""

from typing import ClassVar

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.committed.registrations import Registry, Standing
from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    broker_heartbeat_request,
    broker_heartbeat_response,
)
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch

HeartbeatRequest = broker_heartbeat_request.BrokerHeartbeatRequest
HeartbeatResponse = broker_heartbeat_response.BrokerHeartbeatResponse
MAX_DELAYS = 4
"""Maximum number of consecutive answers that delay a shutdown without a reason."""
Contender = tuple[int, int]
"""A broker id and a broker epoch."""


def _unaware(image: MetadataImage, reached: dict[int, int], offset: int) -> tuple[int, ...]:
    """Return the active brokers whose last heartbeat is from before an offset."""
    return tuple(
        broker.broker_id
        for broker in image.sorted_brokers()
        if broker.may_lead and reached.get(broker.broker_id, -1) < offset
    )


def _contender(request: HeartbeatRequest) -> Contender:
    return (request.broker_id, request.broker_epoch)


class Asked(Struct, frozen=True, kw_only=True, gc=False):
    """The state of a broker at the arrival of a heartbeat."""

    standing: Standing | None
    leads_nothing: bool
    """Whether the broker was in controlled shutdown, asked to go, and led no partition."""
    may_stop: bool
    """Whether the broker was in controlled shutdown and led no partition, and whether the other
    brokers knew."""
    unaware: tuple[int, ...]
    """The active brokers that had not read the moves of the shutdown yet."""


class HeartbeatRequestsHonoured(Invariant):
    """Requests to be fenced, to serve and to shut down are granted, by answers and records."""

    statement = (
        "A heartbeat answer has the broker's fencing state; a broker that requests fencing is "
        "fenced, a caught-up broker that requests to serve is unfenced, and a broker that requests "
        "shutdown and leads nothing may shut down, once the other brokers know."
    )
    requests: ClassVar[Requests] = (HeartbeatRequest,)

    def __init__(self, registry: Registry) -> None:
        super().__init__()
        self._registry = registry
        self._asked: dict[tuple[int, int, int], Asked] = {}
        self._wants_to_serve: set[Contender] = set()  # asked for membership only
        self._wants_to_stop: set[Contender] = set()  # asked for membership only
        self._delays: dict[tuple[int, int, Contender], int] = {}
        self._reached: dict[tuple[int, int], dict[int, int]] = {}
        """The metadata offset of each broker's last heartbeat to a process."""
        self._answered: dict[tuple[int, int, int], dict[int, int]] = {}
        """The same of answered heartbeats, by process and epoch: a new leader knows nobody's."""
        self._moves: dict[Contender, int] = {}
        """The offset of the last record of the batch that began a shutdown."""
        self._log_ends: dict[tuple[int, int, int, Contender], int] = {}
        """End of the log of a process, in an epoch, at the first answer to a broker that may go: a
        new leader does not know where in the log the moves are, and decides after the arrival."""

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        request = event.message
        if not isinstance(request, HeartbeatRequest):
            return
        contender, broker_id = _contender(request), NodeId(request.broker_id)
        if request.want_shut_down:
            self._wants_to_stop.add(contender)
        elif not request.want_fence and request.current_metadata_offset >= request.broker_epoch:
            self._wants_to_serve.add(contender)
        image = process.image
        broker = image.brokers.get(broker_id)
        reached = self._reached.setdefault((process.node_id, process.incarnation), {})
        if broker is not None and broker.epoch == request.broker_epoch:
            reached[broker_id] = request.current_metadata_offset
        may_stop = request.want_shut_down and broker is not None and broker.in_controlled_shutdown
        leads_nothing = may_stop and not image.leads_any(broker_id)
        if leads_nothing:
            end = self._log_ends.get(self._key(process, contender))
            known = self._answered_in_epoch(process)
            may_stop = end is not None and not _unaware(image, known, end - 1)
        else:
            may_stop = False
        self._asked[process.node_id, process.incarnation, event.request] = Asked(
            standing=self._registry.standing(*contender),
            leads_nothing=leads_nothing,
            may_stop=may_stop,
            unaware=_unaware(image, reached, self._moves.get(contender, -1)),
        )

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        if not self._asked:
            return  # most answers are to Fetches
        asked = self._asked.pop((process.node_id, process.incarnation, event.request), None)
        match event.message, message:
            case HeartbeatRequest() as request, HeartbeatResponse(error_code=ErrorCode.NONE):
                answered = self._answered_in_epoch(process)
                answered[request.broker_id] = request.current_metadata_offset
                if asked is not None:
                    self._judge(process, request, message, asked)
                    if asked.leads_nothing:
                        key = self._key(process, _contender(request))
                        self._log_ends.setdefault(key, process.log.end_offset)
            case _:
                return

    def _answered_in_epoch(self, process: ProcessView) -> dict[int, int]:
        key = (process.node_id, process.incarnation, self._epoch(process))
        return self._answered.setdefault(key, {})

    def _key(self, process: ProcessView, contender: Contender) -> tuple[int, int, int, Contender]:
        return (process.node_id, process.incarnation, self._epoch(process), contender)

    @staticmethod
    def _epoch(process: ProcessView) -> int:
        return -1 if process.status is None else process.status.epoch

    def _judge(
        self,
        process: ProcessView,
        request: HeartbeatRequest,
        reported: HeartbeatResponse,
        asked: Asked,
    ) -> None:
        broker = f"broker {request.broker_id}, epoch {request.broker_epoch}"
        standing = self._registry.standing(*_contender(request))
        is_unchanged = standing is not None and standing == asked.standing
        if is_unchanged and standing is not None and standing.fenced != reported.is_fenced:
            detail = (
                f"{broker}: answered fenced={reported.is_fenced}, contrary to its committed state"
            )
            self.monitor.report_violation(self, process, detail)
        if request.want_fence and not reported.is_fenced:
            self.monitor.report_violation(
                self, process, f"{broker}: requests fencing, but is unfenced"
            )
        may_serve = not (request.want_fence or request.want_shut_down)
        if may_serve and is_unchanged and standing is not None and not standing.leaving:
            has_caught_up = request.current_metadata_offset >= request.broker_epoch
            if has_caught_up and reported.is_fenced:
                self.monitor.report_violation(
                    self, process, f"{broker}: requests to serve, but is fenced"
                )
        if reported.should_shut_down and _contender(request) not in self._wants_to_stop:
            self.monitor.report_violation(
                self, process, f"{broker}: may shut down without a request"
            )
        was_active = standing is not None and not standing.fenced and is_unchanged
        if reported.should_shut_down and asked.unaware and was_active and not request.want_fence:
            unaware = ", ".join(map(str, asked.unaware))
            detail = f"{broker}: may shut down, but broker {unaware} has not read the moves"
            self.monitor.report_violation(self, process, detail)
        self._count_delays(process, request, asked, is_granted=reported.should_shut_down)

    def _count_delays(
        self, process: ProcessView, request: HeartbeatRequest, asked: Asked, *, is_granted: bool
    ) -> None:
        key = (process.node_id, process.incarnation, _contender(request))
        if is_granted or not asked.may_stop:
            self._delays.pop(key, None)
            return
        delays = self._delays.get(key, 0) + 1
        self._delays[key] = delays
        if delays > MAX_DELAYS:
            detail = f"broker {request.broker_id}: leads nothing, {delays} shutdown requests"
            self.monitor.report_violation(self, process, detail)

    @override
    def on_appended(self, process: ProcessView, batch: Batch) -> None:
        for record in batch.records:
            if type(record) is not records.BrokerRegistrationChangeRecord:
                continue
            if record.in_controlled_shutdown > 0:
                self._moves[record.broker_id, record.broker_epoch] = batch.next_offset - 1
            if (
                record.fenced < 0
                and (record.broker_id, record.broker_epoch) not in self._wants_to_serve
            ):
                detail = (
                    f"broker {record.broker_id}: unfenced without a request of a caught-up broker"
                )
                self.monitor.report_violation(self, process, detail)
