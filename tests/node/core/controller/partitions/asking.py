"""Requests about the partitions of one topic. No tests here."""

from kraftproof.node.core.metadata.image import Partition
from kraftproof.node.wire.messages import alter_partition_request, alter_partition_response
from tests.node.core.controller.desk import Desk, creation, heartbeat

Member = alter_partition_request.BrokerState
Proposal = alter_partition_request.PartitionData


def cluster(*replicas: tuple[int, ...], brokers: int = 5) -> Desk:
    """A desk with unfenced brokers, and topic t with the given replicas of its partitions."""
    desk = Desk.active(brokers=brokers)
    desk.ask(creation("t", replicas=replicas))
    return desk


def partition(desk: Desk, index: int = 0) -> Partition:
    return desk.image.partitions_of(desk.image.topic_ids["t"])[index]


def fence(desk: Desk, broker_id: int) -> None:
    desk.ask(heartbeat(broker_id, desk.image.brokers[broker_id].epoch, want_fence=True))


def unfence(desk: Desk, broker_id: int) -> None:
    desk.ask(heartbeat(broker_id, desk.image.brokers[broker_id].epoch))


def leave(desk: Desk, broker_id: int) -> None:
    """Begin a controlled shutdown."""
    desk.ask(heartbeat(broker_id, desk.image.brokers[broker_id].epoch, want_shut_down=True))


def proposal(desk: Desk, *isr: int | Member, index: int = 0, **changes: int) -> Proposal:
    """The proposal of an up-to-date leader, but for the changes."""
    now = partition(desk, index)
    fields = {
        "leader_epoch": now.leader_epoch,
        "partition_epoch": now.partition_epoch,
        "leader_recovery_state": now.recovery_state,
        **changes,
    }
    members = tuple(
        member if isinstance(member, Member) else Member(broker_id=member) for member in isr
    )
    return Proposal(partition_index=index, new_isr_with_epochs=members, **fields)


def alteration(
    desk: Desk, *proposals: Proposal, caller: int = 1, topic_id: bytes | None = None
) -> alter_partition_request.AlterPartitionRequest:
    return alter_partition_request.AlterPartitionRequest(
        broker_id=caller,
        broker_epoch=desk.image.brokers[caller].epoch,
        topics=(
            alter_partition_request.TopicData(
                topic_id=desk.image.topic_ids["t"] if topic_id is None else topic_id,
                partitions=proposals,
            ),
        ),
    )


def alter(
    desk: Desk, *isr: int | Member, caller: int = 1, **changes: int
) -> alter_partition_response.PartitionData:
    """Let the caller propose an ISR; the result of the partition."""
    answer = desk.ask(alteration(desk, proposal(desk, *isr, **changes), caller=caller))
    (topic,) = answer.topics
    (result,) = topic.partitions
    return result
