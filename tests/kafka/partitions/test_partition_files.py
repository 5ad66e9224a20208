"""Kafka's dump-log reads our partition logs, and our storage opens Kafka's."""

import re
import shutil
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.effects import Append
from kraftproof.node.core.log.recovered import RecoveredLog
from kraftproof.node.core.log_effects import (
    ConfigureLog,
    CreateLog,
    FindTimestamp,
    LogRead,
    RaiseLogStart,
)
from kraftproof.node.server.workers import run_through
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.partitions.log_directory import LogDirectory
from kraftproof.node.storage.partitions.partition_logs import PartitionLogs
from kraftproof.node.storage.segments.headers import read_headers
from kraftproof.node.wire.records.raw_batch import parse_batches
from kraftproof.node.wire.types import Uuid
from tests.kafka.java import Java
from tests.kafka.systems import Running
from tests.support.node.raw_batches import GZIP, raw

pytestmark = pytest.mark.kafka
DUMP = "org.apache.kafka.tools.DumpLogSegments"
HOME_ID = Uuid(b"our log director")
LOG = LogId(Uuid(b"topic of the log"), 0)
TOPIC = "written-by-kafka"
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
BATCHES_A_CODEC = 3
BATCH = re.compile(
    r"baseOffset: (\d+) lastOffset: (\d+) count: (\d+) baseSequence: (-?\d+) .*?"
    r"producerId: (-?\d+) producerEpoch: (-?\d+) partitionLeaderEpoch: (\d+) .*?"
    r"position: (\d+) CreateTime: (\d+) size: (\d+) magic: 2 compresscodec: (\w+) .*?"
    r"isvalid: (\w+)"
)


def opened(directory: Path) -> tuple[PartitionLogs, tuple[RecoveredLog, ...]]:
    logs = PartitionLogs(
        Disk(), [LogDirectory(Disk(), str(directory), HOME_ID, segment_bytes=1 << 30)]
    )
    recovered, warnings = logs.open()
    assert warnings == ()
    return logs, recovered


def test_kafka_reads_the_segments_that_we_write(java: Java, tmp_path: Path) -> None:
    logs, _ = opened(tmp_path)
    logs.create(CreateLog(log=LOG, topic="ours"))
    for index in range(20):
        batch = raw(
            2 * index,
            b"value" * 20,
            b"other" * 20,
            epoch=1 + index // 7,
            compression=GZIP if index % 2 else 0,
            producer_id=index % 3 - 1,
            producer_epoch=0,
            base_sequence=index,
        )
        logs.append(Append(LOG, batch))
    logs.stop(5)
    segment = tmp_path / "ours-0" / "00000000000000000000.log"
    theirs = BATCH.findall(java.output(DUMP, "--files", str(segment)))
    codecs = {0: "none", 1: "gzip"}
    size = segment.stat().st_size
    assert theirs == [
        (
            *map(
                str,
                (
                    found.header.base_offset,
                    found.header.last_offset,
                    found.header.count,
                    found.header.base_sequence,
                    found.header.producer_id,
                    found.header.producer_epoch,
                    found.header.epoch,
                    found.position,
                    found.header.max_timestamp_ms,
                    found.length,
                    codecs[found.header.compression],
                ),
            ),
            "true",
        )
        for found in read_headers(Disk(), str(segment), 0, size)
    ]
    assert len(theirs) == 20


def test_kafka_reads_the_producers_that_we_keep(java: Java, tmp_path: Path) -> None:
    logs, _ = opened(tmp_path)
    logs.create(CreateLog(log=LOG, topic="ours"))
    logs.configure(ConfigureLog(log=LOG, segment_bytes=1))
    for offset, producer in enumerate((7, 7, 9)):
        keywords = {"producer_id": producer, "producer_epoch": 3, "base_sequence": 10 + offset}
        logs.append(Append(LOG, raw(2 * offset, b"a", b"b", **keywords)))
    logs.append(Append(LOG, raw(6)))
    logs.raise_start(RaiseLogStart(log=LOG, start_offset=Offset(6)))
    logs.close()
    (snapshot,) = (tmp_path / "ours-0").glob("*.snapshot")
    theirs = java.output(DUMP, "--files", str(snapshot))
    assert re.findall(r"producerId: (\d+) producerEpoch: (\d+)", theirs) == [("7", "3"), ("9", "3")]
    last = re.findall(r"lastSequence: (\d+) lastOffset: (\d+) offsetDelta: (\d+)", theirs)
    assert last == [("12", "3", "1"), ("13", "5", "1")]


def test_we_open_the_log_that_kafka_writes(real: Running, tmp_path: Path) -> None:
    admin = AdminClient({"bootstrap.servers": real.brokers, "log_level": 0})
    admin.create_topics([NewTopic(TOPIC, num_partitions=1, replication_factor=1)])[TOPIC].result(15)
    values: list[bytes] = []
    for codec in CODECS:
        producer = Producer(
            {"bootstrap.servers": real.brokers, "compression.type": codec, "log_level": 0}
        )
        for _ in range(BATCHES_A_CODEC):
            for _ in range(5):
                values.append(b"%d " % len(values) * 30)
                producer.produce(TOPIC, values[-1], partition=0, timestamp=1000 + len(values))
            assert producer.flush(15) == 0
    source = real.log_directory.parent / f"{TOPIC}-0"
    shutil.copytree(source, tmp_path / source.name)
    logs, (found,) = opened(tmp_path)
    assert (found.topic, found.start_offset, found.end_offset) == (TOPIC, 0, len(values))
    assert [start for _, start in found.epochs] == [0]
    copied = tmp_path / source.name / "00000000000000000000.log"
    assert copied.read_bytes() == (source / copied.name).read_bytes()
    read = LogRead(
        topic_index=0,
        partition_index=0,
        log=found.log,
        offset=Offset(0),
        end_offset=found.end_offset,
        max_bytes=1 << 20,
    )
    batches = list(parse_batches(logs.read(read)))
    assert {batch.compression for batch in batches} == set(range(5))
    for offset in range(len(values)):
        looked_up = run_through(
            logs.find_timestamp(
                FindTimestamp(
                    token=offset,
                    log=found.log,
                    timestamp_ms=1001 + offset,
                    start_offset=Offset(0),
                    end_offset=found.end_offset,
                )
            )
        )
        assert looked_up.offset == offset
    logs.close()
