"""kraft-storage and kraft-dump-log, as Kafka's tools behave."""

import json
import re
from pathlib import Path

import pytest

from kraftproof.cluster.systems.kafka import files
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.log import DIRECTORY_NAME, MetadataLog
from kraftproof.node.tools import dump_log, storage
from kraftproof.node.tools.record_json import record_data
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import encode_batches
from kraftproof.node.wire.records.control import (
    KRaftVersion,
    LeaderChange,
    LeaderChangeVoter,
    SnapshotFooter,
    SnapshotHeader,
    Voters,
)
from kraftproof.node.wire.records.generated.voters import Voter
from kraftproof.node.wire.records.metadata import (
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    TopicRecord,
)
from kraftproof.node.wire.types import parse_uuid

NO_MORE = "sequence: -1 headerKeys: []"
CLUSTER_ID = "XcZZOzUqS4yHOjhMQB6JLQ"


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "server.properties"
    path.write_text(f"node.id=5\nlog.dirs={tmp_path / 'a'},{tmp_path / 'b'}\n")
    return str(path)


@pytest.mark.requirement("631-94")
def test_format_writes_meta_properties_in_every_directory(tmp_path: Path, config: str) -> None:
    assert storage.run(["format", "-c", config, "-t", CLUSTER_ID]) == 0
    for name in ("a", "b"):
        lines = (tmp_path / name / "meta.properties").read_text().splitlines()
        assert {"version=1", f"cluster.id={CLUSTER_ID}", "node.id=5"} <= set(lines)


@pytest.mark.requirement("631-94")
@pytest.mark.parametrize(
    "argv",
    [
        ["format", "-t", CLUSTER_ID],
        ["format", "-c", "x"],
        ["nonsense"],
        [],
        ["info"],
    ],
)
def test_a_usage_error_is_one_line_and_status_1(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        storage.run(argv)
    assert caught.value.code == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.requirement("631-94")
def test_an_invalid_id_or_config_is_one_line_and_status_1(
    tmp_path: Path, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for argv, named in (
        (["format", "-c", config, "-t", "short"], "'short'"),
        (["format", "-c", str(tmp_path / "no"), "-t", CLUSTER_ID], "No such file"),
    ):
        assert storage.run(argv) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert named in line
    assert not (tmp_path / "a").exists()


@pytest.mark.requirement("631-95")
def test_format_is_all_or_nothing_and_skips_with_g(
    tmp_path: Path, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert storage.run(["format", "-c", config, "-t", CLUSTER_ID]) == 0
    (tmp_path / "b" / "meta.properties").unlink()
    assert storage.run(["format", "-c", config, "-t", CLUSTER_ID]) == 1
    assert "already formatted" in capsys.readouterr().err
    assert not (tmp_path / "b" / "meta.properties").exists()
    assert storage.run(["format", "-c", config, "-t", CLUSTER_ID, "-g"]) == 0
    assert (tmp_path / "b" / "meta.properties").exists()
    assert storage.run(["format", "-c", config, "-t", CLUSTER_ID, "--ignore-formatted"]) == 0
    assert "All of the log directories are already formatted." in capsys.readouterr().out


@pytest.mark.requirement("631-93")
def test_info_prints_directories_metadata_and_problems(
    tmp_path: Path, config: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").mkdir()
    assert storage.run(["info", "-c", config]) == 1
    assert capsys.readouterr().out == (
        f"Found log directory:\n  {tmp_path / 'a'}\n\n"
        f"Found problems:\n  {tmp_path / 'b'} does not exist\n  {tmp_path / 'a'} is not formatted."
        "\n\n"
    )
    assert storage.run(["format", "-c", config, "-t", CLUSTER_ID]) == 0
    capsys.readouterr()
    assert storage.run(["info", "--config", config]) == 0
    found = capsys.readouterr().out
    directory_id = re.search(r"directory.id=([\w-]{22}),", found)
    assert directory_id is not None
    assert found == (
        f"Found log directories:\n  {tmp_path / 'a'}\n  {tmp_path / 'b'}\n\n"
        f"Found metadata: {{cluster.id={CLUSTER_ID}, directory.id={directory_id[1]}, node.id=5, "
        "version=1}\n\n"
    )


@pytest.mark.requirement("631-96")
def test_random_uuid_prints_one_uuid_and_help_lists_the_commands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert storage.run(["random-uuid"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert len(parse_uuid(line)) == 16
    assert storage.run(["random-uuid"]) == 0
    assert capsys.readouterr().out.splitlines() != [line]
    with pytest.raises(SystemExit) as caught:
        storage.run(["-h"])
    assert caught.value.code == 0
    text = capsys.readouterr().out
    assert all(command in text for command in ("info", "format", "random-uuid"))


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    directory = tmp_path / "data" / DIRECTORY_NAME
    log, _ = MetadataLog.open(Disk(), str(directory))
    leader = LeaderChange(leader_id=2, voters=(LeaderChangeVoter(voter_id=2),))
    topic_id = parse_uuid(CLUSTER_ID)
    log.append(Batch(base_offset=0, epoch=3, timestamp_ms=9, is_control=True, records=(leader,)))
    records = (
        TopicRecord(name="orders", topic_id=topic_id),
        PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=4),
    )
    log.append(Batch(base_offset=1, epoch=3, timestamp_ms=10, records=records))
    log.close()
    return directory / "00000000000000000000.log"


@pytest.mark.requirement("631-97")
@pytest.mark.requirement("631-98")
def test_dump_log_prints_batches_and_records(
    segment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic = (
        'payload: {"type":"TOPIC_RECORD","version":0,"data":{"name":"orders",'
        f'"topicId":"{CLUSTER_ID}"}}}}'
    )
    change = (
        'payload: {"type":"PARTITION_CHANGE_RECORD","version":1,"data":{"partitionId":0,'
        f'"topicId":"{CLUSTER_ID}","leader":4}}}}'
    )
    argv = ["--files", str(segment), "--cluster-metadata-decoder"]
    assert dump_log.run(argv) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"Dumping {segment}"
    assert lines[1] == "Log starting offset: 0"
    assert "baseOffset: 1 lastOffset: 2 count: 2" in lines[4]
    assert lines[5] == f"| offset: 1 CreateTime: 10 keySize: -1 valueSize: 27 {NO_MORE} {topic}"
    assert lines[6] == f"| offset: 2 CreateTime: 10 keySize: -1 valueSize: 30 {NO_MORE} {change}"
    assert dump_log.run([*argv, "--skip-record-metadata"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[3].startswith('| LeaderChange: {"version":0,"leaderId":2,"voters":[{"voterId":2}]')
    assert lines[5:] == [f"| {topic}", f"| {change}"]


@pytest.mark.requirement("631-97")
def test_dump_log_of_a_snapshot_names_its_end_and_its_control_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot = tmp_path / "00000000000000000034-0000000002.checkpoint"
    voter = Voter(voter_id=3, voter_directory_id=parse_uuid(CLUSTER_ID))
    head = (SnapshotHeader(last_contained_log_timestamp=5), KRaftVersion(k_raft_version=1))
    batches = (
        Batch(base_offset=0, epoch=2, timestamp_ms=9, is_control=True, records=head),
        Batch(base_offset=2, epoch=2, timestamp_ms=9, records=(NoOpRecord(),)),
        Batch(
            base_offset=3,
            epoch=2,
            timestamp_ms=9,
            is_control=True,
            records=(Voters(voters=(voter,)), SnapshotFooter()),
        ),
    )
    snapshot.write_bytes(encode_batches(batches))
    assert dump_log.run(["--files", str(snapshot), "--cluster-metadata-decoder"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "Snapshot end offset: 34, epoch: 2"
    records = [line.partition("[] ")[2] for line in lines if line.startswith("|")]
    assert records[0] == 'SnapshotHeader {"version":0,"lastContainedLogTimestamp":5}'
    assert records[1] == 'KRaftVersion {"version":0,"kRaftVersion":1}'
    assert records[3].startswith('KRaftVoters {"version":0,"voters":[{"voterId":3,')
    assert records[4] == 'SnapshotFooter {"version":0}'


@pytest.mark.requirement("631-97")
def test_fields_that_a_record_s_version_lacks_are_left_out() -> None:
    fields = [
        set(record_data(record, version))
        for record in (RegisterBrokerRecord(), PartitionRecord())
        for version in (0, 1, 2)
    ]
    assert fields[1] - fields[0] == {"inControlledShutdown"}
    assert fields[2] - fields[1] == {"isMigratingZkBroker"}
    assert fields[4] - fields[3] == {"directories"}
    assert fields[5] == fields[4]


def test_dump_log_of_a_torn_or_absent_file_is_one_line_and_status_1(
    segment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment.write_bytes(segment.read_bytes()[:-1])
    for path, named in ((segment, "torn tail"), (tmp_path / "no.log", "No such file")):
        assert dump_log.run(["--files", str(path), "--cluster-metadata-decoder"]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert named in line


def test_raw_files_become_rows_and_a_torn_end_is_left_out(segment: Path, tmp_path: Path) -> None:
    rows = files.records(tmp_path, 7)
    assert [(row["node"], row["offset"], row["epoch"], row["type"]) for row in rows] == [
        (7, 0, 3, "LEADER_CHANGE"),
        (7, 1, 3, "TOPIC_RECORD"),
        (7, 2, 3, "PARTITION_CHANGE_RECORD"),
    ]
    assert json.loads(str(rows[1]["json"])) == {"name": "orders", "topicId": CLUSTER_ID}
    assert rows[1]["batch_crc"] == rows[2]["batch_crc"] != rows[0]["batch_crc"]
    assert [row["batch_offset"] for row in rows] == [0, 1, 1]
    segment.write_bytes(segment.read_bytes()[:-1])
    assert files.records(tmp_path, 7) == rows[:1]


def test_the_trace_counts_starts_and_survives_a_cut_line(tmp_path: Path) -> None:
    line = '{"seq":%d,"time":5,"node":7,"incarnation":"%s","event":"Tick","image_offset":4}\n'
    text = line % (0, "x") + line % (1, "x") + '{"seq":2,"ti\n' + line % (0, "y") + '{"seq'
    (tmp_path / "trace.jsonl").write_text(text)
    rows = files.trace(tmp_path, 7)
    assert [(row["seq"], row["incarnation"], row["image_offset"]) for row in rows] == [
        (0, 0, 3),
        (1, 0, 3),
        (0, 1, 3),
    ]
    assert files.trace(tmp_path / "absent", 7) == []
