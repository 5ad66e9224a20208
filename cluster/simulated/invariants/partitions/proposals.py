"""Invariants of the proposals with which a leader changes the ISR (KIP-497)."""

from collections.abc import Iterator
from itertools import pairwise
from typing import ClassVar, Final

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirror
from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.fetched import NO_EPOCH, FollowerFetches
from kraftproof.cluster.simulated.invariants.partitions.replicas import partition_in
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.metadata.image import Partition
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    alter_partition_request,
    alter_partition_response,
)

Request = alter_partition_request.AlterPartitionRequest
Part = alter_partition_request.PartitionData
NOT_APPLIED: Final = frozenset((ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED))
"""The refusals of a controller that has certainly not applied the proposal."""
MAYBE_APPLIED: Final = frozenset((ErrorCode.INVALID_UPDATE_VERSION, ErrorCode.FENCED_LEADER_EPOCH))
"""The refusals that may come after the proposal itself; the next image tells."""


class _Proposal(Struct, kw_only=True):
    """The last proposal of a process about a partition."""

    epochs: tuple[int, int]
    """Leader epoch and partition epoch."""
    members: tuple[int, ...]
    is_refused: bool = False
    """Whether the controller has certainly not applied the proposal."""
    waits_for: int | None = None
    """The controller whose answer leaves the result to the next image."""


class OneProposalAtATime(Invariant):
    """A leader does not know the result of an open proposal, so no other one may follow (497-11).

    After a lost answer the same proposal goes again; after a refusal that may come from the
    proposal's own success, the leader waits for the image.
    """

    statement = (
        "Until a leader knows that a proposal was not applied, or knows a newer partition epoch, "
        "the leader proposes no other ISR, and nothing after a refused partition epoch."
    )
    requests: ClassVar[Requests] = (Request,)

    def __init__(self) -> None:
        super().__init__()
        self._open: dict[tuple[int, int, LogId], _Proposal] = {}
        """By node, incarnation and log."""
        self._last: dict[tuple[int, int], Send] = {}
        """By node and incarnation: the last request."""

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        self._last[process.node_id, process.incarnation] = effect
        for log, part in proposals(effect.message):
            key = (process.node_id, process.incarnation, log)
            epochs, members = (part.leader_epoch, part.partition_epoch), members_of(part)
            known = self._open.get(key)
            if known is not None and known.epochs == epochs and not known.is_refused:
                if known.members != members:
                    detail = f"log {log}: ISR {members} is proposed, {known.members} is open"
                    self.monitor.report_violation(self, process, detail)
                elif known.waits_for == effect.destination:
                    detail = f"log {log}: ISR {members} is proposed again, controller "
                    found = f"{known.waits_for} has refused partition epoch {epochs[1]}"
                    self.monitor.report_violation(self, process, detail + found)
            self._open[key] = _Proposal(epochs=epochs, members=members)

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        if request is not self._last.get((process.node_id, process.incarnation)):
            return  # the leader has taken the request as lost
        if not isinstance(answer, alter_partition_response.AlterPartitionResponse):
            return
        for topic in answer.topics:
            for part in topic.partitions:
                log = LogId(topic.topic_id, part.partition_index)
                known = self._open.get((process.node_id, process.incarnation, log))
                if known is not None and part.error_code in NOT_APPLIED:
                    known.is_refused = True
                elif known is not None and part.error_code in MAYBE_APPLIED:
                    assert isinstance(request, Send), "AlterPartition is not forwarded"
                    known.waits_for = request.destination


class JoinersHaveFetched(Invariant):
    """A joiner has the records of earlier leaders, and what this leader has shown (497-09)."""

    statement = (
        "A leader proposes a joiner after a Fetch in its leader epoch from the start of the epoch "
        "and from the shown high watermark or above, with the broker epoch of such a Fetch."
    )
    requests: ClassVar[Requests] = (Request,)

    def __init__(self, fetches: FollowerFetches) -> None:
        super().__init__()
        self._fetches = fetches

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        for log, part, partition in current_proposals(process, effect):
            known = {each.broker_id: each.broker_epoch for each in part.new_isr_with_epochs}
            for joiner in members_of(part):
                if joiner not in (*partition.isr, process.node_id):
                    epoch = known.get(joiner, NO_EPOCH)
                    self._judge(process, log, (part.leader_epoch, joiner, epoch))

    def _judge(self, process: ProcessView, log: LogId, joining: tuple[int, int, int]) -> None:
        """Compare a joiner with its Fetches; leader epoch, joiner and the joiner's broker epoch."""
        leader_epoch, joiner, broker_epoch = joining
        leadership = self._fetches.of(process, log, leader_epoch)
        mirror = process.partitions.get(log)
        start = 0 if mirror is None else _start_of(mirror, leader_epoch)
        least = max(start, leadership.shown or 0)
        offset = leadership.offsets.get(joiner, -1)
        if offset < least:
            detail = f"log {log}: broker {joiner} is to join, has fetched from offset {offset}, "
            self.monitor.report_violation(self, process, f"{detail}and must have {least}")
        elif broker_epoch not in {NO_EPOCH, *leadership.broker_epochs[joiner]}:
            detail = f"log {log}: broker {joiner} is to join with broker epoch {broker_epoch}, "
            self.monitor.report_violation(self, process, f"{detail}and has fetched with another")


class MembersAreRemovedForLag(Invariant):
    """A leader that removes a follower without need loses a copy of each later record (497-02)."""

    statement = (
        "A leader proposes to remove a member only if the member has not reached the log end for "
        "replica.lag.time.max.ms, less the error of the clocks, in the last time-out of a "
        "proposal, by the first request of the proposal."
    )
    requests: ClassVar[Requests] = (Request,)

    def __init__(self, fetches: FollowerFetches, lag_ns: int) -> None:
        super().__init__()
        self._fetches = fetches
        self._lag_ns = lag_ns
        self._sent: dict[tuple[int, int, LogId], tuple[int, int, tuple[int, ...]]] = {}
        """By node, incarnation and log: the epochs and the members of the last proposal."""

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        for log, part, partition in current_proposals(process, effect):
            key = (process.node_id, process.incarnation, log)
            proposal = (part.leader_epoch, part.partition_epoch, members_of(part))
            if self._sent.get(key) == proposal:
                continue  # without the controllers, the leader asks again and again
            self._sent[key] = proposal
            for member in sorted({*partition.isr} - {process.node_id, *members_of(part)}):
                times = self._fetches.of(process, log, part.leader_epoch).level_ns.get(member, [])
                longest = _longest_pause(times, process.now_ns())
                least = int(self._lag_ns * LEAST_LAG * (1 - self.monitor.rate_error))
                if longest is not None and longest < least:
                    detail = f"log {log}: member {member} is to be removed, was never away from "
                    found = f"the log end for {longest // milliseconds(1)} ms or longer"
                    self.monitor.report_violation(self, process, detail + found)


LEAST_LAG: Final = 0.6
"""The share of the lag that counts: clocks of simulated nodes are up to 40 % too fast."""
WINDOW_NS: Final = milliseconds(6_000)
"""The time in which a proposal may wait for an earlier one, and for an answer."""


def _longest_pause(times: list[int], now_ns: int) -> int | None:
    """Return the longest time between two times of the window; None if they are too new."""
    recent = [time for time in times if time >= now_ns - WINDOW_NS]
    if len(recent) < 2 or recent[0] > now_ns - WINDOW_NS // 2:
        return None
    return max(after - before for before, after in pairwise([*recent, now_ns]))


def current_proposals(
    process: ProcessView, effect: Send
) -> Iterator[tuple[LogId, Part, Partition]]:
    """Yield the partitions of an AlterPartition that the leader knows in their present state."""
    for log, part in proposals(effect.message):
        partition = partition_in(process.image, log)
        if partition is not None and partition.partition_epoch == part.partition_epoch:
            yield log, part, partition


def proposals(message: Message) -> Iterator[tuple[LogId, Part]]:
    """Yield the partitions of an AlterPartition."""
    assert isinstance(message, Request), "the only type of the invariants' requests"
    for topic in message.topics:
        for part in topic.partitions:
            yield LogId(topic.topic_id, part.partition_index), part


def members_of(part: Part) -> tuple[int, ...]:
    """Return the proposed members, in order."""
    with_epochs = tuple(each.broker_id for each in part.new_isr_with_epochs)
    return with_epochs or tuple(part.new_isr)


def _start_of(mirror: PartitionMirror, epoch: int) -> int:
    """Return the first offset of a leader epoch; 0 if the begin of the epoch was removed."""
    if not mirror.batches or mirror.batches[0].epoch >= epoch:
        return 0
    return mirror.end_of_epoch(epoch - 1)
