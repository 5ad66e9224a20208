"""Answers as comparable values, and the fields in which two of them differ. No tests here.

What every start draws anew (ids, epochs, ports, offsets) is replaced by a word, and so are texts
for people: only whether there is one is compared. Lists of named parts become tables by name, and
other lists are sorted, since Kafka shuffles some of its answers (DeleteTopics).
"""

from typing import Any, Final

import msgspec

from kraftproof.node.wire.schema import Entity
from kraftproof.node.wire.types import ZERO_UUID

Flat = dict[str, object]
ABSENT: Final = "(absent)"

_TEXTS: Final = frozenset(
    {
        "batch_index_error_message",
        "documentation",
        "error_message",
        "topic_config_error_message",
    }
)
_DRAWN_IDS: Final = frozenset(
    {"topic_id", "replica_directory_id", "directory_id", "incarnation_id"}
)
_DRAWN_NUMBERS: Final = frozenset(
    {
        "broker_epoch",
        "controller_id",
        "finalized_features_epoch",
        "high_watermark",
        "last_caught_up_timestamp",
        "last_fetch_timestamp",
        "leader_epoch",
        "log_end_offset",
        "port",
    }
)
_NAMES: Final = (
    "api_key", "topic_name", "topic", "name", "resource_name", "partition_index",
    "partition", "broker_id", "node_id", "replica_id", "index",
)  # fmt: skip
"""The fields by which a list is turned into a table, the first that tells all parts apart."""


def flatten(answer: Entity | str, drawn: frozenset[str]) -> Flat:
    """Return each field of an answer by its path, without what was `drawn`."""
    if isinstance(answer, str):
        return {"": answer}
    flat: Flat = {}
    _flatten(answer, "", flat)
    return {path: value for path, value in flat.items() if path.rpartition(".")[2] not in drawn}


def differences(
    ours: Entity | str, real: Entity | str, drawn: frozenset[str] = frozenset()
) -> dict[str, tuple[object, object]]:
    """Return the paths at which the answers differ, with both values."""
    a, b = flatten(ours, drawn), flatten(real, drawn)
    return {
        path: (a.get(path, ABSENT), b.get(path, ABSENT))
        for path in sorted(a.keys() | b.keys())
        if a.get(path, ABSENT) != b.get(path, ABSENT)
    }


def _flatten(value: Any, path: str, flat: Flat) -> None:
    if isinstance(value, Entity):
        for field in msgspec.structs.fields(type(value)):
            inner = getattr(value, field.name)
            _flatten(_plain(field.name, inner), _join(path, field.name), flat)
    elif isinstance(value, tuple) and value and isinstance(value[0], Entity):
        flat[f"{path}.length"] = len(value)
        for key, part in _table(value).items():
            _flatten(part, f"{path}[{key}]", flat)
    else:
        flat[path] = value


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _table(parts: tuple[Any, ...]) -> dict[object, Any]:
    for name in _NAMES:
        keys = [getattr(part, name, None) for part in parts]
        if any(key is not None for key in keys) and len(set(keys)) == len(keys):
            return dict(zip(keys, parts, strict=True))
    return dict(enumerate(sorted(parts, key=_fields)))


def _fields(part: Any) -> str:
    """Return what a part says, for the order of parts that no name tells apart."""
    flat: Flat = {}
    _flatten(part, "", flat)
    return repr(flat)


def _plain(name: str, value: Any) -> Any:
    if name in _TEXTS:
        return "a text" if value else "no text"
    if name in _DRAWN_IDS:
        return "no id" if value == ZERO_UUID else "an id"
    if name in _DRAWN_NUMBERS and isinstance(value, int):
        return value if value < 0 else "a number"
    return value
