"""Invariants of a broker that goes on without a failed log directory (KIP-112, KIP-858)."""

from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    ClusterConfig,
    Events,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.cluster.simulated.invariants.moments import ROUNDING_NS
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import DirectoryFailed
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
)
from kraftproof.node.wire.types import Uuid

HeartbeatRequest = broker_heartbeat_request.BrokerHeartbeatRequest
HeartbeatResponse = broker_heartbeat_response.BrokerHeartbeatResponse
RegistrationRequest = broker_registration_request.BrokerRegistrationRequest


class FailedDirectoriesAreTold(Invariant):
    """The controller moves leaderships and ISRs by the directories that a broker names."""

    statement = (
        "A broker names each failed log directory in every heartbeat and in no registration, and "
        "ends only if no controller hears within log.dir.failure.timeout.ms."
    )
    requests: ClassVar[Requests] = (HeartbeatRequest, RegistrationRequest)
    step_events: ClassVar[Events] = (DirectoryFailed,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._limit_ns = config.timeouts.directory_failure_ns
        self._failed: dict[int, set[Uuid]] = {}
        """The directories that have failed under the process of each node."""
        self._unheard_ns: dict[int, int] = {}
        """By node: the true time of the last failure that no controller has heard of."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._failed.pop(process.node_id, None)
        self._unheard_ns.pop(process.node_id, None)

    @override
    def on_step(self, process: ProcessView) -> None:
        if isinstance(process.event, DirectoryFailed):
            self._failed.setdefault(process.node_id, set()).add(process.event.directory)
            self._unheard_ns[process.node_id] = process.now_ns()

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        failed, message = self._failed.get(process.node_id), effect.message
        if failed is None or isinstance(process.event, DirectoryFailed):
            return
        if isinstance(message, HeartbeatRequest) and not failed <= set(message.offline_log_dirs):
            detail = f"a heartbeat names {message.offline_log_dirs}, not {sorted(failed)}"
            self.monitor.report_violation(self, process, detail)
        elif isinstance(message, RegistrationRequest) and not failed.isdisjoint(message.log_dirs):
            detail = f"a registration names {message.log_dirs}, of which {sorted(failed)} failed"
            self.monitor.report_violation(self, process, detail)

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        asked, failed = request.message, self._failed.get(process.node_id)
        is_heard = isinstance(answer, HeartbeatResponse) and answer.error_code == ErrorCode.NONE
        if not failed or not is_heard or not isinstance(asked, HeartbeatRequest):
            return
        if failed <= set(asked.offline_log_dirs):
            self._unheard_ns.pop(process.node_id, None)

    def may_end(self, process: ProcessView) -> bool:
        """Return whether no controller has heard of a failed directory for the whole time."""
        since_ns = self._unheard_ns.get(process.node_id)
        least_ns = self._limit_ns * (1 - 2 * self.monitor.rate_error) - ROUNDING_NS
        return since_ns is not None and process.now_ns() - since_ns >= least_ns
