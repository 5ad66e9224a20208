"""Reads a history, one JSON event a line, into operations.

The form is that of tests/histories/README.md with `time` (ns, monotonic), `node` and `error`; a
file whose name ends in .gz is unpacked as it is read. The reader streams: it holds open operations
only. It does not know models or judge values; it refuses, in one line that names file, line and
field, what is no history at all. An empty file is an empty history.

What the tables can't hold is refused too: an index, process or time beyond 64 bits, and values
nested deeper than the decoder goes.
"""

import gzip
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from checkers.verdict import CheckerInputError

EventType = Literal["invoke", "ok", "fail", "info"]
Int64 = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]


class HistoryError(CheckerInputError):
    """A history that can't be read; the message is one line."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a history."""

    index: Int64
    process: Int64
    type: EventType
    f: str
    key: object = None
    value: object = None
    time: Int64 | None = None
    node: int | str | None = None
    error: object = None


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """An invocation with its completion; `input` and `output` are the values of the two events."""

    index: int
    process: int
    f: str
    key: str
    input: object
    output: object = None
    status: str = "info"
    invoke_time: int | None = None
    complete_time: int | None = None
    invoke_index: int
    complete_index: int | None = None
    node: str | None = None
    error: str | None = None


Validator = Callable[[Operation], None]
"""Raises ValueError, naming the field, if a model can't read the operation."""


def read_operations(path: Path, validate: Validator | None = None) -> list[Operation]:
    """Returns all operations of a history in the order of their invocations."""
    return sorted(iterate_operations(path, validate), key=lambda operation: operation.index)


def iterate_operations(path: Path, validate: Validator | None = None) -> Iterator[Operation]:
    """Yields each operation as it completes, and at the end those that never did."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
            yield from _pair(path, lines, validate)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise HistoryError(f"{path}: can't be read: {reason}") from error


def _pair(path: Path, lines: Iterable[bytes], validate: Validator | None) -> Iterator[Operation]:
    decoder = msgspec.json.Decoder(Event)
    open_operations: dict[int, tuple[Operation, int]] = {}
    last_index, invocations = -1, 0
    for number, raw in enumerate(lines, start=1):
        line = raw.removeprefix(BOM_UTF8).strip() if number == 1 else raw.strip()
        if not line:
            continue
        event = _decode(path, number, line, decoder)
        if event.index <= last_index:
            raise _error(path, number, "index", f"{event.index} does not follow {last_index}")
        last_index = event.index
        opened = open_operations.get(event.process)
        if event.type == "invoke":
            if opened is not None:
                raise _error(path, number, "process", _still_open(event, opened))
            open_operations[event.process] = (_invoked(event, invocations), number)
            invocations += 1
            continue
        if opened is None:
            problem = f"process {event.process} completes an operation that it did not invoke"
            raise _error(path, number, "process", problem)
        _require_time_forward(path, number, opened[0], event)
        operation = _completed(path, number, opened[0], event)
        _validate(path, number, operation, validate)
        del open_operations[event.process]
        yield operation
    for operation, number in open_operations.values():
        _validate(path, number, operation, validate)
        yield operation


def _decode(path: Path, number: int, line: bytes, decoder: msgspec.json.Decoder[Event]) -> Event:
    try:
        return decoder.decode(line)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$.")
        raise HistoryError(_located(path, number, place.rstrip("`"), problem)) from error
    except RecursionError as error:
        raise _error(path, number, "value", "nested too deep") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise HistoryError(f"{path}:{number}: not a JSON event: {error}") from error


def _located(path: Path, number: int, field: str, problem: str) -> str:
    where = f"{path}:{number}"
    return f"{where}: field {field}: {problem}" if field else f"{where}: {problem}"


def _error(path: Path, number: int, field: str, problem: str) -> HistoryError:
    return HistoryError(_located(path, number, field, problem))


def _require_time_forward(path: Path, number: int, opened: Operation, event: Event) -> None:
    if event.time is None or opened.invoke_time is None:
        return
    if event.time < opened.invoke_time:
        problem = f"{event.time} is before the operation was invoked, at {opened.invoke_time}"
        raise _error(path, number, "time", problem)


def _still_open(event: Event, opened: tuple[Operation, int]) -> str:
    pending, line = opened
    return f"process {event.process} invokes {event.f}, but its {pending.f} of line {line} is open"


def _invoked(event: Event, invocations: int) -> Operation:
    return Operation(
        index=invocations,
        process=event.process,
        f=event.f,
        key=as_text(event.key),
        input=event.value,
        invoke_time=event.time,
        invoke_index=event.index,
        node=None if event.node is None else str(event.node),
    )


def _completed(path: Path, number: int, operation: Operation, event: Event) -> Operation:
    if event.f != operation.f:
        raise _error(path, number, "f", f"{event.f} completes what was invoked as {operation.f}")
    return msgspec.structs.replace(
        operation,
        output=event.value,
        status=event.type,
        complete_time=event.time,
        complete_index=event.index,
        node=operation.node if event.node is None else str(event.node),
        error=None if event.error is None else as_text(event.error),
    )


def _validate(path: Path, number: int, operation: Operation, validate: Validator | None) -> None:
    if validate is None:
        return
    try:
        validate(operation)
    except ValueError as error:
        raise HistoryError(f"{path}:{number}: {error}") from error


def as_text(value: object) -> str:
    """Returns text as it stands, anything else as JSON."""
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value, order="sorted").decode()
