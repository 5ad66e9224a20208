"""Topics of many partitions: found by broker, in order, and gone with few changes."""

from kraftproof.node.core.metadata.apply import apply, apply_all
from kraftproof.node.core.metadata.changes import rebuild
from kraftproof.node.core.metadata.digest import recompute_digest
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, PARTITIONS_A_MARK, MetadataImage
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid

COUNT = 2 * PARTITIONS_A_MARK + 3


def uuid(number: int) -> Uuid:
    return Uuid(number.to_bytes(16, "big"))


def topic(number: int, partitions: int) -> tuple[object, ...]:
    return (
        records.TopicRecord(name=f"t{number}", topic_id=uuid(number)),
        *(
            records.PartitionRecord(
                partition_id=index,
                topic_id=uuid(number),
                replicas=(1, 2),
                isr=(1, 2) if index % 2 else (2,),
                leader=2,
                leader_epoch=0,
                partition_epoch=0,
            )
            for index in range(partitions)
        ),
    )


def image_of_two() -> MetadataImage:
    return apply_all(EMPTY_IMAGE, (*topic(9, 3), *topic(4, COUNT)))


def test_partitions_of_a_broker_are_found_by_topic_and_index() -> None:
    image = image_of_two()
    odd = [(uuid(4), index) for index in range(1, COUNT, 2)]
    assert [partition.key for partition in image.in_isr(1)] == [*odd, (uuid(9), 1)]
    assert len(image.in_isr(2)) == COUNT + 3
    assert image.leads_any(2)
    assert not image.leads_any(1)


def test_a_large_topic_has_few_entries_and_leaves_none() -> None:
    image = image_of_two()
    assert len(image.by_broker.replicas[1]) == 1 + 3
    left = apply(image, records.RemoveTopicRecord(topic_id=uuid(4)))
    assert left == apply_all(EMPTY_IMAGE, topic(9, 3)) == rebuild(left)
    assert recompute_digest(left) == left.digest
    gone = apply(left, records.RemoveTopicRecord(topic_id=uuid(9)))
    assert gone == EMPTY_IMAGE
