"""Each mistake of a quorum request gets its error, and a consumer gets committed records."""

from random import Random

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.background import mistaken_requests
from kraftproof.cluster.simulated.background.mistaken_fetches import (
    MISTAKEN_FETCHES,
    consumer_fetch,
)
from kraftproof.cluster.simulated.background.mistaken_requests import consumer_fault
from kraftproof.cluster.simulated.background.mistakes import MISTAKES, Mistake, Receiver
from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.simulated_cluster import InvariantViolatedError, SimulatedCluster
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.raft.snapshots.serving import SnapshotServer
from kraftproof.node.wire.codec import decode_request, encode_request
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_response
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch

pytestmark = pytest.mark.simulation

SECOND_NS = 1_000_000_000
NODES = nodes_of(controller=3, broker=1)


def receiver(*, is_leader: bool) -> Receiver:
    return Receiver(
        node_id=1,
        incarnation=1,
        epoch=5,
        leader=1 if is_leader else 2,
        is_leader=is_leader,
        voters=(1, 2, 3),
        cluster_id="AAAAAAAAAAAAAAAAAAAAAA",
        snapshot=SnapshotId(10, 4),
        log_start=10,
    )


def consumes(to: Receiver, random: Random) -> Mistake:
    return consumer_fetch(to, random, 40)


@pytest.mark.parametrize("is_leader", [True, False])
@pytest.mark.parametrize(
    "draw", [*MISTAKES, *MISTAKEN_FETCHES, consumes], ids=lambda draw: draw.__name__
)
def test_each_request_can_be_written_in_its_version(draw, is_leader) -> None:
    drawn = [draw(receiver(is_leader=is_leader), Random(seed)) for seed in range(60)]
    asked = [one for one in drawn if one is not None]
    bodies = [encode_request(one.message, one.version) for one in asked]
    read = [
        decode_request(one.message.API_KEY, one.version, body)
        for one, body in zip(asked, bodies, strict=True)
    ]
    assert read == [one.message for one in asked]


@pytest.fixture
def cluster(tmp_path):
    return SimulatedCluster(ClusterOptions(nodes=NODES, seed=3, directory=tmp_path))


def ask_for(cluster: SimulatedCluster, seconds: int) -> set[int]:
    """Send mistaken requests, and return the errors that the controllers answered."""
    errors: set[int] = set()

    async def main() -> None:
        await cluster.start()
        load = mistaken_requests.send_mistaken_requests(
            cluster.scope, cluster.world, Random(1), (1, 2, 3)
        )
        task = cluster.scope.spawn(load)
        await cluster.scope.sleep(seconds * SECOND_NS)
        task.cancel()

    def on_replying(_process, _event, message) -> None:
        errors.add(mistaken_requests.error_of(message))

    cluster.world.monitor.on_replying.append(on_replying)
    cluster.run(main())
    return errors


def test_every_mistake_is_named_and_changes_nothing(cluster) -> None:
    errors = ask_for(cluster, 300)
    assert not cluster.violations
    assert errors >= {
        ErrorCode.INVALID_VOTER_KEY,
        ErrorCode.INCONSISTENT_VOTER_SET,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.SNAPSHOT_NOT_FOUND,
        ErrorCode.OFFSET_OUT_OF_RANGE,
    }


def test_a_mistake_that_is_taken_is_found(cluster, monkeypatch) -> None:
    monkeypatch.setattr(SnapshotServer, "_fencing", lambda *_: ErrorCode.FENCED_LEADER_EPOCH)
    with pytest.raises(InvariantViolatedError):
        ask_for(cluster, 300)
    [violation] = cluster.violations
    assert violation.invariant == "MistakesAreNamed"
    assert "FetchSnapshotRequest" in violation.detail


def batch(base_offset: int, count: int = 1) -> Batch:
    record = records.NoOpRecord()
    return Batch(base_offset=base_offset, epoch=1, timestamp_ms=0, records=(record,) * count)


def answer(*batches: Batch, error: int = 0) -> fetch_response.FetchResponse:
    partition = fetch_response.PartitionData(error_code=error, records=batches)
    topic = fetch_response.FetchableTopicResponse(partitions=(partition,))
    return fetch_response.FetchResponse(responses=(topic,))


@pytest.mark.parametrize(
    ("given", "offset", "end", "fault"),
    [
        (answer(batch(0, 2), batch(2)), 1, 3, None),
        (answer(error=6), 0, 3, None),
        (answer(batch(2)), 0, 3, "the first batch"),
        (answer(batch(0, 2), batch(3)), 0, 3, "offset 3 follows offset 1"),
        (answer(batch(0, 2), batch(2), batch(3)), 0, 3, "offset 3 is not committed"),
        (answer(batch(0)), 0, 3, "another batch"),
        (answer(), 1, 3, "no record"),
        (answer(), 1, 0, None),
    ],
)
def test_a_consumer_gets_committed_records_in_order(given, offset, end, fault) -> None:
    committed = CommittedLog()
    for one in (batch(0, 2), batch(2)):
        committed.commit(one, 1, 0)
    found = consumer_fault(given, offset, committed, end)
    assert (found is None) if fault is None else (found is not None and fault in found)
