"""Invariants of the answers to Fetches of the metadata log (KIP-595 "Fetch", KIP-1166)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import Message, fetch_request, fetch_response
from kraftproof.node.wire.records.batch import Batch

FetchRequest = fetch_request.FetchRequest
OF_REPLICAS_SINCE = 15
"""First version of Fetch with the id of the replica in ReplicaState."""


class FetchReturnsNextBatches(Invariant):
    """The batches of an answer follow the log of the replica; an answer without batches has none.

    A replica drops batches that do not follow, and fetches again: a loop without progress.
    """

    statement = (
        "A Fetch is answered with consecutive batches of the leader's log from its offset, and a "
        "Fetch of a voter without batches only at the end of the log; a consumer gets committed "
        "batches only."
    )
    requests: ClassVar[Requests] = (FetchRequest,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._voters = frozenset(config.voters)

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        if not isinstance(message, fetch_response.FetchResponse) or message.error_code:
            return
        if not message.responses or not message.responses[0].partitions:
            return
        reported = message.responses[0].partitions[0]
        if (
            reported.error_code
            or reported.diverging_epoch.epoch >= 0
            or reported.snapshot_id.epoch >= 0
        ):
            return
        assert isinstance(event.message, FetchRequest), "the only type of its requests"
        offset = event.message.topics[0].partitions[0].fetch_offset
        batches: Sequence[Batch] = reported.records or ()
        if batches:
            fault = _fault(process, offset, batches) or _fault_to_consumer(process, event, batches)
        else:
            fault = self._fault_without(process, event, offset)
        if fault is not None:
            self.monitor.report_violation(self, process, fault)

    def _fault_without(self, process: ProcessView, event: Received, offset: int) -> str | None:
        message = event.message
        assert isinstance(message, FetchRequest), "the only type of its requests"
        replica = _replica_id(message, event.version)
        end = process.log.end_offset
        if replica in self._voters and offset < end:
            return f"no batches at offset {offset} for a voter; the log ends at {end}"
        return None


def _replica_id(message: FetchRequest, version: int) -> int:
    in_state = version >= OF_REPLICAS_SINCE
    return message.replica_state.replica_id if in_state else message.replica_id


def _fault_to_consumer(
    process: ProcessView, event: Received, batches: Sequence[Batch]
) -> str | None:
    """Describe records that a debugging consumer gets before they are committed (595-54)."""
    assert isinstance(event.message, FetchRequest), "the only type of its requests"
    status, end = process.status, batches[-1].next_offset
    if status is None or end <= status.high_watermark:
        return None
    if _replica_id(event.message, event.version) != NO_NODE:
        return None
    return f"a consumer gets offset {end - 1}, the high watermark is {status.high_watermark}"


def _fault(process: ProcessView, offset: int, batches: Sequence[Batch]) -> str | None:
    first = batches[0]
    if not first.base_offset <= offset < first.next_offset:
        return (
            f"the first batch has offsets {first.base_offset} to {first.last_offset}, not {offset}"
        )
    for before, after in pairwise(batches):
        if after.base_offset != before.next_offset:
            return f"a batch at offset {after.base_offset} follows one to {before.last_offset}"
    for batch in batches:
        ours = process.log.ending_at(batch.next_offset)
        if ours is not batch and ours != batch:
            return f"the batch at offset {batch.base_offset} is not in the log"
    return None


class NoFetchWaitsWithData(Invariant):
    """A waiting Fetch of a voter is answered in the step that appends records."""

    statement = "No Fetch of a voter waits at a leader whose log has records behind its offset."
    requests: ClassVar[Requests] = (FetchRequest,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._voters = frozenset(config.voters)
        self._waiting: dict[int, dict[int, tuple[int, int]]] = {}
        """By node, then by the token of a request: the replica and its offset."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._waiting.pop(process.node_id, None)

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        message = event.message
        assert isinstance(message, FetchRequest), "the only type of its requests"
        replica = message.replica_state.replica_id
        if replica not in self._voters or event.version < OF_REPLICAS_SINCE:
            return
        if message.topics and message.topics[0].partitions:
            offset = message.topics[0].partitions[0].fetch_offset
            self._waiting.setdefault(process.node_id, {})[event.request] = (replica, offset)

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        waiting = self._waiting.get(process.node_id)
        if waiting is not None:
            waiting.pop(event.request, None)

    @override
    def on_leader_step(self, process: ProcessView) -> None:
        waiting = self._waiting.get(process.node_id)
        if not waiting:
            return
        end = process.log.end_offset
        for replica, offset in waiting.values():
            if offset < end:
                detail = f"node {replica} waits at offset {offset}, the log ends at {end}"
                self.monitor.report_violation(self, process, detail)
                return
