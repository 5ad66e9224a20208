"""Reads a history, one JSON event a line, into operations.

The form is that of tests/histories/README.md with `time` (ns, monotonic), `node` and `error`; a
JSON array of events is read, too. A packed file is unpacked as it is read
(`checkers.history.unpacking`). The reader streams: it holds open operations and the distinct keys
only; an array is read whole. What the process `nemesis` does is left out. The reader does not know
models or judge values; an input that is no history is refused in one line with file, line and
field. An empty file is an empty history.

What the tables can't hold is refused too: an index, process or time beyond 64 bits, values nested
deeper than the decoder goes, lines longer than MAX_LINE_BYTES, and keys that would have one text,
such as 1 and "1". Long files are read by `checkers.history.read`, which leaves unusual files to
this reader.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from kraftproof.checkers.history.lines import HistoryError, NumberedLine, each_value, open_lines
from kraftproof.checkers.text import shortened

EventType = Literal["invoke", "ok", "fail", "info"]
Int64 = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
EventIndex = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 2)]
"""The last number of 64 bits stands for no event (`checkers.history.columns.NEVER`)."""

NEMESIS: Final = frozenset({"nemesis", ":nemesis"})
"""The process of actions on the system, such as faults, which are not operations."""


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


class _Doer(msgspec.Struct, frozen=True):
    process: str


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
"""Maximum number of characters of a refusal; a user's model may quote a whole value."""

Validator = Callable[[Operation], None]
"""Raises ValueError, naming the field, if a model can't read the operation."""


def read_operations(path: Path, validate: Validator | None = None) -> list[Operation]:
    """Return all operations of a history in the order of their invocations."""
    return sorted(iterate_operations(path, validate), key=lambda operation: operation.index)


def iterate_operations(path: Path, validate: Validator | None = None) -> Iterator[Operation]:
    """Yield each operation at its completion, and incomplete operations at the end."""
    with open_lines(path) as lines:
        yield from pair(path, _json_events(path, lines), validate)


def _json_events(path: Path, lines: Iterable[NumberedLine]) -> Iterator[tuple[int, Event]]:
    decoder = msgspec.json.Decoder(Event)
    for number, line in each_value(path, iter(lines)):
        event = _decode(path, number, line, decoder)
        if event is not None:
            yield number, event


def pair(
    path: Path, events: Iterable[tuple[int | str, Event]], validate: Validator | None = None
) -> Iterator[Operation]:
    """Yield the operations of events, each given with its line, as `iterate_operations` does.

    A place that is a text, such as " row 3", stands for a line.

    Raises:
        HistoryError: an event can't follow those before it, or `validate` refuses an operation.
    """
    open_operations: dict[int, tuple[Operation, int | str]] = {}
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
                raise _error(path, number, "key", same_text(invoked.key))
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


def _decode(
    path: Path, number: int, line: bytes, decoder: msgspec.json.Decoder[Event]
) -> Event | None:
    """Return the event of a line; None for an event of the nemesis."""
    try:
        return decoder.decode(line)
    except msgspec.ValidationError as error:
        if _is_of_nemesis(line):
            return None
        raise refused_event(path, number, error) from error
    except RecursionError as error:
        raise _error(path, number, "value", "nested too deep") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise HistoryError(f"{path}:{number}: not a JSON event: {error}") from error


def _is_of_nemesis(line: bytes) -> bool:
    try:
        return msgspec.json.decode(line, type=_Doer).process in NEMESIS
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False


def refused_event(path: Path, number: int | str, error: msgspec.ValidationError) -> HistoryError:
    """Return the error for an event that lacks a field or has one of another type."""
    problem, _, place = str(error).partition(" - at `$.")
    return HistoryError(_located(path, number, place.rstrip("`"), problem))


def _located(path: Path, number: int | str, field: str, problem: str) -> str:
    where = f"{path}:{number}"
    said = shortened(problem, LONGEST_REFUSAL)
    return f"{where}: field {shortened(field)}: {said}" if field else f"{where}: {said}"


def _error(path: Path, number: int | str, field: str, problem: str) -> HistoryError:
    return HistoryError(_located(path, number, field, problem))


def _require_time_forward(path: Path, number: int | str, opened: Operation, event: Event) -> None:
    if event.time is None or opened.invoke_time is None:
        return
    if event.time < opened.invoke_time:
        problem = f"{event.time} is before the operation was invoked, at {opened.invoke_time}"
        raise _error(path, number, "time", problem)


def _still_open(event: Event, opened: tuple[Operation, int | str]) -> str:
    pending, place = opened
    where = place.strip() if isinstance(place, str) else f"line {place}"
    open_one = f"its {shortened(pending.f)} of {where} is open"
    return f"process {event.process} invokes {shortened(event.f)}, but {open_one}"


def same_text(key: str) -> str:
    """Return why a text key can't stand beside a number key with the same digits."""
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


def _completed(path: Path, number: int | str, operation: Operation, event: Event) -> Operation:
    if event.f != operation.f:
        raise _error(
            path,
            number,
            "f",
            f"{shortened(event.f)} completes what was invoked as {shortened(operation.f)}",
        )
    if event.key is not None and as_text(event.key) != operation.key:
        observed, invoked = shortened(as_text(event.key)), shortened(operation.key)
        problem = f"{observed} completes what was invoked under {invoked}"
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
    """Return the operation, or raise a HistoryError that begins with the place."""
    if validate is not None:
        try:
            validate(operation)
        except ValueError as error:
            raise HistoryError(f"{place}: {shortened(str(error), LONGEST_REFUSAL)}") from error
    return operation


def as_text(value: object) -> str:
    """Return a text unchanged, any other value as JSON."""
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value, order="sorted").decode()
