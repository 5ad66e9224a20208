"""The JSON forms of operations on a partition, one partition a key.

- `create`, `delete`: any value; no rule reads these. A partition is read to its end before its
  topic is deleted.
- `send`: {"value": "3.17@k3f9", "acks": -1, "idempotent": true}; answers {"offset": 12}, or null
  instead of the offset for acks=0. In a value of this form, 3 is the producer session, 17 the
  number of the send in the session, and k3f9 the run. Any other JSON value is allowed, too.
- `assign`: {"position": 12}; a reader begins to read there.
- `poll`: {"position": 12}; answers {"records": [[12, VALUE], ...], "log_start": 0, "end": 20},
  where `end` is the high watermark. The position is null if the reader's library keeps it.
- `final`: like `poll`, of the leader after the faults; a position of null is the log's beginning.
"""

from typing import Annotated, Any, Final, Literal

import msgspec

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.text import as_json

UNREAD: Final = frozenset({"create", "delete"})
"""Functions whose values no rule reads."""
FUNCTIONS: Final = UNREAD | {"send", "poll", "assign", "final"}
READING: Final = frozenset({"poll", "final"})
Offset = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]


class Send(msgspec.Struct, frozen=True, kw_only=True):
    """The input of `send`."""

    value: Any
    acks: Literal[-1, 0, 1] = -1
    idempotent: bool = False
    padding: int = 0
    """Bytes that the client adds to the record."""


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `send`."""

    offset: Offset | None


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """The input of `assign`, `poll` and `final`."""

    position: Offset | None


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `poll` and `final`."""

    records: list[tuple[Offset, Any]]
    log_start: Offset | None = None
    end: Offset | None = None


_EXPECTED: Final = {
    "send": '{"value": any, "acks": -1, 0 or 1, "idempotent": true or false}',
    "assign": '{"position": offset or null}',
    "poll": '{"position": offset or null}',
    "final": '{"position": offset or null}',
}
_ANSWERED: Final = {
    "send": '{"offset": offset or null}',
    "poll": '{"records": [[offset, value], ...], "log_start": offset, "end": offset}',
    "final": '{"records": [[offset, value], ...], "log_start": offset, "end": offset}',
}


def require_form(operation: Operation) -> None:
    """Raise ValueError, naming the field, if an operation on a partition has another form."""
    f = operation.f
    if f in UNREAD:
        return
    asked: type[msgspec.Struct] = Send if f == "send" else Position
    _require(f, "takes", operation.input, asked, _EXPECTED[f])
    if operation.status == "ok" and f != "assign":
        told: type[msgspec.Struct] = Sent if f == "send" else Received
        _require(f, "answers", operation.output, told, _ANSWERED[f])


def _require(f: str, verb: str, value: object, wanted: type[msgspec.Struct], expected: str) -> None:
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError as error:
        raise ValueError(
            f"field value: {f} {verb} {expected}, not {as_json(value)}: {error}"
        ) from None
