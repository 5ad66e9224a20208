"""Messages and records of the data world. No tests here."""

from msgspec.structs import replace

from kraftproof.node.core.events import BatchesRead
from kraftproof.node.wire.messages import produce_request
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.metadata import BrokerEndpoint
from kraftproof.node.wire.types import Uuid

TOPIC = Uuid(b"t" * 16)


def registration(node_id, epoch, *, incarnation=0):
    """An unfenced registration."""
    return records.RegisterBrokerRecord(
        broker_id=node_id,
        incarnation_id=Uuid(bytes([incarnation]) * 16),
        broker_epoch=epoch,
        end_points=(
            BrokerEndpoint(name="PLAINTEXT", host=f"b{node_id}", port=9092, security_protocol=0),
        ),
        fenced=False,
    )


def produce_message(data, acks=-1, timeout_ms=1000, *, partition=0, topic="t"):
    part = produce_request.PartitionProduceData(index=partition, records=data)
    named = produce_request.TopicProduceData(name=topic, partition_data=(part,))
    return produce_request.ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=(named,))


def with_batches(disk, effect):
    """The answer with the batches that the shell would read."""
    topics = [list(topic.partitions) for topic in effect.message.responses]
    for read in effect.reads:
        data = b""
        for batch in disk[read.log]:
            if batch.next_offset <= read.offset or batch.next_offset > read.end_offset:
                continue
            if len(data) + batch.size > read.max_bytes and (data or not read.may_exceed):
                break
            data += batch.data
        part = topics[read.topic_index][read.partition_index]
        topics[read.topic_index][read.partition_index] = replace(part, records=data)
    responses = tuple(
        replace(topic, partitions=tuple(partitions))
        for topic, partitions in zip(effect.message.responses, topics, strict=True)
    )
    return replace(effect.message, responses=responses)


def answer_with_batches(broker, effect, now):
    """Answer a Fetch, and report the bytes above the counted ones, as the shell does."""
    answer = with_batches(broker.disk, effect)
    broker.answers[effect.request] = answer
    sizes = (len(part.records or b"") for topic in answer.responses for part in topic.partitions)
    excess = sum(sizes) - effect.counted_bytes
    if effect.counted_for is not None and excess > 0:
        event = BatchesRead(received=effect.counted_for, excess_bytes=excess)
        broker.data.batches_read(event, now)


def change(**fields):
    """A change of the first partition."""
    return records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC, **fields)
