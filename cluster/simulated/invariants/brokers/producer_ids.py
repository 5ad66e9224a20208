"""The invariant of the producer ids that a broker has got from the controller."""

from collections import Counter
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_request,
    allocate_producer_ids_response,
    init_producer_id_request,
    init_producer_id_response,
)


class ProducerIdsAreGiven(Invariant):
    """A broker that keeps its ids to itself leaves producers without one (KIP-730)."""

    statement = "A broker with producer ids left refuses no producer for want of a block of ids."
    requests: ClassVar[Requests] = (
        allocate_producer_ids_request.AllocateProducerIdsRequest,
        init_producer_id_request.InitProducerIdRequest,
    )

    def __init__(self) -> None:
        super().__init__()
        self._left: Counter[tuple[int, int]] = Counter()
        """The ids of the received blocks less the given ones, by node and incarnation."""

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        block = allocate_producer_ids_response.AllocateProducerIdsResponse
        if isinstance(answer, block) and answer.error_code == ErrorCode.NONE:
            self._left[process.node_id, process.incarnation] += answer.producer_id_len

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        assert isinstance(message, init_producer_id_response.InitProducerIdResponse), "by its type"
        broker = (process.node_id, process.incarnation)
        if message.error_code == ErrorCode.NONE:
            self._left[broker] -= 1
        left = self._left[broker]
        if message.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and left > 0:
            detail = f"refuses a producer though it has {left} producer ids left"
            self.monitor.report_violation(self, process, detail)
