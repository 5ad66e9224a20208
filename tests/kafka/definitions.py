"""Kafka's own message definitions, read from its jars, and bytes made straight from them.

What it is: an interpreter of the JSON (versions, tags, nulls, defaults) that shares nothing with
our generator, so that its bytes can judge our codec. What it is not: a codec; it only writes.
"""

import json
import re
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

JARS = ("kafka-clients", "kafka-metadata", "kafka-raft")
FIXED = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
}
NO_VERSION = range(0)
UNBOUNDED = 1 << 15
Values = dict[str, Any]


def versions(text: str) -> range:
    """`none`, `3`, `1-4` or `2+` as a range."""
    if text == "none":
        return NO_VERSION
    first, dash, last = text.removesuffix("+").partition("-")
    if text.endswith("+"):
        return range(int(first), UNBOUNDED)
    return range(int(first), int(last if dash else first) + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a definition."""

    name: str
    kind: str
    is_array: bool
    versions: range
    nullable: range
    tagged: range
    tag: int
    default: Any
    ignorable: bool
    fields: tuple["Field", ...] | None

    def is_default(self, value: Any) -> bool:
        if self.fields is not None and not self.is_array and value is not None:
            return all(field.is_default(value[field.name]) for field in self.fields)
        return value == self.default


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A message: a request, a response, a record or plain data."""

    name: str
    api_key: int | None
    versions: range
    flexible: range
    fields: tuple[Field, ...]


def read_definitions(jars: Path) -> dict[str, Definition]:
    """All definitions of Kafka's jars, by name."""
    found = {}
    for jar in JARS:
        (path,) = jars.glob(f"{jar}-[0-9]*.jar")
        with zipfile.ZipFile(path) as archive:
            for entry in archive.namelist():
                if re.fullmatch(r"common/(message|metadata)/\w+\.json", entry):
                    definition = _definition(archive.read(entry).decode())
                    found[definition.name] = definition
    return found


def _definition(text: str) -> Definition:
    data = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    common = {entry["name"]: entry["fields"] for entry in data.get("commonStructs", ())}
    return Definition(
        name=data["name"],
        api_key=data.get("apiKey"),
        versions=versions(data["validVersions"]),
        flexible=versions(data.get("flexibleVersions", "none")),
        fields=_fields(data.get("fields", []), common),
    )


def _fields(entries: list[Values], common: Mapping[str, list[Values]]) -> tuple[Field, ...]:
    return tuple(_field(entry, common) for entry in entries)


def _field(entry: Values, common: Mapping[str, list[Values]]) -> Field:
    kind = entry["type"].removeprefix("[]")
    is_array = entry["type"].startswith("[]")
    inner = entry.get("fields", common.get(kind))
    fields = None if inner is None else _fields(inner, common)
    return Field(
        name=entry["name"],
        kind=kind,
        is_array=is_array,
        versions=versions(entry["versions"]),
        nullable=versions(entry.get("nullableVersions", "none")),
        tagged=versions(entry.get("taggedVersions", "none")),
        tag=entry.get("tag", -1),
        default=_default(entry, kind, is_array, fields),
        ignorable=entry.get("ignorable", False),
        fields=fields,
    )


def _default(entry: Values, kind: str, is_array: bool, fields: tuple[Field, ...] | None) -> Any:
    text = entry.get("default")
    # Kafka's own default of a nullable string is empty; ours is null. Unless it is a tagged field,
    # no byte depends on it.
    is_free = kind == "string" and "nullableVersions" in entry and "taggedVersions" not in entry
    if text == "null" or (text is None and is_free and not is_array):
        return None
    if is_array:
        return []
    if fields is not None:
        return {field.name: field.default for field in fields}
    if kind == "bool":
        return str(text).lower() == "true"
    if kind == "float64":
        return float(text or 0)
    if kind in FIXED:
        return int(str(text or 0), 0)
    return {"string": text or "", "uuid": bytes(16)}.get(kind, b"")


def random_values(fields: tuple[Field, ...], version: int, chance: Random) -> Values:
    """A value for each field; those that the version lacks keep their default."""
    return {field.name: random_value(field, version, chance) for field in fields}


def random_value(field: Field, version: int, chance: Random) -> Any:
    if version not in field.versions:
        return field.default
    if chance.random() < 0.2 and (field.default is not None or version in field.nullable):
        return field.default
    if version in field.nullable and chance.random() < 0.3:
        return None
    if field.is_array:
        return [_random_item(field, version, chance) for _ in range(chance.randrange(3))]
    return _random_item(field, version, chance)


def _random_item(field: Field, version: int, chance: Random) -> Any:
    if field.fields is not None:
        return random_values(field.fields, version, chance)
    if field.kind == "bool":
        return chance.random() < 0.5
    if field.kind == "float64":
        return chance.uniform(-1e9, 1e9)
    if field.kind in FIXED:
        size = struct.calcsize(FIXED[field.kind])
        return struct.unpack(FIXED[field.kind], chance.randbytes(size))[0]
    if field.kind == "string":
        return chance.choice(["a", "topic-é", "x" * 200])
    if field.kind == "uuid":
        return chance.randbytes(16)
    return chance.randbytes(chance.choice([1, 130])) if field.kind == "bytes" else b""


def encode(definition: Definition, version: int, values: Values) -> bytes:
    """The bytes of a message in one version."""
    return _struct(definition.fields, values, version, version in definition.flexible)


def _struct(fields: tuple[Field, ...], values: Values, version: int, flexible: bool) -> bytes:
    out, tags = b"", {}
    for field in fields:
        value = values[field.name]
        if version not in field.versions:
            continue
        content = _content(field, value, version, flexible)
        if version not in field.tagged:
            out += content
        elif not field.is_default(value):
            tags[field.tag] = content
    if flexible:
        out += _uvarint(len(tags))
        for tag, content in sorted(tags.items()):
            out += _uvarint(tag) + _uvarint(len(content)) + content
    return out


def _content(field: Field, value: Any, version: int, flexible: bool) -> bytes:
    if field.is_array:
        head = _length(None if value is None else len(value), flexible, ">i")
        return head + b"".join(_item(field, item, version, flexible) for item in value or ())
    if field.fields is not None and version in field.nullable:
        mark = b"\xff" if value is None else b"\x01"
        return mark + (b"" if value is None else _item(field, value, version, flexible))
    return _item(field, value, version, flexible)


def _item(field: Field, value: Any, version: int, flexible: bool) -> bytes:
    if field.fields is not None:
        return _struct(field.fields, value, version, flexible)
    if field.kind in FIXED:
        return struct.pack(f">{FIXED[field.kind]}", value)
    if field.kind == "uuid":
        return bytes(value)
    data = value.encode() if isinstance(value, str) else value
    size = _length(None if data is None else len(data), flexible, _SIZES[field.kind])
    return size + (data or b"")


_SIZES = {"string": ">h", "bytes": ">i", "records": ">i"}


def _length(count: int | None, flexible: bool, fixed: str) -> bytes:
    if flexible:
        return _uvarint(0 if count is None else count + 1)
    return struct.pack(fixed, -1 if count is None else count)


def _uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
