"""DeleteTopics: the records of a deletion, and the id of a later topic of the same name."""

import pytest

from kraftproof.node.wire.records.metadata import NoOpRecord, RemoveTopicRecord
from tests.node.core.controller.desk import Desk, creation, deletion


@pytest.mark.requirement("631-67")
def test_a_deletion_is_one_record() -> None:
    desk = Desk.active(brokers=3)
    [made] = desk.ask(creation("t", partitions=4, factor=3)).topics
    before = desk.raft.log.end_offset
    desk.ask(deletion("t"))
    written = [
        record
        for batch in desk.raft.log.read(before, 1 << 40)
        for record in batch.records
        if not isinstance(record, NoOpRecord)
    ]
    assert written == [RemoveTopicRecord(topic_id=made.topic_id)]


@pytest.mark.requirement("631-67")
def test_a_topic_that_is_created_again_has_another_id() -> None:
    desk = Desk.active(brokers=1)
    ids = []
    for _ in range(5):
        [made] = desk.ask(creation("t")).topics
        ids.append(made.topic_id)
        desk.ask(deletion("t"))
    assert len(set(ids)) == 5
