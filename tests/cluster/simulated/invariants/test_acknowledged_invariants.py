"""Invariants of acknowledged and visible records, and the texts of their violations."""

from kraftproof.cluster.simulated.invariants.partitions.acknowledged import (
    AcknowledgedIsOnTheIsr,
    CommittedBatchesAgree,
    IdempotentOnce,
    PartitionLogsMatch,
)
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Append, Truncate
from kraftproof.node.core.events import Received
from kraftproof.node.core.log_effects import CreateLog, RaiseLogStart
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.messages import fetch_request, fetch_response, produce_response
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid, format_uuid
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness
from tests.support.node.client_batches import batch_bytes, raw_batch
from tests.support.node.data_messages import produce_message

TOPIC = Uuid(b"topic of the log")
LOG = LogId(TOPIC, 0)
NAME = f"log {format_uuid(TOPIC)}-0"


class Case:
    """Two nodes with a log of one topic, and one invariant."""

    def __init__(self, invariant, *, isr=(1, 2), is_durable=True):
        self.harness = MonitorHarness(invariant)
        self.nodes = {node_id: self.harness.process(node_id) for node_id in (1, 2)}
        for node in self.nodes.values():
            node.partitions.create(LOG, "t")
        self.image = apply_all(
            EMPTY_IMAGE,
            (
                records.TopicRecord(name="t", topic_id=TOPIC),
                *(
                    [
                        records.ConfigRecord(
                            resource_type=2, resource_name="t", name="flush.messages", value="1"
                        )
                    ]
                    if is_durable
                    else []
                ),
                records.PartitionRecord(
                    partition_id=0,
                    topic_id=TOPIC,
                    replicas=(1, 2),
                    isr=isr,
                    leader=1,
                    leader_epoch=0,
                    partition_epoch=0,
                ),
            ),
        )
        self.offset = 0
        self.publish()

    def create_again(self, node_id):
        """The replica is moved away and back."""
        process = self.nodes[node_id]
        process.partitions.delete(LOG)
        process.partitions.create(LOG, "t")
        for changed in self.harness.monitor.on_partition_changed:
            changed(process, LOG, CreateLog(log=LOG, topic="t"))

    def publish(self, *written):
        self.image = apply_all(self.image, written)
        self.offset += 1
        for published in self.harness.monitor.on_published:
            published(self.nodes[1], self.offset, self.image)

    def append(self, node_id, batch):
        node = self.nodes[node_id]
        node.partitions.of(LOG).append(batch)
        for changed in self.harness.monitor.on_partition_changed:
            changed(node, LOG, Append(LOG, batch))

    def truncate(self, node_id, end):
        node = self.nodes[node_id]
        node.partitions.of(LOG).truncate(end)
        for changed in self.harness.monitor.on_partition_changed:
            changed(node, LOG, Truncate(LOG, end))

    def raise_start(self, node_id, start_offset):
        node = self.nodes[node_id]
        for changed in self.harness.monitor.on_partition_changed:
            changed(node, LOG, RaiseLogStart(log=LOG, start_offset=start_offset))

    def answer(self, node_id, request, message):
        event = Received(
            request=1,
            message=request,
            version=12,
            on_controller_listener=False,
            principal=ANONYMOUS,
            client_host="h",
        )
        for answered in self.harness.monitor.on_data_answered[type(request)]:
            answered(self.nodes[node_id], event, message)

    def acknowledge(self, data, offset, *, acks=-1, error=0):
        part = produce_response.PartitionProduceResponse(
            index=0, base_offset=offset, error_code=error
        )
        topic = produce_response.TopicProduceResponse(name="t", partition_responses=(part,))
        response = produce_response.ProduceResponse(responses=(topic,))
        self.answer(1, produce_message(data, acks), response)

    def tell(self, node_id, high_watermark, error=0):
        part = fetch_response.PartitionData(error_code=error, high_watermark=high_watermark)
        topic = fetch_response.FetchableTopicResponse(topic="t", partitions=(part,))
        self.answer(
            node_id, fetch_request.FetchRequest(), fetch_response.FetchResponse(responses=(topic,))
        )

    @property
    def reported(self):
        return self.harness.reported


def test_an_acknowledged_batch_must_be_on_each_member_at_the_answer():
    case = Case(AcknowledgedIsOnTheIsr())
    batch = raw_batch(2, base_offset=0, epoch=3)
    case.append(1, batch)
    case.acknowledge(batch_bytes(2), 0)
    assert case.reported == [f"{NAME}: member 2 of the ISR lacks offset 0"]


def test_an_acknowledged_batch_must_be_the_one_that_was_sent():
    case = Case(AcknowledgedIsOnTheIsr())
    for node_id, value in ((1, b"sent"), (2, b"another")):
        case.append(node_id, raw_batch(1, base_offset=0, epoch=3, value=value))
    case.acknowledge(batch_bytes(1, value=b"sent"), 0)
    assert case.reported == [f"{NAME}: member 2 of the ISR lacks offset 0"]


def test_a_sound_answer_and_those_that_promise_nothing_are_accepted():
    case = Case(AcknowledgedIsOnTheIsr())
    for node_id in (1, 2):
        case.append(node_id, raw_batch(2, base_offset=0, epoch=3))
    case.acknowledge(batch_bytes(2), 0)
    case.acknowledge(batch_bytes(1), 7, acks=1)
    case.acknowledge(batch_bytes(1), 7, error=7)
    volatile = Case(AcknowledgedIsOnTheIsr(), is_durable=False)
    volatile.acknowledge(batch_bytes(1), 7)
    assert case.reported == volatile.reported == []


def test_a_member_must_keep_an_acknowledged_batch_and_a_joiner_must_have_it():
    case = Case(AcknowledgedIsOnTheIsr(), isr=(1,))
    case.append(1, raw_batch(2, base_offset=0, epoch=3))
    case.acknowledge(batch_bytes(2), 0)
    assert case.reported == []
    case.publish(records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC, isr=(1, 2)))
    assert case.reported == [f"{NAME}: member 2 of the ISR lacks offset 0"]
    case.truncate(1, 0)
    assert f"{NAME}: member 1 of the ISR lacks offset 0" in case.reported[1:]


def test_records_that_were_deleted_at_the_start_of_a_log_are_not_missed():
    case = Case(AcknowledgedIsOnTheIsr())
    for node_id in (1, 2):
        case.append(node_id, raw_batch(2, base_offset=0, epoch=3))
        case.nodes[node_id].partitions.of(LOG).raise_start(2)
    case.acknowledge(batch_bytes(2), 0)
    assert case.reported == []


def test_a_falling_high_watermark_and_a_changed_batch_are_reported():
    case = Case(CommittedBatchesAgree())
    case.append(1, raw_batch(2, base_offset=0, epoch=3))
    case.append(2, raw_batch(2, base_offset=0, epoch=4))
    case.tell(1, 2)
    case.tell(2, 1)
    assert case.reported == []
    case.tell(2, 2)
    assert case.reported == [f"{NAME}: another batch at offset 0"]
    case.tell(1, 1, error=6)
    case.tell(1, 1)
    assert case.reported[1:] == [f"the high watermark falls, {NAME}: 1 after 2"]


def test_a_sequence_number_that_is_twice_in_a_log_is_reported():
    case = Case(IdempotentOnce())
    case.append(1, raw_batch(1, base_offset=0, producer=(7, 0, 0)))
    case.create_again(1)
    case.append(1, raw_batch(1, base_offset=0, producer=(7, 0, 0)))
    case.append(1, raw_batch(1, base_offset=1, producer=(7, 0, 1)))
    case.append(2, raw_batch(1, base_offset=0, producer=(7, 0, 0)))
    case.append(1, raw_batch(1, base_offset=2))
    case.append(1, raw_batch(1, base_offset=3))
    case.truncate(1, 1)
    case.append(1, raw_batch(1, base_offset=1, producer=(7, 0, 1)))
    assert case.reported == []
    case.append(1, raw_batch(1, base_offset=2, producer=(7, 0, 0)))
    assert case.reported == [f"{NAME}: sequence (7, 0, 0) again at offset 2"]


def test_a_batch_below_the_leaders_start_does_not_count_as_the_same_sequence():
    """Log seed 1710059: a follower keeps other batches below the start that it learns of last."""
    case = Case(IdempotentOnce())
    case.append(1, raw_batch(2, base_offset=0))
    case.append(2, raw_batch(1, base_offset=0, producer=(7, 0, 0)))
    case.append(2, raw_batch(1, base_offset=1, producer=(7, 0, 1)))
    case.raise_start(1, 1)
    case.append(2, raw_batch(1, base_offset=2, epoch=1, producer=(7, 0, 0)))
    assert case.reported == []
    case.append(2, raw_batch(1, base_offset=3, epoch=1, producer=(7, 0, 1)))
    assert case.reported == [f"{NAME}: sequence (7, 0, 1) again at offset 3"]


def test_two_batches_of_an_offset_and_epoch_are_reported():
    case = Case(PartitionLogsMatch())
    case.append(1, raw_batch(1, base_offset=0, epoch=3))
    case.append(2, raw_batch(1, base_offset=0, epoch=3))
    case.append(1, raw_batch(1, base_offset=1, epoch=3))
    case.append(2, raw_batch(1, base_offset=1, epoch=4, value=b"another"))
    assert case.reported == []
    case.truncate(2, 1)
    case.append(2, raw_batch(1, base_offset=1, epoch=3, value=b"another"))
    assert case.reported == [f"{NAME}: another batch at offset 1, epoch 3"]
