"""Invariants of a follower's Fetches and truncations, and of Fetches of an earlier process."""

import pytest

from kraftproof.cluster.simulated.invariants.partitions.followers import (
    FollowersCutOnlyDivergence,
    FollowersTellTheirLogs,
    StaleFollowersAreRefused,
)
from kraftproof.node.core.events import Answered
from kraftproof.node.wire.messages import fetch_response
from kraftproof.node.wire.records import metadata as records
from tests.cluster.simulated.invariants.invariant_harness import broker
from tests.cluster.simulated.invariants.partition_case import NAME, PartitionCase
from tests.cluster.simulated.invariants.partitions.requests import fetch, fetched
from tests.support.node.raw_batches import raw

EPOCH_OF_2 = 10


def lagging(*, is_flushed=True):
    case = PartitionCase(FollowersTellTheirLogs())
    case.append(1, raw(0, epoch=0), raw(1, epoch=0))
    case.append(2, raw(0, epoch=0), is_flushed=is_flushed)
    return case


def test_a_fetch_from_the_end_of_a_flushed_log_is_right():
    case = lagging()
    case.send(2, fetch(1, last_epoch=0))
    assert case.reported == []


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"offset": 2}, "the log ends at 1"),
        ({"offset": 0}, "the log ends at 1"),
        ({"offset": 1, "start": 1}, "names the start 1, the log starts at 0"),
        ({"offset": 1, "epoch": 1}, "in epoch 1, the epoch is 0"),
        ({"offset": 1, "last_epoch": 1}, "names the last epoch 1, the last batch has epoch 0"),
    ],
)
def test_a_fetch_that_does_not_fit_the_log_is_reported(fields, wrong):
    case = lagging()
    case.send(2, fetch(**({"last_epoch": 0} | fields)))
    assert case.reported == [f"{NAME}: fetches from offset {fields['offset']}, {wrong}"]


def test_a_fetch_ahead_of_the_disk_is_reported_if_the_topic_flushes():
    case = lagging(is_flushed=False)
    case.send(2, fetch(1, last_epoch=0))
    assert case.reported == [f"{NAME}: fetches from offset 1, the disk has offset 0"]


def test_a_fetch_without_a_replica_is_reported():
    case = lagging()
    del case.nodes[2].partitions._mirrors[next(iter(case.nodes[2].partitions))]
    case.send(2, fetch(1))
    assert case.reported == [f"{NAME}: fetches from offset 1, it has no replica"]


@pytest.mark.parametrize(("kept", "is_needless"), [(0, True), (1, False)])
def test_a_truncation_of_a_batch_that_the_leader_has_is_reported(kept, is_needless):
    case = PartitionCase(FollowersCutOnlyDivergence())
    case.append(1, raw(0, b"same", epoch=0), raw(1, b"new", epoch=0))
    case.append(2, raw(0, b"same", epoch=0), raw(1, b"old", epoch=0))
    case.nodes[2].event = Answered(correlation=1, message=fetch_response.FetchResponse())
    case.truncate(2, kept)
    expected = f"{NAME}: offset 0 is removed, leader 1 has the same batch"
    assert case.reported == [expected] * is_needless


@pytest.mark.parametrize(("epoch", "is_stale"), [(EPOCH_OF_2 - 1, True), (EPOCH_OF_2, False)])
def test_an_answer_to_an_earlier_process_is_reported(epoch, is_stale):
    case = PartitionCase(StaleFollowersAreRefused())
    case.publish(broker(2, EPOCH_OF_2))
    case.receive(1, fetch(replica=2, broker_epoch=epoch), version=15)
    case.answer(1, fetch(replica=2, broker_epoch=epoch), fetched(0), version=15)
    detail = "partition 0 is served to an earlier process of a broker whose epoch is 10"
    assert case.reported == [detail] * is_stale


def test_a_refused_fetch_and_a_later_registration_are_no_violation():
    case = PartitionCase(StaleFollowersAreRefused())
    case.publish(broker(2, EPOCH_OF_2))
    stale = fetch(replica=2, broker_epoch=1)
    case.receive(1, stale, version=15)
    case.answer(1, stale, fetched(0, error=6), version=15)
    current = fetch(replica=2, broker_epoch=EPOCH_OF_2)
    case.receive(1, current, version=15)
    case.publish(records.UnregisterBrokerRecord(broker_id=2, broker_epoch=EPOCH_OF_2))
    case.answer(1, current, fetched(0), version=15)
    assert case.reported == []
