"""Messages that nobody in their right mind would send, drawn from a seed. No tests here."""

import random
import types
import typing
from functools import cache
from typing import Any

from kraftproof.node.wire.codec import (
    REQUESTS,
    RESPONSES,
    SUPPORTED,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.generated.fetch_response import EpochEndOffset
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.control import LeaderChange, SnapshotHeader
from kraftproof.node.wire.records.metadata import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    NoOpRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kraftproof.node.wire.types import Uuid

NUMBERS = (-(2**31), -2, -1, 0, 0, 0, 1, 1, 2, 3, 5, 41, 104, 2**31 - 1)
LARGE_NUMBERS = (*NUMBERS, -(2**63), 2**63 - 1)
NAMES = ("", "a", "__cluster_metadata", "cluster", "\U0001f512", "x" * 300)
UUIDS = (bytes(16), (1).to_bytes(16, "big"), bytes([9]) * 16)
LIKELY = {
    "error_code": (0,),
    "partition_index": (0,),
    "partition": (0,),
    "index": (0,),
    "topic_name": ("__cluster_metadata",),
    "name": ("__cluster_metadata", "a"),
    "topic": ("__cluster_metadata",),
    "topic_id": ((1).to_bytes(16, "big"),),
    "cluster_id": ("cluster",),
    "leader_id": (1, 2, 3),
    "replica_id": (1, 2, 3),
    "voter_id": (-1, 1, 2, 3),
    "leader_epoch": (0, 1, 2, 3, 4),
    "current_leader_epoch": (0, 1, 2, 3, 4),
    "replica_epoch": (1, 2, 3, 4),
    "epoch": (0, 1, 2),
    "end_offset": (0, 1, 2, 3, 4),
    "vote_granted": (True,),
    "high_watermark": (-1, 0, 1, 2),
    "diverging_epoch": (EpochEndOffset(),),
    "size": (4,),
    "position": (0,),
    "unaligned_records": (b"abcd",),
}
"""What belongs to the conversation of a young quorum of nodes 1 to 3."""
RECORDS = (
    NoOpRecord(),
    TopicRecord(name="a", topic_id=Uuid(bytes([9]) * 16)),
    RemoveTopicRecord(topic_id=Uuid(bytes([8]) * 16)),
    BeginTransactionRecord(),
    EndTransactionRecord(),
    AbortTransactionRecord(),
)


def requests() -> list[tuple[int, int]]:
    """Every request type of our codec in every version."""
    return [
        (key, version)
        for key, (oldest, newest) in SUPPORTED.items()
        for version in range(oldest, newest + 1)
    ]


def random_request(key: int, version: int, chance: random.Random) -> Message:
    """A request that the version can carry."""
    while True:
        message = random_struct(REQUESTS[key].message, chance)
        try:
            return decode_request(key, version, encode_request(message, version))
        except WireError:
            continue


def random_answer(key: int, version: int, chance: random.Random) -> Message:
    """An answer that the version can carry."""
    while True:
        message = random_struct(RESPONSES[key].message, chance)
        try:
            return decode_response(key, version, encode_response(message, version))
        except WireError:
            continue


def random_struct(kind: Any, chance: random.Random) -> Any:
    """An instance of a message or of a part of one; many fields keep their defaults."""
    hints = _hints(kind)
    return kind(
        **{
            name: _field(name, hints[name], chance)
            for name in kind.__struct_fields__
            if chance.random() < 0.8
        }
    )


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _field(name: str, hint: Any, chance: random.Random) -> Any:
    """Most values fit the conversation, so that a node comes to look at the one that does not."""
    likely = LIKELY.get(name)
    if likely is not None and chance.random() < 0.8:
        return chance.choice(likely)
    return _value(hint, chance)


def _value(hint: Any, chance: random.Random) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {types.UnionType, typing.Union}:
        return None if chance.random() < 0.3 else _value(arguments[0], chance)
    if hint == tuple[Batch, ...]:
        return tuple(random_batch(chance) for _ in range(chance.randrange(3)))
    if origin is tuple:
        return tuple(_value(arguments[0], chance) for _ in range(chance.choice((0, 1, 1, 1, 2))))
    if hint is bool:
        return chance.random() < 0.5
    if hint is int:
        return chance.choice(LARGE_NUMBERS if chance.random() < 0.2 else NUMBERS)
    if hint is float:
        return chance.choice((0.0, -1.5, 1024.0, 1e300, float("nan")))
    if hint is str:
        return chance.choice(NAMES)
    if hint is bytes:
        return chance.randbytes(chance.randrange(40))
    if getattr(hint, "__supertype__", None) is bytes:
        return Uuid(chance.choice(UUIDS))
    return random_struct(hint, chance)


def random_batch(chance: random.Random) -> Batch:
    """A batch that may or may not go where a log of a few records ends."""
    is_control = chance.random() < 0.3
    control = (LeaderChange(leader_id=2), SnapshotHeader())
    records = (chance.choice(control),) if is_control else (chance.choice(RECORDS),)
    return Batch(
        base_offset=chance.choice((0, 0, 1, 2, 3, 2**62)),
        epoch=chance.choice((0, 1, 1, 2, 3, 2**31 - 1)),
        timestamp_ms=0,
        is_control=is_control,
        records=records,
    )
