"""The invariant of the numbers of broker states (KIP-631 "Broker State Machine")."""

from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Stop
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import (
    Message,
    broker_heartbeat_request,
    broker_heartbeat_response,
)

STARTING, RECOVERY, RUNNING = 1, 2, 3
STOPPING: Final = frozenset((6, 7))
"""PENDING_CONTROLLED_SHUTDOWN and SHUTTING_DOWN; released Kafka never used 4 and 5."""


class BrokerStateIsAccurate(Invariant):
    """The BrokerState metric of a broker has the numbers that dashboards know."""

    statement = (
        "A broker is in state 1 until its listeners are open, in state 2 until the controller has "
        "unfenced it, then in state 3, and after a request to stop in state 6 or 7."
    )
    requests: ClassVar[Requests] = (broker_heartbeat_request.BrokerHeartbeatRequest,)

    def __init__(self) -> None:
        super().__init__()
        self._allowed: dict[int, frozenset[int]] = {}
        """The states that each broker may have."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._allowed[process.node_id] = frozenset({STARTING})

    @override
    def on_listeners_opened(self, process: ProcessView) -> None:
        self._allowed[process.node_id] = frozenset({RECOVERY})

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        assert isinstance(answer, broker_heartbeat_response.BrokerHeartbeatResponse)
        is_unfenced = not answer.error_code and not answer.is_fenced
        if is_unfenced and RECOVERY in self._allowed[process.node_id]:
            # An answer that came after its request was given up changes nothing.
            self._allowed[process.node_id] = frozenset({RECOVERY, RUNNING})

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        state = after.broker_state
        if state is None or (before is not None and before.broker_state == state):
            return
        if isinstance(process.event, Stop) or (before is not None and _is_stopping(before)):
            self._allowed[process.node_id] = STOPPING
        if int(state) not in self._allowed[process.node_id]:
            allowed = " or ".join(map(str, sorted(self._allowed[process.node_id])))
            detail = f"the state of the broker is {int(state)}, not {allowed}"
            self.monitor.report_violation(self, process, detail)


def _is_stopping(status: NodeStatus) -> bool:
    return status.broker_state is not None and int(status.broker_state) in STOPPING
