"""Random messages as kio has them, and the same message as ours. No tests here."""

import dataclasses
import importlib
import random
import uuid
from datetime import UTC, datetime, timedelta
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from kraftproof.node.wire.records import batches
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.metadata import FeatureLevelRecord, NoOpRecord, TopicRecord
from kraftproof.node.wire.types import ZERO_UUID, Uuid

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INTEGERS = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint16": (0, 2**16 - 1),
}


def kio_class(api: str, version: int, part: str) -> Any:
    """kio's class for a message."""
    module = importlib.import_module(f"kio.schema.{api}.v{version}.{part}")
    return next(
        value
        for value in vars(module).values()
        if dataclasses.is_dataclass(value)
        and value.__module__ == module.__name__
        and value.__type__.name == part
    )


def random_kio(cls: Any, chance: random.Random, depth: int = 0, *, is_whole: bool = False) -> Any:
    """A random instance of one of kio's classes; fields have their default now and then.

    A whole instance has no default, no null and no empty array, so that its innermost fields are
    there.
    """
    values = {}
    for field in dataclasses.fields(cls):
        has_default = field.default is not dataclasses.MISSING and not is_whole
        if has_default and chance.random() < 0.25:
            values[field.name] = field.default
        else:
            values[field.name] = _value(field, field.type, chance, depth, is_whole=is_whole)
    return cls(**values)


def _value(field: Any, kind: Any, chance: random.Random, depth: int, *, is_whole: bool) -> Any:
    kafka_type = field.metadata.get("kafka_type")
    if get_origin(kind) is UnionType:
        tagged = field.metadata.get("tag") is not None
        if not tagged and not is_whole and chance.random() < 0.3:
            return None
        inner = next(arm for arm in get_args(kind) if arm is not NoneType)
        return _value(field, inner, chance, depth, is_whole=is_whole)
    if get_origin(kind) is tuple:
        element = get_args(kind)[0]
        count = chance.randrange(int(is_whole), 4 if depth < 2 else 2)
        return tuple(
            _value(field, element, chance, depth + 1, is_whole=is_whole) for _ in range(count)
        )
    if kafka_type is None:
        return random_kio(kind, chance, depth + 1, is_whole=is_whole)
    return _scalar(kafka_type, kind, chance)


def _scalar(kafka_type: str, kind: Any, chance: random.Random) -> Any:
    if kafka_type in INTEGERS:
        low, high = INTEGERS[kafka_type]
        return kind(chance.choice([0, -1 if low else 1, low, high, chance.randint(low, high)]))
    if kafka_type == "error_code":
        return chance.choice(list(kind))
    if kafka_type in {"timedelta_i32", "timedelta_i64"}:
        return timedelta(milliseconds=chance.randint(-(2**31), 2**31 - 1))
    if kafka_type == "datetime_i64":
        return EPOCH + timedelta(milliseconds=chance.randrange(2**42))
    if kafka_type == "uuid":
        return uuid.UUID(int=chance.getrandbits(128))
    if kafka_type == "string":
        return chance.choice(["", "a", "topic-é", "x" * 200])
    if kafka_type == "float64":
        return kind(chance.choice([0.0, -1.5, 1e300, chance.random()]))
    if kafka_type == "bool":
        return chance.random() < 0.5
    if kafka_type == "records":
        return kind(
            batches.encode_batches(random_batch(chance) for _ in range(chance.randrange(3)))
        )
    assert kafka_type == "bytes", kafka_type
    return chance.randbytes(chance.choice([0, 1, 130]))


def random_batch(chance: random.Random) -> Batch:
    """A small batch of metadata records."""
    records = [
        NoOpRecord(),
        TopicRecord(name="t", topic_id=Uuid(chance.randbytes(16))),
        FeatureLevelRecord(name="metadata.version", feature_level=21),
    ]
    return Batch(
        base_offset=chance.randrange(2**40),
        epoch=chance.randrange(2**31),
        timestamp_ms=chance.randrange(2**42),
        records=tuple(chance.choices(records, k=chance.randint(1, 4))),
    )


def to_ours(module: Any, cls: Any, instance: Any) -> Any:
    """The same message as an instance of `cls`, whose parts are in the generated `module`."""
    values = {}
    for field in dataclasses.fields(instance):
        kafka_type = field.metadata.get("kafka_type")
        name = field.name.removesuffix("_")
        if kafka_type in {"timedelta_i32", "timedelta_i64", "datetime_i64"}:
            name += "_ms"
        values[name] = _plain(module, kafka_type, field.type, getattr(instance, field.name))
    return cls(**values)


def _plain(module: Any, kafka_type: str | None, kind: Any, value: Any) -> Any:
    if isinstance(value, tuple):
        element = next(get_args(arm)[0] for arm in (kind, *get_args(kind)) if is_array(arm))
        return tuple(_plain(module, kafka_type, element, item) for item in value)
    if value is None:
        arms = (kind, *get_args(kind))
        if kafka_type == "datetime_i64":
            return -1
        return ZERO_UUID if kafka_type == "uuid" and not any(map(is_array, arms)) else None
    if dataclasses.is_dataclass(value):
        return to_ours(module, getattr(module, type(value).__name__), value)
    if kafka_type == "uuid":
        return Uuid(value.bytes)
    if kafka_type == "error_code":
        return value.value
    if kafka_type in {"timedelta_i32", "timedelta_i64"}:
        return value // timedelta(milliseconds=1)
    if kafka_type == "datetime_i64":
        return (value - EPOCH) // timedelta(milliseconds=1)
    return value


def is_array(kind: Any) -> bool:
    """Whether an annotation is that of an array."""
    return get_origin(kind) is tuple
