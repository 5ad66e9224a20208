"""A newer node's record is stored and replicated as it came; a node that must apply it ends."""

import json

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.simulated_cluster import InvariantViolatedError, SimulatedCluster
from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.effects import Append, CheckSnapshot, Exit, StoreSlice
from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.metadata.snapshot import batches_of
from kraftproof.node.server.workers import run_through
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.snapshots import snapshot_name
from kraftproof.node.tools import dump_log
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import decode_batches, encode_batch, encode_batches
from kraftproof.node.wire.records.metadata import NoOpRecord
from kraftproof.node.wire.records.metadata_records import encode_record
from kraftproof.node.wire.records.unknown_record import UnknownRecord
from tests.cluster.simulated.test_conditions import SECOND_NS, led_by
from tests.support.node.snapshot_disk import DIRECTORY, append, formatted, opened
from tests.support.node.snapshot_world import DiskWorld
from tests.support.node.unknown_records import NEWER_TYPE, NEWER_VERSION, SENTENCE, batch_bytes

REASON = "metadata record type 99 is unknown"
NEWER = UnknownRecord(record_type=99, version=0, value=NEWER_TYPE, reason=REASON)


@pytest.mark.parametrize(
    ("value", "record_type", "version", "reason"),
    [
        (NEWER_TYPE, 99, 0, REASON),
        (NEWER_VERSION, 2, 31, "TopicRecord has versions 0 to 0, not 31"),
        (bytes.fromhex("02140000"), -1, -1, "metadata record frame 2; only 1 is known"),
        (bytes.fromhex("0114000000"), 20, 0, "1 bytes after NoOpRecord"),
        (b"\x01", -1, -1, "cut off at byte 1"),
    ],
    ids=["type", "version", "frame", "garbage", "cut off"],
)
@pytest.mark.requirement("631-15")
def test_a_batch_keeps_its_bytes_and_its_end_names_the_record(value, record_type, version, reason):
    data = batch_bytes(encode_record(NoOpRecord()), value, base_offset=40)
    (batch,) = decode_batches(data)
    assert encode_batch(batch) == data
    assert batch.records[0] == NoOpRecord()
    assert (batch.records[1].record_type, batch.records[1].version) == (record_type, version)
    with pytest.raises(ApplyError) as refused:
        apply_batch(EMPTY_IMAGE, batch)
    assert str(refused.value).startswith(SENTENCE.format(41, record_type, version, reason)[:60])
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_received_batch_is_equal_to_the_one_that_was_sent():
    made = Batch(base_offset=3, epoch=1, timestamp_ms=7, records=(NoOpRecord(),))
    (received,) = decode_batches(encode_batch(made))
    assert received == made
    assert made == received
    assert hash(received) == hash(made)


def test_recovery_reads_the_log_with_such_a_record_and_keeps_its_bytes():
    disk = formatted()
    storage = opened(disk).storage
    data = batch_bytes(NEWER_TYPE)
    storage.append(Append(METADATA_LOG, decode_batches(data)[0]))
    assert disk.read(f"{DIRECTORY}/{0:020d}.log") == data
    storage.close()
    (batch,) = opened(disk).batches
    assert encode_batch(batch) == data


def test_a_committed_record_ends_each_node_that_would_apply_it():
    world = DiskWorld(3, 1)
    world.run(8000)
    leader = world.leader()
    raft = world.nodes[leader]._raft
    offset = raft.propose((NoOpRecord(), NEWER), world.instant)
    world.run(8000)
    exits = {node_id: effect for node_id, effect in world.effects if isinstance(effect, Exit)}
    assert len(exits) > 2, "the last voter has no majority, so the record does not commit there"
    assert {effect.status for effect in exits.values()} == {1}
    sentence = SENTENCE.format(offset, 99, 0, REASON)
    assert all(effect.reason.endswith(sentence) for effect in exits.values())


def unsupported_snapshot(snapshot):
    header, footer = batches_of(snapshot, EMPTY_IMAGE, 5)
    newer = Batch(base_offset=1, epoch=snapshot.epoch, timestamp_ms=5, records=(NEWER,))
    last = Batch(
        base_offset=2, epoch=snapshot.epoch, timestamp_ms=5, is_control=True, records=footer.records
    )
    return encode_batches((header, newer, last))


def test_a_copied_snapshot_with_such_a_record_is_no_damage():
    storage = opened(formatted()).storage
    snapshot = SnapshotId(30, 1)
    data = unsupported_snapshot(snapshot)
    storage.store_slice(StoreSlice(copy=1, snapshot=snapshot, position=0, data=data))
    checked = run_through(storage.check_snapshot(CheckSnapshot(copy=1, snapshot=snapshot)))
    assert checked.loaded is None
    sentence = SENTENCE.format(1, 99, 0, REASON)
    assert checked.unsupported == f"the leader's snapshot {snapshot_name(snapshot)}, {sentence}"


def test_a_start_with_such_a_snapshot_is_refused_and_the_file_stays():
    disk = formatted()
    storage = opened(disk).storage
    append(storage, 0, 5)
    storage.close()
    path = f"{DIRECTORY}/{snapshot_name(SnapshotId(5, 1))}"
    disk.append_to(path).write(unsupported_snapshot(SnapshotId(5, 1)))
    with pytest.raises(StorageError, match="type 99 and version 0 can not be applied"):
        opened(disk)
    assert disk.exists(path)


def test_a_node_ends_when_the_leaders_snapshot_holds_such_a_record(monkeypatch):
    world = DiskWorld(3, 1)
    world.run(8000)
    broker = 4
    world.kill(broker)
    raft = world.nodes[world.leader()]._raft
    for _ in range(40):
        raft.propose((NoOpRecord(),), world.instant)
        world.run(50)
    assert world.storages[world.leader()].snapshots
    monkeypatch.setattr(
        "kraftproof.node.storage.snapshots.decode_batches",
        lambda data: decode_batches(unsupported_snapshot(SnapshotId(9, 1))),
    )
    world.start_again(broker, wiped=True)
    world.run(8000)
    assert broker not in world.nodes
    (parting,) = world.of_kind(broker, Exit)
    assert parting.status == 1
    assert "type 99 and version 0 can not be applied" in parting.reason


def test_dump_log_shows_the_record(tmp_path, capsys):
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(batch_bytes(NEWER_TYPE))
    assert dump_log.run(["--cluster-metadata-decoder", "--files", str(path)]) == 0
    payload = capsys.readouterr().out.partition("payload: ")[2]
    shown = json.loads(payload.splitlines()[0])
    assert (shown["type"], shown["version"]) == ("UNKNOWN_RECORD", 0)
    assert shown["data"]["recordType"] == 99


@pytest.mark.simulation
@pytest.mark.parametrize("seed", range(2))
def test_in_simulation_the_end_shows_with_its_sentence(tmp_path, seed):
    options = ClusterOptions(nodes=nodes_of(controller=3, broker=1), seed=seed, directory=tmp_path)
    cluster = SimulatedCluster(options)

    async def main():
        await cluster.start()
        (leader,) = led_by(cluster)
        process = cluster.world.machines[leader].process
        process._node._raft.propose((NEWER,), process._env.clock.now())
        await cluster.scope.sleep(20 * SECOND_NS)

    with pytest.raises(InvariantViolatedError, match=r"NoUnexpectedExit.*of type 99 and version 0"):
        cluster.run(main())
