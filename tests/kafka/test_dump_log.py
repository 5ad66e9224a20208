"""Kafka's dump-log reads our files and ours reads Kafka's, and both print the same (631-16)."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, TypeGuard

import pytest

from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.metadata.snapshot import load, records_of
from kraftproof.node.server.workers import run_through
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.log import DIRECTORY_NAME, MetadataLog
from kraftproof.node.storage.snapshots import SnapshotFiles, snapshot_name
from kraftproof.node.tools import dump_log
from kraftproof.node.tools.log_file import Damage, StoredBatch, read_segment
from kraftproof.node.wire.records.batch import DEFAULT_LEVEL, Batch
from kraftproof.node.wire.records.batches import decode_batches
from kraftproof.node.wire.records.control import LeaderChange, LeaderChangeVoter
from kraftproof.node.wire.records.metadata import RemoveTopicRecord
from kraftproof.node.wire.records.metadata_records import SCHEMAS
from kraftproof.node.wire.records.write_versions import version_at
from tests.kafka.definitions import Definition, random_values
from tests.kafka.java import Java
from tests.kafka.our_messages import to_ours
from tests.kafka.systems import Ours, Running, until
from tests.node.core.metadata.test_images import IMAGE

pytestmark = [pytest.mark.kafka, pytest.mark.requirement("631-16")]
TOPICS = "org.apache.kafka.tools.TopicCommand"
DUMP = "org.apache.kafka.tools.DumpLogSegments"
SEGMENT = "00000000000000000000.log"
RECORDS_A_TYPE = 5
Lines = list[tuple[str, Any]]
Dumps = Callable[[Path], tuple[Lines, Lines]]


def parsed(text: str) -> Lines:
    """Each line as what stands before its JSON, and the JSON's value."""
    lines = []
    for line in text.splitlines():
        before, brace, content = line.partition("{")
        lines.append((before, json.loads(brace + content) if brace else None))
    return lines


@pytest.fixture
def dumps(java: Java, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Dumps:
    """Both tools' output for a file, of which a copy up to its last whole batch is read."""

    def dump(path: Path) -> tuple[Lines, Lines]:
        copy = tmp_path / path.name
        copy.write_bytes(whole_batches(path.read_bytes()))
        arguments = ("--cluster-metadata-decoder", "--files", str(copy))
        theirs = java.output(DUMP, *arguments)
        capsys.readouterr()
        assert dump_log.run([*arguments]) == 0
        ours = [
            (before, without_unknown_tags(content))
            for before, content in parsed(capsys.readouterr().out)
        ]
        return ours, parsed(theirs)

    return dump


def without_unknown_tags(value: Any) -> Any:
    """Leave out the tagged fields of newer versions, which Kafka's tool does not print."""
    if isinstance(value, dict):
        return {k: without_unknown_tags(v) for k, v in value.items() if k != "unknownTags"}
    return [without_unknown_tags(each) for each in value] if isinstance(value, list) else value


def whole_batches(data: bytes) -> bytes:
    """A segment of a live node without a batch that is just being written."""
    ends = [stored.position + stored.size for stored in read_segment(data) if is_whole(stored)]
    return data[: ends[-1]]


def is_whole(stored: StoredBatch | Damage) -> TypeGuard[StoredBatch]:
    assert isinstance(stored, StoredBatch) or "torn tail" in stored.reason
    return isinstance(stored, StoredBatch)


def test_kafka_reads_every_record_type_from_our_log(
    definitions: dict[str, Definition], dumps: Dumps, tmp_path: Path
) -> None:
    log, _ = MetadataLog.open(Disk(), str(tmp_path / DIRECTORY_NAME))
    voters = (LeaderChangeVoter(voter_id=2), LeaderChangeVoter(voter_id=3))
    leader = LeaderChange(leader_id=2, voters=voters, granting_voters=voters[:1])
    log.append(Batch(base_offset=0, epoch=3, timestamp_ms=9, is_control=True, records=(leader,)))
    chance, offset = Random(631), 1
    for key, schema in sorted(SCHEMAS.items()):
        definition = definitions[schema.message.__name__]
        version = version_at(key, DEFAULT_LEVEL)
        records: Any = tuple(
            to_ours(
                schema.message,
                definition.fields,
                random_values(definition.fields, version, chance),
            )
            for _ in range(RECORDS_A_TYPE)
        )
        log.append(Batch(base_offset=offset, epoch=3, timestamp_ms=offset, records=records))
        offset += len(records)
    log.close()
    ours, theirs = dumps(tmp_path / DIRECTORY_NAME / SEGMENT)
    assert ours == theirs
    printed = {content["type"] for _, content in theirs if content and "type" in content}
    assert len(printed) == len(SCHEMAS)


@pytest.mark.requirement("631-36")
def test_kafka_reads_our_snapshot_as_one(dumps: Dumps, tmp_path: Path) -> None:
    snapshot = SnapshotId(Offset(4711), Epoch(3))
    disk, directory = Disk(), str(tmp_path / DIRECTORY_NAME)
    disk.make_directory(directory)
    run_through(SnapshotFiles(disk, directory).write(snapshot, IMAGE, 1_700_000_000_000))
    ours, theirs = dumps(Path(directory) / snapshot_name(snapshot))
    assert ours == theirs
    assert theirs[1][0] == "Snapshot end offset: 4711, epoch: 3"
    names = [before.split()[-1] for before, content in theirs if content and "type" not in content]
    assert names == ["SnapshotHeader", "SnapshotFooter"]
    printed = [content["type"] for _, content in theirs if content and "type" in content]
    assert len(printed) == len(list(records_of(IMAGE)))


def test_kafka_reads_the_log_of_a_live_node_of_ours(ours: Ours, java: Java, dumps: Dumps) -> None:
    connection = ("--bootstrap-server", ours.brokers)
    java.output(
        TOPICS, *connection, "--create", "--topic", "logged", "--replica-assignment", "4:5,5:4"
    )
    java.output(TOPICS, *connection, "--delete", "--topic", "logged")
    segment = ours.log_directory / SEGMENT
    assert until(lambda: removed(segment))
    mine, theirs = dumps(segment)
    assert mine == theirs
    assert all("isvalid: true" in before for before, _ in theirs if before.startswith("base"))
    types = [content["type"] for _, content in theirs if content and "type" in content]
    assert types.count("PARTITION_RECORD") >= 2
    assert {"REGISTER_BROKER_RECORD", "TOPIC_RECORD", "REMOVE_TOPIC_RECORD"} <= {*types}


def removed(segment: Path) -> bool:
    """Whether the log has the removal of a topic: Kafka's tool returns before a follower has it."""
    return any(
        isinstance(record, RemoveTopicRecord)
        for stored in read_segment(segment.read_bytes())
        if is_whole(stored)
        for record in stored.batch.records
    )


def test_our_tool_reads_the_log_and_the_snapshots_of_kafka(
    real: Running, java: Java, dumps: Dumps
) -> None:
    connection = ("--bootstrap-server", real.brokers)
    create = ("--create", "--topic", "theirs", "--partitions", "2", "--replication-factor", "1")
    java.output(TOPICS, *connection, *create, "--config", "retention.ms=7000")
    java.output(TOPICS, *connection, "--delete", "--topic", "theirs")
    ours, theirs = dumps(real.log_directory / SEGMENT)
    assert ours == theirs
    types = {content["type"] for _, content in theirs if content and "type" in content}
    assert {"TOPIC_RECORD", "CONFIG_RECORD", "PARTITION_RECORD", "REGISTER_BROKER_RECORD"} <= types
    controls = {
        before.split()[-1] for before, content in theirs if content and "type" not in content
    }
    assert {"LeaderChange:", "KRaftVersion", "KRaftVoters"} <= controls
    assert until(lambda: len(snapshots(real)) > 1)
    for snapshot in snapshots(real):
        ours, theirs = dumps(snapshot)
        assert ours == theirs
        names = [before.split()[-1] for before, content in theirs if content]
        assert (names[0], names[-1]) == ("SnapshotHeader", "SnapshotFooter")
    batches = decode_batches(snapshots(real)[-1].read_bytes())
    end, epoch = map(int, snapshots(real)[-1].stem.split("-"))
    stored = StoredSnapshot(snapshot=SnapshotId(Offset(end), Epoch(epoch)), size=1)
    assert sorted(load(stored, batches).image.brokers) == [1], "ours loads it, too"


def snapshots(real: Running) -> list[Path]:
    """The snapshot of formatting and the newest."""
    found = sorted(real.log_directory.glob("*.checkpoint"))
    return [found[0], found[-1]] if len(found) > 1 else found
