"""The invariant of the requests that a broker sends to the controller one after the other."""

from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import (
    Message,
    allocate_producer_ids_request,
    alter_partition_request,
    assign_replicas_to_dirs_request,
)


class OneRequestUnderWay(Invariant):
    """A late answer of a former controller says nothing about a request to the present one.

    A broker that takes the late answer for the present one sends again while the present request
    is under way, and may end a proposal that the present controller accepts (497-11).
    """

    statement = (
        "A broker sends no second AlterPartition, AssignReplicasToDirs or AllocateProducerIds to "
        "a controller that owes the answer to the last one, unless the broker has known another "
        "controller meanwhile."
    )
    requests: ClassVar[Requests] = (
        allocate_producer_ids_request.AllocateProducerIdsRequest,
        alter_partition_request.AlterPartitionRequest,
        assign_replicas_to_dirs_request.AssignReplicasToDirsRequest,
    )

    def __init__(self) -> None:
        super().__init__()
        self._open: dict[tuple[int, int], dict[type[Message], Send]] = {}
        """By node and incarnation: the last request of each type, if its answer is due."""

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        requests = self._open.setdefault((process.node_id, process.incarnation), {})
        kind = type(effect.message)
        before = requests.get(kind)
        requests[kind] = effect
        if before is not None and before.destination == effect.destination:
            detail = f"{kind.__name__} to controller {effect.destination}, before the answer to "
            self.monitor.report_violation(self, process, f"{detail}the one before")

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        self._ends(process, request.correlation)

    @override
    def on_unanswered(self, process: ProcessView, correlation: int) -> None:
        self._ends(process, correlation)

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        requests = self._open.get((process.node_id, process.incarnation))
        if not requests or after.leader == NO_NODE:
            return
        for kind, request in list(requests.items()):
            if request.destination != after.leader:
                del requests[kind]

    def _ends(self, process: ProcessView, correlation: int) -> None:
        requests = self._open.get((process.node_id, process.incarnation), {})
        for kind, request in list(requests.items()):
            if request.correlation == correlation:
                del requests[kind]
