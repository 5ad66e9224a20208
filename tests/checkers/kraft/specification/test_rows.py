"""Messages and rows of collected logs become the same rows, and fold to the same image."""

import pytest

from kraftproof.checkers.kraft.specification import rows
from kraftproof.checkers.kraft.specification.conversion import row_of, row_of_fields
from kraftproof.checkers.kraft.specification.fold import fold
from kraftproof.checkers.kraft.specification.image import ContradictionError
from kraftproof.checkers.kraft.specification.settings import Legality, legality, legality_of_all
from kraftproof.node.wire.messages import create_topics_request
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid
from tests.checkers.kraft.specification.cluster import IMAGE, OLD, changed, moved

TOPIC_ID = Uuid(b"t" * 16)


def test_a_record_of_a_node_and_of_a_log():
    found = row_of(records.TopicRecord(name="t", topic_id=TOPIC_ID))
    assert found == rows.TopicRecord(name="t", topic_id=TOPIC_ID)
    of_log = row_of_fields("TOPIC_RECORD", {"name": "t", "topicId": "id"})
    assert of_log == rows.TopicRecord(name="t", topic_id="id")
    assert row_of_fields("NO_OP_RECORD", {}) == row_of(records.NoOpRecord())


def test_a_request_with_its_parts():
    topic = create_topics_request.CreatableTopic(
        name="t",
        num_partitions=2,
        configs=(create_topics_request.CreatableTopicConfig(name="a", value=None),),
    )
    found = row_of(create_topics_request.CreateTopicsRequest(topics=(topic,)))
    assert isinstance(found, rows.CreateTopicsRequest)
    assert found.topics[0].configs == (rows.Setting(name="a", value=None),)


def test_each_change_of_a_partition_raises_an_epoch():
    after = fold(IMAGE, (moved(0, isr=(1,)), moved(0, leader=2), moved(1, isr=(3,), leader=3)))
    found = {
        index: (one.partition_epoch, one.leader_epoch)
        for index, one in after.topics[OLD].partitions.items()
    }
    assert found == {0: (2, 1), 1: (1, 1), 2: (0, 0)}
    assert IMAGE.topics[OLD].partitions[0].partition_epoch == 0


def test_a_topic_is_removed_with_its_configurations():
    config = rows.ConfigRecord(resource_type=2, resource_name="old.topic", name="a", value="b")
    configured = fold(IMAGE, (config,))
    assert configured.configs == {"old.topic": {"a": "b"}}
    removed = fold(configured, (rows.RemoveTopicRecord(topic_id=OLD),))
    assert (removed.topics, removed.names, removed.configs) == ({}, {}, {})


def test_an_aborted_metadata_transaction_leaves_no_trace():
    begun = fold(IMAGE, (rows.BeginTransactionRecord(), changed(1, fenced=1)))
    assert begun.brokers[1].fenced
    assert fold(begun, (rows.AbortTransactionRecord(),)) == IMAGE
    assert fold(begun, (rows.EndTransactionRecord(),)).brokers[1].fenced


@pytest.mark.parametrize(
    "record",
    [
        changed(1, fenced=1, epoch=9),
        changed(9, fenced=1),
        rows.TopicRecord(name="old.topic", topic_id=b"n" * 16),
        rows.TopicRecord(name="new", topic_id=OLD),
        rows.RemoveTopicRecord(topic_id=b"n" * 16),
        moved(7, leader=1),
        rows.AbortTransactionRecord(),
    ],
)
def test_a_record_that_contradicts_the_image(record):
    with pytest.raises(ContradictionError):
        fold(IMAGE, (record,))


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("retention.ms", "-1", Legality.LEGAL),
        ("retention.ms", "-2", Legality.ILLEGAL),
        ("retention.ms", "1e3", Legality.ILLEGAL),
        ("retention.ms", " 5 ", Legality.OPEN),
        ("retention.ms", None, Legality.ILLEGAL),
        ("segment.bytes", "1048576", Legality.LEGAL),
        ("segment.bytes", "1048575", Legality.ILLEGAL),
        ("cleanup.policy", "compact,delete", Legality.LEGAL),
        ("cleanup.policy", "delete, compact", Legality.OPEN),
        ("cleanup.policy", "keep", Legality.ILLEGAL),
        ("preallocate", "yes", Legality.ILLEGAL),
        ("min.cleanable.dirty.ratio", "x", Legality.OPEN),
        ("no.such.thing", "1", Legality.ILLEGAL),
    ],
)
def test_a_configuration_by_itself(name, value, expected):
    assert legality(name, value) is expected


def test_compaction_lags_together():
    lags = {"min.compaction.lag.ms": "5", "max.compaction.lag.ms": "4"}
    assert legality_of_all(lags) is Legality.ILLEGAL
    assert legality_of_all({**lags, "max.compaction.lag.ms": "5"}) is Legality.LEGAL
    assert legality_of_all({**lags, "local.retention.ms": "x"}) is Legality.OPEN
