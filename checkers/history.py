"""Reads a history, one JSON event a line, into operations.

The form is that of tests/histories/README.md with `time` (ns, monotonic), `node` and `error`; a
file whose name ends in .gz is unpacked as it is read. The reader streams: it holds open operations
and the distinct keys only. It does not know models or judge values; it refuses, in one line that
names file, line and field, what is no history at all. An empty file is an empty history.

What the tables can't hold is refused too: an index, process or time beyond 64 bits, values
nested deeper than the decoder goes, lines longer than MAX_LINE_BYTES, and keys that would have one
text, such as 1 and "1". Long files are read by `checkers.reading`, which leaves to this reader
whatever is not plain.
"""

import gzip
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Annotated, Final, Literal, Protocol

import msgspec

from checkers.text import shortened
from checkers.verdict import CheckerInputError

EventType = Literal["invoke", "ok", "fail", "info"]
Int64 = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
EventIndex = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 2)]
"""The last number of 64 bits stands for no event (`checkers.columns.NEVER`)."""

MAX_LINE_BYTES: Final = 64 << 20
"""A longer line is refused: an archive of a few bytes may hold one without an end."""

NumberedLine = tuple[int, bytes]
"""A line's number, from 1, and its text without white space around it."""


class SupportsReadline(Protocol):
    """A file that can be read line by line."""

    def readline(self, limit: int, /) -> bytes:
        """Returns the next line, or its first `limit` bytes; nothing at the end."""
        ...


class HistoryError(CheckerInputError):
    """A history that can't be read; the message is one line."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a history."""

    index: EventIndex
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


LONGEST_REFUSAL: Final = 600
"""Characters of a refusal, whoever wrote it; a model of a user's may quote a whole value."""

Validator = Callable[[Operation], None]
"""Raises ValueError, naming the field, if a model can't read the operation."""


def read_operations(path: Path, validate: Validator | None = None) -> list[Operation]:
    """Returns all operations of a history in the order of their invocations."""
    return sorted(iterate_operations(path, validate), key=lambda operation: operation.index)


def iterate_operations(path: Path, validate: Validator | None = None) -> Iterator[Operation]:
    """Yields each operation as it completes, and at the end those that never did."""
    with open_lines(path) as lines:
        yield from pair(path, _json_events(path, lines), validate)


@contextmanager
def open_lines(path: Path) -> Iterator[Iterator[NumberedLine]]:
    """Opens a file, unpacks it if its name ends in .gz, and gives its lines that are not blank.

    Raises:
        HistoryError: the file can't be read, or a line is longer than MAX_LINE_BYTES.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            if path.suffix == ".gz" and path.stat().st_size == 0:
                raise HistoryError(f"{path}: can't be read: an archive without a byte")
            yield _numbered(path, file)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise HistoryError(f"{path}: can't be read: {reason}") from error


def _numbered(path: Path, file: SupportsReadline) -> Iterator[NumberedLine]:
    for number in count(start=1):
        line = file.readline(MAX_LINE_BYTES + 1)
        if len(line) > MAX_LINE_BYTES:
            raise HistoryError(f"{path}:{number}: a line longer than {MAX_LINE_BYTES} bytes")
        if not line:
            return
        stripped = line.removeprefix(BOM_UTF8).strip() if number == 1 else line.strip()
        if stripped:
            yield number, stripped


def _json_events(path: Path, lines: Iterable[NumberedLine]) -> Iterator[tuple[int, Event]]:
    decoder = msgspec.json.Decoder(Event)
    for number, line in lines:
        yield number, _decode(path, number, line, decoder)


def pair(
    path: Path, events: Iterable[tuple[int, Event]], validate: Validator | None = None
) -> Iterator[Operation]:
    """Yields the operations of events, each given with its line, as `iterate_operations` does.

    Raises:
        HistoryError: an event can't follow those before it, or `validate` refuses an operation.
    """
    open_operations: dict[int, tuple[Operation, int]] = {}
    is_text: dict[str, bool] = {}
    last_index, invocations = -1, 0
    for number, event in events:
        if event.index <= last_index:
            raise _error(path, number, "index", f"{event.index} does not follow {last_index}")
        last_index = event.index
        opened = open_operations.get(event.process)
        if event.type == "invoke":
            if opened is not None:
                raise _error(path, number, "process", _still_open(event, opened))
            invoked = _invoked(event, invocations)
            kind = isinstance(event.key, str)
            if is_text.setdefault(invoked.key, kind) != kind:
                raise _error(path, number, "key", _same_text(invoked.key))
            open_operations[event.process] = (invoked, number)
            invocations += 1
            continue
        if opened is None:
            problem = f"process {event.process} completes an operation that it did not invoke"
            raise _error(path, number, "process", problem)
        _require_time_forward(path, number, opened[0], event)
        operation = _completed(path, number, opened[0], event)
        del open_operations[event.process]
        yield validated(f"{path}:{number}", operation, validate)
    for operation, number in open_operations.values():
        yield validated(f"{path}:{number}", operation, validate)


def _decode(path: Path, number: int, line: bytes, decoder: msgspec.json.Decoder[Event]) -> Event:
    try:
        return decoder.decode(line)
    except msgspec.ValidationError as error:
        raise refused_event(path, number, error) from error
    except RecursionError as error:
        raise _error(path, number, "value", "nested too deep") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise HistoryError(f"{path}:{number}: not a JSON event: {error}") from error


def refused_event(path: Path, number: int, error: msgspec.ValidationError) -> HistoryError:
    """Returns the error for an event that lacks a field or has one of another type."""
    problem, _, place = str(error).partition(" - at `$.")
    return HistoryError(_located(path, number, place.rstrip("`"), problem))


def _located(path: Path, number: int, field: str, problem: str) -> str:
    where = f"{path}:{number}"
    said = shortened(problem, LONGEST_REFUSAL)
    return f"{where}: field {shortened(field)}: {said}" if field else f"{where}: {said}"


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
    open_one = f"its {shortened(pending.f)} of line {line} is open"
    return f"process {event.process} invokes {shortened(event.f)}, but {open_one}"


def _same_text(key: str) -> str:
    quoted = msgspec.json.encode(key).decode()
    return f"{shortened(key)} and {shortened(quoted)} are both keys here, and can't be told apart"


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
        raise _error(
            path,
            number,
            "f",
            f"{shortened(event.f)} completes what was invoked as {shortened(operation.f)}",
        )
    if event.key is not None and as_text(event.key) != operation.key:
        told, invoked = shortened(as_text(event.key)), shortened(operation.key)
        problem = f"{told} completes what was invoked under {invoked}"
        raise _error(path, number, "key", problem)
    return msgspec.structs.replace(
        operation,
        output=event.value,
        status=event.type,
        complete_time=event.time,
        complete_index=event.index,
        node=operation.node if event.node is None else str(event.node),
        error=None if event.error is None else as_text(event.error),
    )


def validated(place: str, operation: Operation, validate: Validator | None) -> Operation:
    """Returns the operation, or raises a HistoryError that begins with its place."""
    if validate is not None:
        try:
            validate(operation)
        except ValueError as error:
            raise HistoryError(f"{place}: {shortened(str(error), LONGEST_REFUSAL)}") from error
    return operation


def as_text(value: object) -> str:
    """Returns text as it stands, anything else as JSON."""
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value, order="sorted").decode()
