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
from kraftproof.cluster.simulated.invariants.moments import ROUNDING_NS
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import NO_NODE, milliseconds
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import Message, fetch_request, fetch_response
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.field import metadata_batches

FetchRequest = fetch_request.FetchRequest
OF_REPLICAS_SINCE = 15
"""First version of Fetch with the id of the replica in ReplicaState."""
WITH_HIGH_WATERMARK_SINCE = 18
"""First version of Fetch that names the high watermark that the replica knows (KIP-1166)."""
UNKNOWN_HIGH_WATERMARK = (1 << 63) - 1
"""High watermark of a Fetch that names none: no answer is news."""
NONE_STATED = -1
TINY_BYTES = 1
"""Size of a Fetch for which a second batch is always too large."""
LONGEST_WAIT_MS = 500
"""Longest time that a leader lets a Fetch wait, in milliseconds."""


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
        batches: Sequence[Batch] = metadata_batches(reported.records)
        if batches:
            fault = (
                _fault(process, offset, batches)
                or _fault_to_consumer(process, event, batches)
                or _fault_of_size(event.message, batches)
            )
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


def _fault_of_size(message: FetchRequest, batches: Sequence[Batch]) -> str | None:
    """Describe an answer that ignores the size of the Fetch, which the first batch may exceed."""
    most = min(message.max_bytes, message.topics[0].partitions[0].partition_max_bytes)
    if most != TINY_BYTES or len(batches) == 1:
        return None
    return f"{len(batches)} batches for a Fetch of {most} bytes"


def _fault(process: ProcessView, offset: int, batches: Sequence[Batch]) -> str | None:
    first = batches[0]
    end = first.next_offset
    if not first.base_offset <= offset < end:
        return (
            f"the first batch has offsets {first.base_offset} to {first.last_offset}, not {offset}"
        )
    for before, after in pairwise(batches) if len(batches) > 1 else ():
        if after.base_offset != before.next_offset:
            return f"a batch at offset {after.base_offset} follows one to {before.last_offset}"
    for batch in batches:
        ours = process.log.ending_at(end if batch is first else batch.next_offset)
        if ours is not batch and ours != batch:
            return f"the batch at offset {batch.base_offset} is not in the log"
    return None


class NoFetchWaitsWithData(Invariant):
    """A waiting Fetch is answered in the step that appends records, or that commits records."""

    statement = (
        "No Fetch of a voter waits at a leader whose log has records behind its offset, and no "
        "Fetch of a replica at a leader that states a higher high watermark than the replica knows."
    )
    requests: ClassVar[Requests] = (FetchRequest,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._voters = frozenset(config.voters)
        self._waiting: dict[int, dict[int, tuple[int, int, int]]] = {}
        """By node, then by the token of a request: the replica, its offset, its high watermark."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._waiting.pop(process.node_id, None)

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        message = event.message
        assert isinstance(message, FetchRequest), "the only type of its requests"
        replica = message.replica_state.replica_id
        if replica < 0 or event.version < OF_REPLICAS_SINCE:
            return
        if message.topics and message.topics[0].partitions:
            asked = message.topics[0].partitions[0]
            has_known = event.version >= WITH_HIGH_WATERMARK_SINCE
            known = asked.high_watermark if has_known else UNKNOWN_HIGH_WATERMARK
            waiting = self._waiting.setdefault(process.node_id, {})
            waiting[event.request] = (replica, asked.fetch_offset, known)

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
        end, stated, detail = process.log.end_offset, _stated(process), None
        for replica, offset, known in waiting.values():
            if replica in self._voters and offset < end:
                detail = f"node {replica} waits at offset {offset}, the log ends at {end}"
            elif known < stated:
                detail = f"node {replica} waits with high watermark {known}, not {stated}"
        if detail is not None:
            self.monitor.report_violation(self, process, detail)


def _stated(process: ProcessView) -> int:
    """Return the high watermark that a leader states: none before a record of its own epoch."""
    status = process.status
    if status is None:
        return NONE_STATED
    last = process.log.ending_at(status.high_watermark)
    is_own = last is not None and last.epoch == status.epoch
    return status.high_watermark if is_own else NONE_STATED


class FetchesWait(Invariant):
    """A Fetch without news waits at the leader, so that replicas do not ask again at once."""

    statement = (
        "A leader answers a Fetch of a replica without news only after the wait of the Fetch, or "
        "when the replica sends another Fetch."
    )
    requests: ClassVar[Requests] = (FetchRequest,)

    def __init__(self) -> None:
        super().__init__()
        self._arrived: dict[int, dict[int, tuple[int, int]]] = {}
        """By node, then by the token of a request: the replica, and the true time of arrival."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._arrived.pop(process.node_id, None)

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        message = event.message
        assert isinstance(message, FetchRequest), "the only type of its requests"
        replica = message.replica_state.replica_id
        if replica >= 0 and event.version >= WITH_HIGH_WATERMARK_SINCE:
            arrived = self._arrived.setdefault(process.node_id, {})
            arrived[event.request] = (replica, process.now_ns())

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        arrived = self._arrived.get(process.node_id, {})
        replica, since_ns = arrived.pop(event.request, (NO_NODE, 0))
        if replica == NO_NODE or replica in [other for other, _ in arrived.values()]:
            return  # another Fetch of the replica has arrived
        if not isinstance(message, fetch_response.FetchResponse) or has_news(event, message):
            return
        assert isinstance(event.message, FetchRequest), "the only type of its requests"
        wait_ns = milliseconds(min(event.message.max_wait_ms, LONGEST_WAIT_MS))
        least_ns = wait_ns * (1 - 2 * self.monitor.rate_error) - ROUNDING_NS
        waited_ns = process.now_ns() - since_ns
        if waited_ns < least_ns:
            detail = f"nothing new for node {replica} after {waited_ns / 1e6:.0f} ms"
            self.monitor.report_violation(
                self, process, f"{detail}, but the Fetch may wait {wait_ns / 1e6:.0f} ms"
            )


def has_news(event: Received, message: fetch_response.FetchResponse) -> bool:
    """Return whether an answer tells more than the replica knew: records, a position, an error."""
    assert isinstance(event.message, FetchRequest), "the request of a FetchResponse"
    if message.error_code or not message.responses or not message.responses[0].partitions:
        return True
    told, asked = message.responses[0].partitions[0], event.message.topics[0].partitions[0]
    return bool(
        told.error_code
        or told.records
        or told.diverging_epoch.epoch >= 0
        or told.snapshot_id.epoch >= 0
        or told.high_watermark > asked.high_watermark
    )
