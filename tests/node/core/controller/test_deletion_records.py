"""DeleteTopics: the records of a deletion."""

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
