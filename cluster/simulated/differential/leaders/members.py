"""Compare the proposals and the high watermark of a leader with a model of its ISR (KIP-497)."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.background.client_batches import client_batch
from kraftproof.cluster.simulated.differential.bare_data_plane import FIRST_BROKER_EPOCH, START_MS
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.leaders.isr_model import LAG_MS, ModelIsr
from kraftproof.cluster.simulated.differential.leaders.leader_rig import LEADER, LeaderRig
from kraftproof.cluster.simulated.differential.one_partition import NAME, TOPIC
from kraftproof.node.core.effects import Send
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    alter_partition_request,
    alter_partition_response,
    fetch_request,
    produce_request,
)

STEPS: Final = 100
CONTROLLER: Final = 9
RETRY_MS: Final = 50
NO_EPOCH: Final = -1
NOT_APPLIED: Final = (ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED)
MAYBE_APPLIED: Final = (ErrorCode.INVALID_UPDATE_VERSION, ErrorCode.FENCED_LEADER_EPOCH)
NOT_DECIDED: Final = (ErrorCode.NOT_CONTROLLER, ErrorCode.UNKNOWN_SERVER_ERROR)


def compare_members(random: Random) -> None:
    """Let a leader keep its ISR, and compare proposals and high watermark with the model.

    Raises:
        DifferenceError: the leader proposes another ISR, or none, or shows another high watermark.
    """
    run = _Run(random)
    for _ in range(STEPS):
        run.step()


class _Run:
    """A leader, its followers and its controller."""

    def __init__(self, random: Random) -> None:
        self._random = random
        replicas, epoch = (int(LEADER), 2, 3), random.choice((1, 4))
        min_isr = random.choice((1, 1, 2, 3))
        configs = {"min.insync.replicas": str(min_isr)}
        self._rig = LeaderRig(replicas, epoch, configs, lag_ms=LAG_MS, controller=CONTROLLER)
        self._isr = ModelIsr(replicas, epoch, min_isr)
        self._next_check_ms = LAG_MS // 2
        self._seen: Send | None = None
        self._is_open = False
        """Whether the request under way is about the present proposal."""

    def step(self) -> None:
        """Do something, and compare."""
        random, isr, rig = self._random, self._isr, self._rig
        kind, is_settled = random.random(), True
        if kind < 0.2:
            self._produce()
        elif kind < 0.55:
            self._fetch()
        elif kind < 0.75:
            is_settled = self._pass_time(random.choice((20, RETRY_MS + 10, 300, LAG_MS)))
        elif kind < 0.8:
            broker = random.choice(isr.replicas[1:])
            isr.followers[broker].is_fenced = not isr.followers[broker].is_fenced
            rig.fence(broker, is_fenced=isr.followers[broker].is_fenced)
        elif kind < 0.83:
            isr.lead_again(rig.time_ms)
            self._is_open = False
            rig.lead_again()
        elif kind < 0.86:
            is_settled = self._change_isr()
        elif rig.proposals:
            self._answer(rig.proposals[0])
        else:
            return
        if is_settled:
            isr.settle(rig.time_ms)
        self._compare()

    def _produce(self) -> None:
        data = client_batch([b"v"], START_MS + self._rig.time_ms, (-1, -1, -1))
        part = produce_request.PartitionProduceData(index=0, records=data)
        topic = produce_request.TopicProduceData(name=NAME, partition_data=(part,))
        self._rig.ask(produce_request.ProduceRequest(acks=1, topic_data=(topic,)), 11)
        self._isr.end += 1

    def _fetch(self) -> None:
        random, isr = self._random, self._isr
        replica = random.choice(isr.replicas[1:])
        known = max(isr.followers[replica].end, 0)
        offset = random.choice((known, isr.end, isr.end, max(isr.end - 1, known)))
        part = fetch_request.FetchPartition(
            partition=0,
            fetch_offset=offset,
            last_fetched_epoch=NO_EPOCH,
            log_start_offset=0,
            partition_max_bytes=1,
        )
        state = fetch_request.ReplicaState(
            replica_id=replica, replica_epoch=FIRST_BROKER_EPOCH + replica
        )
        topic = fetch_request.FetchTopic(topic_id=TOPIC, partitions=(part,))
        request = fetch_request.FetchRequest(
            replica_state=state, max_wait_ms=0, max_bytes=1, topics=(topic,)
        )
        isr.fetched(replica, offset, self._rig.time_ms)
        self._rig.ask(request, 16)

    def _pass_time(self, for_ms: int) -> bool:
        """Let time pass; return whether the leader has looked for lag."""
        now_ms = self._rig.time_ms + for_ms
        is_check = now_ms >= self._next_check_ms
        if is_check:
            self._next_check_ms = now_ms + LAG_MS // 2
            self._isr.remove_lagging(now_ms)
        self._rig.pass_time(for_ms)
        return is_check

    def _change_isr(self) -> bool:
        """Publish a smaller ISR, as after a fencing; return whether the ISR changes."""
        isr, random = self._isr, self._random
        kept = tuple(each for each in isr.stored if each == LEADER or random.random() < 0.5)
        if kept == isr.stored:
            return False
        isr.publish(kept)
        self._is_open = self._is_open and isr.proposal is not None
        self._rig.change_isr(kept)
        return True

    def _answer(self, sent: Send) -> None:
        """Answer as the controller: accepted, refused, unsure, undecided or lost."""
        random, isr, rig = self._random, self._isr, self._rig
        kind, proposal = random.random(), isr.proposal if self._is_open else None
        self._is_open = False
        if proposal is None or kind < 0.15:
            rig.answer(sent, None)
            return
        if kind < 0.5:
            accepted = alter_partition_response.PartitionData(
                leader_id=LEADER,
                leader_epoch=isr.epoch,
                isr=proposal.members,
                partition_epoch=isr.stored_epoch + 1,
            )
            if random.random() < 0.5:
                isr.publish(proposal.members)
                rig.change_isr(proposal.members)
                rig.answer(sent, _answer(accepted))
                return
            isr.committed, isr.proposal = proposal.members, None
            isr.partition_epoch = isr.stored_epoch + 1
            rig.answer(sent, _answer(accepted))
            isr.settle(rig.time_ms)
            isr.publish(proposal.members)
            rig.change_isr(proposal.members)
            return
        error = random.choice((*NOT_APPLIED, *MAYBE_APPLIED, *NOT_DECIDED))
        if error in NOT_APPLIED:
            isr.proposal = None
        proposal.waits_for_image = error in MAYBE_APPLIED
        rig.answer(sent, _answer(alter_partition_response.PartitionData(error_code=error)))

    def _compare(self) -> None:
        """Compare the open request and the high watermark with the model."""
        isr, rig = self._isr, self._rig
        check("one request is under way at most", len(rig.proposals) <= 1)
        sent = rig.proposals[0] if rig.proposals else None
        if sent is not None and sent is not self._seen:
            self._seen, self._is_open = sent, True
            self._judge(sent.message)
        if sent is None and isr.proposal is not None and not isr.proposal.waits_for_image:
            rig.pass_time(RETRY_MS + 1)
            if rig.time_ms >= self._next_check_ms:
                self._next_check_ms = rig.time_ms + LAG_MS // 2
                isr.settle(rig.time_ms)
            check("a proposal is sent again after a short time", rig.proposals)
            self._seen, self._is_open = rig.proposals[0], True
            self._judge(rig.proposals[0].message)
        what = f"the high watermark with ISR {isr.committed} and end {isr.end}"
        same(what, rig.high_watermark, isr.high_watermark)

    def _judge(self, message: Message) -> None:
        isr = self._isr
        check("the request proposes an ISR", isinstance(message, _Request))
        assert isinstance(message, _Request), "checked"
        part = message.topics[0].partitions[0]
        found = part.new_isr or tuple(each.broker_id for each in part.new_isr_with_epochs)
        check(f"ISR {found} of {isr.committed} is no wish of the leader", isr.proposal)
        assert isr.proposal is not None, "checked"
        same("the proposed ISR", sorted(found), sorted(isr.proposal.members))
        epochs = (part.leader_epoch, part.partition_epoch)
        same("the epochs of a proposal", epochs, (isr.epoch, isr.partition_epoch))


_Request = alter_partition_request.AlterPartitionRequest


def _answer(part: alter_partition_response.PartitionData) -> Message:
    topic = alter_partition_response.TopicData(topic_id=TOPIC, partitions=(part,))
    return alter_partition_response.AlterPartitionResponse(topics=(topic,))
