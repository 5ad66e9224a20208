"""Invariant of the end of DeleteRecords: the answer waits for live replicas alone (KIP-107)."""

from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.fetched import (
    follower_of,
)
from kraftproof.cluster.simulated.invariants.partitions.replicas import (
    NewestImage,
    Replicas,
    partition_in,
)
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.events import Received
from kraftproof.node.core.partition.log_directories import has_disk
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    delete_records_request,
    delete_records_response,
    fetch_request,
    fetch_response,
)
from kraftproof.node.wire.types import ZERO_UUID

Key = tuple[int, int, LogId, int]
"""Node, incarnation, log and leader epoch."""


class DeletionsEnd(Replicas):
    """A deletion that waits for a broker without a lease would time out for as long as it is away.

    A follower tells the start of its log in each Fetch.
    """

    statement = (
        "DeleteRecords of one partition does not time out once every live follower has told the "
        "start of the leader's log, or a later one, in the leader's epoch."
    )
    requests: ClassVar[Requests] = (
        delete_records_request.DeleteRecordsRequest,
        fetch_request.FetchRequest,
    )

    def __init__(self, newest: NewestImage | None = None) -> None:
        super().__init__(newest)
        self._told: dict[Key, dict[int, int]] = {}
        """By leadership and follower: the start in the last Fetch that was served."""

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        match event.message, message:
            case fetch_request.FetchRequest() as request, fetch_response.FetchResponse():
                self._note(process, event, request, message)
            case (
                delete_records_request.DeleteRecordsRequest() as request,
                delete_records_response.DeleteRecordsResponse(),
            ):
                if [len(topic.partitions) for topic in request.topics] == [1]:
                    part = message.topics[0].partitions[0]
                    name, index = request.topics[0].name, part.partition_index
                    log = self._log_of(name, ZERO_UUID, index)
                    if log is not None and part.error_code == ErrorCode.REQUEST_TIMED_OUT:
                        self._judge(process, log)
            case _:
                return

    def _note(
        self,
        process: ProcessView,
        event: Received,
        request: fetch_request.FetchRequest,
        message: fetch_response.FetchResponse,
    ) -> None:
        replica, _ = follower_of(request, event.version)
        answers = [part for topic in message.responses for part in topic.partitions]
        asked = self._newest.wishes(process.image, request, event.version)
        if replica < 0 or len(asked) != len(answers):
            return
        for (log, wish), found in zip(asked, answers, strict=True):
            if not found.error_code and found.diverging_epoch.end_offset < 0:
                key = (process.node_id, process.incarnation, log, wish.current_leader_epoch)
                self._told.setdefault(key, {})[replica] = wish.log_start_offset

    def _judge(self, process: ProcessView, log: LogId) -> None:
        partition, mirror = partition_in(process.image, log), process.partitions.get(log)
        if partition is None or mirror is None or partition.leader != process.node_id:
            return
        key = (process.node_id, process.incarnation, log, partition.leader_epoch)
        told = self._told.get(key, {})
        for replica in partition.replicas:
            broker = process.image.brokers.get(replica)
            is_live = broker is not None and not broker.fenced and has_disk(partition, broker)
            if replica == process.node_id or not is_live:
                continue
            if told.get(replica, -1) < mirror.start_offset:
                return
        detail = f"log {log}: DeleteRecords times out, and every live replica starts at "
        self.monitor.report_violation(self, process, f"{detail}{mirror.start_offset}")
