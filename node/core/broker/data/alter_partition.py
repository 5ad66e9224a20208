"""Send the proposals of leaders to the controller in AlterPartition (KIP-497, KIP-903).

One request is under way per broker, with every open proposal: the partitions that one Fetch brings
into sync go together (497-10). Without an answer, the proposals are sent again, and the broker
epoch is the current one. See node/core/partition/isr.py for the meaning of the answers.
"""

from collections.abc import Callable, Mapping
from typing import Final

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NO_NODE, Epoch, Instant, Monotonic, NodeId
from kraftproof.node.core.metadata.version import REPLICA_EPOCHS_FROM, alter_partition_version
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.isr import IsrAnswer, IsrState
from kraftproof.node.core.partition.leader import Leader
from kraftproof.node.core.partition.replicas import Replicas
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    alter_partition_request,
    alter_partition_response,
)
from kraftproof.node.wire.types import Uuid

RETRY_NS: Final = 50_000_000


class AlterPartitionSender:
    """The AlterPartition requests of a broker."""

    __slots__ = (
        "_broker_epoch",
        "_in_flight_to",
        "_leader",
        "_node_id",
        "_not_before",
        "_open",
        "_outbox",
        "_replicas",
        "_sent",
        "_serial",
        "_timeout_ns",
    )

    def __init__(
        self,
        node_id: NodeId,
        replicas: Replicas,
        outbox: Outbox,
        *,
        leader: Callable[[], NodeId],
        broker_epoch: Callable[[], int],
        timeout_ns: int,
    ) -> None:
        self._node_id = node_id
        self._replicas = replicas
        self._outbox = outbox
        self._leader = leader
        """Returns the active controller, or NO_NODE."""
        self._broker_epoch = broker_epoch
        self._timeout_ns = timeout_ns
        self._in_flight_to: NodeId | None = None
        self._sent: Mapping[LogId, tuple[Leader, IsrState]] = {}
        """The proposals of the request under way."""
        self._serial = 0
        self._not_before = Monotonic(0)
        self._open: dict[LogId, None] = {}
        """The logs that may have an unsent proposal."""

    def note(self, log: LogId) -> None:
        """Look at the proposal of a log at the next settlement."""
        replica = self._replicas.by_log.get(log)
        if replica is not None and replica.leader is not None and replica.leader.isr.is_unsent:
            self._open[log] = None

    def deadline(self) -> Monotonic | None:
        """Return the time at which unsent proposals may be sent."""
        return self._not_before if self._open and self._in_flight_to is None else None

    def settle(self, now: Instant) -> None:
        """Send the unsent proposals, unless a request is under way."""
        leader = self._leader()
        if self._in_flight_to is not None:
            if leader in {NO_NODE, self._in_flight_to}:
                return
            self._give_up()
        if not self._open or now.monotonic < self._not_before:
            return
        epoch = self._broker_epoch()
        if leader == NO_NODE or epoch < 0:
            self._not_before = Monotonic(now.monotonic + RETRY_NS)
            return
        self._send(leader, epoch)

    def _send(self, leader: NodeId, broker_epoch: int) -> None:
        sent: dict[LogId, tuple[Leader, IsrState]] = {}
        for log in sorted(self._open):
            replica = self._replicas.by_log.get(log)
            if replica is None or replica.leader is None or not replica.leader.isr.is_unsent:
                continue
            replica.leader.isr = replica.leader.isr.sent()
            sent[log] = (replica.leader, replica.leader.isr)
        self._open.clear()
        if not sent:
            return
        self._in_flight_to = leader
        self._sent = sent
        self._serial += 1
        serial = self._serial

        def on_answer(message: Message | None, now: Instant) -> None:
            if serial == self._serial:
                self._in_flight_to = None
                self._answered(message, sent, now)

        level = self._replicas.level
        self._outbox.send(
            leader,
            self._request(sent, broker_epoch, has_epochs=level >= REPLICA_EPOCHS_FROM),
            alter_partition_version(level),
            self._timeout_ns,
            on_answer,
        )

    def _request(
        self,
        sent: Mapping[LogId, tuple[Leader, IsrState]],
        broker_epoch: int,
        *,
        has_epochs: bool,
    ) -> alter_partition_request.AlterPartitionRequest:
        """Return the proposals; members have broker epochs from metadata.version 3.5-IV1 on."""
        topics: dict[Uuid, list[alter_partition_request.PartitionData]] = {}
        for log, (leader, isr) in sent.items():
            topics.setdefault(log.topic_id, []).append(
                alter_partition_request.PartitionData(
                    partition_index=log.partition,
                    leader_epoch=isr.leader_epoch,
                    new_isr=() if has_epochs else isr.proposed,
                    new_isr_with_epochs=tuple(
                        alter_partition_request.BrokerState(
                            broker_id=member, broker_epoch=member_epoch
                        )
                        for member, member_epoch in leader.member_epochs()
                        if has_epochs
                    ),
                    leader_recovery_state=0,
                    partition_epoch=isr.partition_epoch,
                )
            )
        return alter_partition_request.AlterPartitionRequest(
            broker_id=self._node_id,
            broker_epoch=broker_epoch,
            topics=tuple(
                alter_partition_request.TopicData(topic_id=topic_id, partitions=tuple(partitions))
                for topic_id, partitions in topics.items()
            ),
        )

    def _answered(
        self,
        message: Message | None,
        sent: Mapping[LogId, tuple[Leader, IsrState]],
        now: Instant,
    ) -> None:
        answers = _answers_of(message)
        if answers is None:
            self._not_before = Monotonic(now.monotonic + RETRY_NS)
        for log, (leader, isr) in sent.items():
            # A partition that the answer leaves out is not decided.
            answer = None if answers is None else answers.get(log)
            leader.answered(isr, answer)
            if leader.isr.is_unsent:
                self._not_before = Monotonic(now.monotonic + RETRY_NS)
            self._replicas.note_change(log)

    def _give_up(self) -> None:
        """Take the request to a former controller as lost, and ignore a late answer.

        A late refusal of the old request must not end the proposal: the new controller may have
        accepted the proposal by then.
        """
        self._in_flight_to = None
        self._serial += 1
        for log, (leader, isr) in self._sent.items():
            leader.answered(isr, None)
            self.note(log)


def _answers_of(message: Message | None) -> dict[LogId, IsrAnswer] | None:
    """Return the answers by log; None for a lost answer or a top-level error."""
    if not isinstance(message, alter_partition_response.AlterPartitionResponse):
        return None
    if message.error_code != ErrorCode.NONE:
        return None
    return {
        LogId(topic.topic_id, partition.partition_index): IsrAnswer(
            error=partition.error_code,
            leader_epoch=Epoch(partition.leader_epoch),
            partition_epoch=partition.partition_epoch,
            isr=tuple(NodeId(member) for member in partition.isr),
        )
        for topic in message.topics
        for partition in topic.partitions
    }
