"""Records of a metadata transaction take effect at its end, all or none."""

from random import Random

import pytest

from kraftproof.checkers.kraft.acknowledged import fold
from kraftproof.checkers.kraft.entities import Entities
from kraftproof.node.core.metadata.apply import apply
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.metadata.snapshot import records_of
from kraftproof.node.wire.records import metadata as records
from tests.checkers.kraft.test_node_logs import TOPIC, records_table
from tests.checkers.kraft.test_snapshots import as_json, folded
from tests.node.core.metadata.test_apply import _random_record
from tests.node.core.metadata.test_images import EVERYTHING, uuid
from tests.support.long_cases import long

BEGAN, ENDED, ABORTED = ((f"{name}_TRANSACTION_RECORD", {}) for name in ("BEGIN", "END", "ABORT"))
MADE = ("TOPIC_RECORD", {"name": "t", "topicId": TOPIC})
GONE = ("REMOVE_TOPIC_RECORD", {"topicId": TOPIC})


def effect(*kinds):
    rows = [(1, offset, 1, offset, kind, fields) for offset, (kind, fields) in enumerate(kinds)]
    return fold(records_table(rows))


def test_a_creation_counts_once_its_transaction_has_ended():
    assert effect(BEGAN, MADE, ENDED).topics == {TOPIC: "t"}
    assert effect(MADE, BEGAN, GONE, ENDED).removed == [(TOPIC, 2)]
    assert effect(BEGAN, ENDED, MADE).topics == {TOPIC: "t"}


def test_nothing_counts_of_a_transaction_that_is_aborted_or_open():
    for last in ((ABORTED,), ()):
        assert effect(BEGAN, MADE, *last).topics == {}
        assert effect(MADE, BEGAN, GONE, *last).removed == []


BEGIN, END, ABORT = (
    records.BeginTransactionRecord(name="t"),
    records.EndTransactionRecord(),
    records.AbortTransactionRecord(reason="Controller failover"),
)


@pytest.mark.parametrize("seed", [*range(4), *map(long, range(4, 10))])
def test_transactions_leave_the_same_as_the_nodes_image_shows(seed):
    """The two tellings agree after each record: before, in and after a transaction (KIP-868)."""
    random, image, log = Random(seed), EMPTY_IMAGE, []
    is_open = False
    for number in range(150):
        record = EVERYTHING[number] if number < len(EVERYTHING) else _random_record(random, image)
        if random.random() < 0.2:
            record = random.choice((END, ABORT)) if is_open else BEGIN
            is_open = not is_open
        try:
            image = apply(image, record)
        except ApplyError:
            continue
        log.append(record)
        assert folded(log) == folded(records_of(image.shown))


def test_nothing_of_an_aborted_transaction_is_left():
    made = records.TopicRecord(name="t", topic_id=uuid(1))
    before = [records.ConfigRecord(resource_type=4, resource_name="", name="k", value="1")]
    changed = records.ConfigRecord(resource_type=4, resource_name="", name="k", value="2")
    assert folded([*before, BEGIN, made, changed]) == folded(before)
    assert folded([*before, BEGIN, made, changed, ABORT]) == folded(before)
    assert folded([*before, BEGIN, made, changed, END]) == folded([made, changed])
    entities = Entities()
    for kind, fields in as_json([BEGIN, made]):
        entities.apply(kind, fields)
    assert entities.owners("topic") == {}


def test_cleared_eligible_leaders_are_gone_of_one_topic_or_of_all():
    def partition(topic_id):
        return records.PartitionRecord(
            topic_id=topic_id, replicas=(1, 2), isr=(1,), leader=1, eligible_leader_replicas=(2,)
        )

    topics = [records.TopicRecord(name=name, topic_id=uuid(n)) for n, name in ((1, "a"), (2, "b"))]
    partitions = [partition(uuid(1)), partition(uuid(2))]
    for name in ("a", "", "unknown"):
        log = [*topics, *partitions, records.ClearElrRecord(topic_name=name)]
        image = EMPTY_IMAGE
        for record in log:
            image = apply(image, record)
        assert folded(log) == folded(records_of(image))
