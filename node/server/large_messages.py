"""Tell large messages from small ones: threads encode and decode the large ones.

A message of a few thousand parts takes longer than the event loop may be busy with one request.
"""

from types import NoneType, UnionType
from typing import Any, Final, NewType, Union, get_args, get_origin

import msgspec

from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.schema import Message

LARGE_BYTES: Final = 100_000
"""Minimum size of a frame that a thread decodes, in bytes: about 10 ms of work."""
LARGE_PARTS: Final = 3_000
"""Minimum number of parts of a message that a thread encodes: about 10 ms of work."""
_PLAIN: Final = frozenset({bool, int, float, str, bytes, NoneType})
"""The types of fields without parts."""
_HOLDERS: Final[dict[type, tuple[str, ...]]] = {}
"""The fields of each class that may hold parts: a look at annotations for each message is slow."""


def is_large(message: Message) -> bool:
    """Return whether the message has many parts: entries of arrays, records without bytes."""
    return parts_of(message, LARGE_PARTS) >= LARGE_PARTS


def parts_of(message: Message, most: int = 1 << 31) -> int:
    """Return the number of parts; the count ends soon after `most`."""
    return most - _parts_left(message, most)


def _parts_left(value: object, left: int) -> int:
    """Return `left` less the parts of a value; the count ends at 0."""
    if isinstance(value, tuple):
        left -= len(value)
        if value and (isinstance(value[0], tuple) or _holders(type(value[0]))):
            for part in value:
                if left <= 0:
                    break
                left = _parts_left(part, left)
    elif isinstance(value, Batch):
        left -= len(value.records) if value.received is None else 1
    else:
        for name in _holders(type(value)):
            if left <= 0:
                break
            left = _parts_left(getattr(value, name), left)
    return left


def _holders(kind: type) -> tuple[str, ...]:
    """Return the fields of a class that may hold parts; no field for a class that is no message."""
    found = _HOLDERS.get(kind)
    if found is None:
        fields = msgspec.structs.fields(kind) if issubclass(kind, msgspec.Struct) else ()
        found = tuple(field.name for field in fields if _may_hold(field.type))
        _HOLDERS[kind] = found
    return found


def _may_hold(annotation: Any) -> bool:  # noqa: ANN401 - whatever a field is annotated with
    """Return whether a value of a type may have parts."""
    if isinstance(annotation, NewType):
        return _may_hold(annotation.__supertype__)
    if get_origin(annotation) in {Union, UnionType}:
        return any(map(_may_hold, get_args(annotation)))
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return annotation is Batch or bool(_holders(annotation))
    return annotation not in _PLAIN
