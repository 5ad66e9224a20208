"""The times in the header of a produced batch are those of its records on every replica."""

from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records.raw_batch import parse_batch
from tests.support.node.data_clients import START_MS
from tests.support.node.data_world import DataWorld

APPEND_TIME = 0x08
TEN_YEARS_MS = 315_360_000_000


def test_a_producer_cannot_keep_its_records_by_a_wrong_header():
    """The records would never be too old for retention.ms, and no look-up would find them."""
    world = DataWorld()
    world.run(100)
    far_ms = START_MS + TEN_YEARS_MS
    stamped = world.produce(1, 2, attributes=APPEND_TIME, max_timestamp_ms=far_ms)
    token = world.produce(1, 2, max_timestamp_ms=far_ms)
    world.run(200)
    assert world.produced(1, stamped).error_code == ErrorCode.INVALID_TIMESTAMP
    assert world.produced(1, token).error_code == 0
    logs = world.logs()
    assert logs[1] == logs[2] == logs[3]
    (batch,) = map(parse_batch, logs[1])
    assert (batch.max_timestamp_ms, batch.is_log_append_time) == (START_MS + 100, False)
    (span,) = world.brokers[1].replica.index.spans()
    assert span.newest_ms == START_MS + 100
