"""Produce (0) of odd batches: order of checks, framing, times, sequences. No tests here."""

import gzip
import time
from collections.abc import Sequence
from typing import Final

from kraftproof.node.wire.messages import produce_request
from kraftproof.node.wire.types import ZERO_UUID
from tests.kafka.differential.brokers import register
from tests.kafka.differential.case import Case, Context, every_version
from tests.kafka.differential.data import BY_ID, UNKNOWN_ID, ProduceRequest
from tests.kafka.differential.topics import create, topic
from tests.support.node.client_batches import batch_bytes, records_bytes

TOPIC: Final = "batches"
STAMPED: Final = "batches-stamped"
KEYED: Final = "batches-keyed"
SHORT: Final = "batches-short"
SEGMENT: Final = "batches-of-a-segment"
SPARE: Final = "batches-without-a-follower"
FENCED_BROKER: Final = 20
HOUR_MS: Final = 3_600_000
OLD_MS: Final = 1_700_000_000_000
NOW_MS: Final = int(time.time() * 1000)
CONTROL: Final = 0x20
TRANSACTIONAL: Final = 0x10
APPEND_TIME: Final = 0x08
GZIP: Final = 1
GOOD: Final = batch_bytes(timestamp_ms=OLD_MS)
WRONG_CRC: Final = GOOD[:17] + bytes(4) + GOOD[21:]
LARGEST_SEQUENCE: Final = (1 << 31) - 1
ONE: Final = records_bytes([(b"k", b"v")])
TWO: Final = records_bytes([(b"k", b"v")] * 2)

Parts = Sequence[tuple[str, Sequence[tuple[int, bytes | None]]]]
"""The topics of a request, each with its partitions and their records."""


def parts(
    name: str,
    asked: Parts,
    *,
    acks: int = 1,
    versions: tuple[int, ...] = (12,),
    transactional_id: str | None = None,
    drawn: frozenset[str] = frozenset(),
    is_settled: bool = False,
) -> Case:
    """Return the case of a Produce to several partitions; the offsets are compared, too."""

    def make(context: Context) -> ProduceRequest:
        has_id = context.version >= BY_ID
        topics = tuple(
            produce_request.TopicProduceData(
                name="" if has_id else to,
                topic_id=context.topic_ids.get(to, UNKNOWN_ID) if has_id else ZERO_UUID,
                partition_data=tuple(
                    produce_request.PartitionProduceData(index=index, records=records)
                    for index, records in partitions
                ),
            )
            for to, partitions in asked
        )
        return ProduceRequest(
            acks=acks, timeout_ms=5_000, topic_data=topics, transactional_id=transactional_id
        )

    return Case(
        name=f"batch: {name}", message=make, versions=versions, drawn=drawn, is_settled=is_settled
    )


def batch(
    name: str,
    records: bytes,
    *,
    to: str = TOPIC,
    index: int = 0,
    acks: int = 1,
    versions: tuple[int, ...] = (12,),
    transactional_id: str | None = None,
    drawn: frozenset[str] = frozenset(),
) -> Case:
    """Return the case of a Produce of one partition."""
    return parts(
        name,
        ((to, ((index, records),)),),
        acks=acks,
        versions=versions,
        transactional_id=transactional_id,
        drawn=drawn,
    )


def changed(place: int, new: bytes) -> bytes:
    """Return the good batch with other bytes at a place that the CRC does not cover."""
    return GOOD[:place] + new + GOOD[place + len(new) :]


def of_length(length: int) -> bytes:
    """Return the good batch with another length in its header."""
    return changed(8, length.to_bytes(4, "big", signed=True))


def of_producer(sequence: int, *, producer_id: int = 9000, epoch: int = 0, count: int = 1) -> bytes:
    """Return a batch of an idempotent producer."""
    return batch_bytes(count, timestamp_ms=OLD_MS, producer=(producer_id, epoch, sequence))


TOPICS: Final = (
    register("a broker that stays fenced", FENCED_BROKER),
    create(
        "topics of odd batches",
        topic(TOPIC, replicas=((1,),) * 8),
        topic(STAMPED, replicas=((1,),), message_timestamp_type="LogAppendTime"),
        topic(
            KEYED,
            replicas=((1,),),
            cleanup_policy="compact",
            message_timestamp_before_max_ms=str(HOUR_MS),
        ),
        topic(SHORT, replicas=((1,),), max_message_bytes="100"),
        topic(SEGMENT, replicas=((1,),), segment_bytes="1048576", max_message_bytes="2097152"),
        topic(SPARE, replicas=((1, FENCED_BROKER),), min_insync_replicas="2"),
    ),
    parts("each version", ((TOPIC, ((0, GOOD),)),), versions=every_version(ProduceRequest),
          is_settled=True),
)  # fmt: skip
ORDER: Final = (
    batch("acks 5, an unknown topic", GOOD, to="no-such-topic", acks=5, versions=(12, 13)),
    batch("acks 5, an unknown partition", GOOD, index=99, acks=5),
    batch("acks 5, two batches", GOOD + GOOD, acks=5),
    batch("acks 5, a wrong CRC", WRONG_CRC, acks=5),
    batch("an unknown partition, two batches", GOOD + GOOD, index=99),
    batch("an unknown partition, no bytes", b"", index=99),
    batch("an unknown partition, an old magic", changed(16, b"\1"), index=99),
    batch("an unknown partition, early zstd", batch_bytes(attributes=4), index=99, versions=(6,)),
    batch("too few replicas", GOOD, to=SPARE, acks=-1, versions=(3, 12)),
    batch("too few replicas, a wrong CRC", WRONG_CRC, to=SPARE, acks=-1),
    batch("too large, a wrong CRC", batch_bytes(9)[:-1] + b"\1", to=SHORT),
    batch("a base offset, a wrong CRC", changed(0, b"\0\0\0\0\0\0\0\5") + b""),
    batch("larger than a segment", batch_bytes(value=b"v" * (1 << 20)), to=SEGMENT),
    batch(
        "larger than a segment, a control batch",
        batch_bytes(value=b"v" * (1 << 20), attributes=CONTROL),
        to=SEGMENT,
    ),
)
FRAMES: Final = (
    *(batch(f"magic {magic}", changed(16, bytes((magic,)))) for magic in (0, 1, 3, 255)),
    batch("an old magic, an old version", changed(16, b"\1"), versions=(3, 7)),
    batch("5 bytes", GOOD[:5]),
    batch("16 bytes", GOOD[:16]),
    batch("all but the last byte", GOOD[:-1]),
    *(batch(f"a length of {length}", of_length(length)) for length in (-1, 0, 13, 14, 48, 1 << 30)),
    batch("a length of one byte less", of_length(len(GOOD) - 13)),
    batch("a length of one byte more", of_length(len(GOOD) - 11)),
    batch("5 bytes after it", GOOD + bytes(5)),
    batch("zeros after it", GOOD + bytes(20)),
    batch("half a batch after it", GOOD + GOOD[:40]),
    batch("a corrupt batch after it", GOOD + WRONG_CRC),
    batch("an old batch after it", GOOD + changed(16, b"\1")),
    batch("a bad magic after it", GOOD + changed(16, b"\7")),
    batch("base offset 5", changed(0, b"\0\0\0\0\0\0\0\5")),
    batch("base offset -1", changed(0, b"\xff" * 8)),
    batch("a leader epoch", changed(12, b"\0\0\0\7")),
    batch("count 0", batch_bytes(0, content=b"", last_delta=-1)),
    batch("count 0 of one", batch_bytes(header_count=0)),
    batch("count -1", batch_bytes(header_count=-1)),
    batch("count 2 of one", batch_bytes(header_count=2)),
    batch("count 2 of one, delta 1", batch_bytes(header_count=2, last_delta=1)),
    batch("last delta -1", batch_bytes(last_delta=-1)),
    batch("last delta 5", batch_bytes(last_delta=5)),
    batch("a record too many", batch_bytes(content=TWO)),
    batch("half a record", batch_bytes(content=ONE[:-1])),
    batch("two members of gzip", batch_bytes(
        2, attributes=GZIP, content=gzip.compress(TWO[: len(ONE)]) + gzip.compress(TWO[len(ONE) :])
    )),
    batch("bytes after gzip", batch_bytes(attributes=GZIP, content=gzip.compress(ONE) + b"xxxx")),
    batch("a control batch", batch_bytes(attributes=CONTROL)),
    batch("no transactional id", batch_bytes(attributes=TRANSACTIONAL, producer=(9, 0, 0))),
    batch("no transactional id, an unknown topic", batch_bytes(attributes=TRANSACTIONAL),
          to="no-such-topic"),
    parts("no transactional id in one of two", (
        (TOPIC, ((0, GOOD), (1, batch_bytes(attributes=TRANSACTIONAL)))),
    )),
    batch("a transactional id without a transaction", GOOD, transactional_id="one"),
    batch("a transaction", batch_bytes(attributes=TRANSACTIONAL, producer=(9, 0, 0)),
          transactional_id="one"),
)  # fmt: skip
TIMES: Final = (
    batch("an append time", GOOD, to=STAMPED, drawn=frozenset({"log_append_time_ms"})),
    batch("an append time by the client", batch_bytes(attributes=APPEND_TIME), to=STAMPED),
    batch("a client's append time", batch_bytes(attributes=APPEND_TIME, timestamp_ms=OLD_MS)),
    batch("a client's append time, too late", batch_bytes(
        attributes=APPEND_TIME, max_timestamp_ms=NOW_MS + 99 * HOUR_MS
    )),
    batch("a client's append time without a time", batch_bytes(
        attributes=APPEND_TIME, max_timestamp_ms=-1
    )),
    batch("a client's append time, records too late", batch_bytes(
        attributes=APPEND_TIME, timestamp_ms=NOW_MS + 99 * HOUR_MS, max_timestamp_ms=OLD_MS
    )),
    batch("records too late", batch_bytes(2, timestamp_ms=NOW_MS + 99 * HOUR_MS)),
    batch("no time", batch_bytes(timestamp_ms=-1)),
    batch("no key, and too old", batch_bytes(4, timestamp_ms=NOW_MS, content=records_bytes(
        [(None, b"v"), (b"k", b"v"), (None, b"v"), (b"k", b"v")], [-2 * HOUR_MS, 0, 0, -2 * HOUR_MS]
    )), to=KEYED),
    batch("no keys", batch_bytes(3, timestamp_ms=NOW_MS, content=records_bytes(
        [(None, b"v"), (b"k", b"v"), (None, b"v")]
    )), to=KEYED, versions=(7, 8, 12)),
    batch("many records without a key", batch_bytes(150, timestamp_ms=NOW_MS, content=records_bytes(
        [(None, b"v")] * 150
    )), to=KEYED),
)  # fmt: skip
SEQUENCES: Final = (
    *(batch(f"sequence {number}", of_producer(number), index=2) for number in range(7)),
    *(batch(f"sequence {number} again", of_producer(number), index=2) for number in range(7)),
    batch("a sequence again, acks all", of_producer(6), index=2, acks=-1, versions=(3, 12)),
    batch("a sequence again with another time", batch_bytes(producer=(9000, 0, 6)), index=2),
    batch("a gap", of_producer(9), index=2, versions=(3, 12, 13)),
    batch("two batches as one", of_producer(5, count=2), index=2),
    batch("a new epoch from 5", of_producer(5, epoch=2), index=2),
    batch("a new epoch", of_producer(0, epoch=2), index=2),
    batch("an old epoch", of_producer(0, epoch=1), index=2),
    batch("a sequence of the old epoch again", of_producer(6), index=2),
    batch("the largest sequence", of_producer(LARGEST_SEQUENCE), index=3),
    batch("after the largest sequence", of_producer(0), index=3),
    batch("the largest sequence again", of_producer(LARGEST_SEQUENCE), index=3),
    batch("no sequence", of_producer(-1), index=4),
    batch("an append time of a sequence", of_producer(0), to=STAMPED,
          drawn=frozenset({"log_append_time_ms"})),
    batch("a wrong CRC of a sequence again", WRONG_CRC, index=2),
)  # fmt: skip
MANY: Final = (
    parts("wrong ones among good ones", (
        (TOPIC, ((5, GOOD), (99, GOOD), (0, WRONG_CRC), (6, of_producer(0)), (2, of_producer(9)))),
        ("no-such-topic", ((0, GOOD),)),
        (KEYED, ((0, GOOD),)),
        (SHORT, ((0, batch_bytes(9)),)),
    )),
    parts("a partition twice", ((TOPIC, ((5, GOOD), (5, GOOD))),), versions=(3, 12, 13)),
    parts("a partition twice, the first wrong", ((TOPIC, ((5, WRONG_CRC), (5, GOOD))),)),
    parts("a partition twice, the last wrong", ((TOPIC, ((5, GOOD), (5, WRONG_CRC))),)),
    parts("a topic twice", ((TOPIC, ((5, GOOD),)), (TOPIC, ((6, GOOD),))), versions=(12, 13)),
    parts("a partition of a topic twice", ((TOPIC, ((5, GOOD),)), (TOPIC, ((5, GOOD),)))),
    parts("an unknown partition twice", ((TOPIC, ((99, GOOD), (99, GOOD))),)),
    parts("an unknown topic twice", (
        ("no-such-topic", ((0, GOOD), (0, GOOD))),
    ), versions=(12, 13)),
    parts("what partition 5 has then", ((TOPIC, ((5, GOOD),)),)),
    parts("no topics", ()),
    parts("no partitions", ((TOPIC, ()),)),
    parts("acks 0, a wrong CRC", ((TOPIC, ((7, GOOD), (7, WRONG_CRC))),), acks=0),
    parts("acks 0, an unknown partition", ((TOPIC, ((99, GOOD), (7, GOOD))),), acks=0),
    parts("what partition 7 has then", ((TOPIC, ((7, GOOD),)),)),
)  # fmt: skip
BATCHES: Final = (*TOPICS, *ORDER, *FRAMES, *TIMES, *SEQUENCES, *MANY)
