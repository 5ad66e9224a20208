"""Reads the histories of Jepsen and its kin: EDN maps, and the lines of a test's log.

A map is an event: `:type`, `:process`, `:f`, `:value`, and `:index`, `:time`, `:error`, `:node` and
`:key` where it has them; an event without `:f` whose value is a list is a transaction, `txn`. What
the nemesis does is left out. Two things must be told from the history's first events, since Jepsen
prints them like other values:

- a test over independent keys, where every value is [key value]: the invocations all have such a
  value, its key is no list, and a cas has a pair as its value; or a read asks with [key nil], and
  then the others must have such values too;
- transactions on registers, `[:w k v]` and `[:r k v]`: the reads and writes of `multi-register`;
  those of list append, `[:append k v]` and `[:r k [v ...]]`, stay as they are.

The log's lines are those of Jepsen's util namespace, as in the etcd logs that Porcupine's tests
read: process, type, function, value and perhaps an error, parted by tabs; all other lines are
somebody else's. An indeterminate operation's value may be its error: a completion that is not ok
has no value that matters.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Final

import msgspec

from checkers.history import (
    Event,
    HistoryError,
    NumberedLine,
    Operation,
    Validator,
    open_lines,
    pair,
    refused_event,
)
from checkers.reading.edn import EdnError, Form, edn_forms

_LOOKED_AT: Final = 1000
"""How many events are read before the form of their values is decided."""

_NEMESIS: Final = "nemesis"
_REGISTER_ACTIONS: Final = {"r": "read", "w": "write", "read": "read", "write": "write"}

_LOG_LINE: Final = re.compile(
    rb"(?:.*\s)?INFO\s+(?:\[[^]]*\]\s+)?jepsen\.util\s*[-:]\s+"
    rb"(?P<process>\S+)\s+:(?P<type>invoke|ok|fail|info)\s+:?(?P<f>\S+)(?:\s+(?P<rest>.*))?"
)


def edn_operations(path: Path, validate: Validator | None = None) -> Iterator[Operation]:
    """Yields the operations of an EDN history as `checkers.history.iterate_operations` does.

    Raises:
        HistoryError: it can't be read; one line that names file, line and field.
    """
    with open_lines(path) as lines:
        yield from pair(path, _events(path, _forms(path, lines)), validate)


def log_operations(path: Path, validate: Validator | None = None) -> Iterator[Operation]:
    """Yields the operations that a Jepsen test's log tells of.

    Raises:
        HistoryError: it can't be read; one line that names file, line and field.
    """
    with open_lines(path) as lines:
        yield from pair(path, _events(path, _logged(path, lines)), validate)


def is_log_line(line: bytes) -> bool:
    """Says whether a line of a log tells of an operation."""
    return _LOG_LINE.fullmatch(line) is not None


def _forms(path: Path, lines: Iterable[NumberedLine]) -> Iterator[Form]:
    try:
        yield from edn_forms(lines)
    except EdnError as error:
        raise HistoryError(f"{path}:{error.line}: not EDN: {error}") from error


def _logged(path: Path, lines: Iterable[NumberedLine]) -> Iterator[Form]:
    """Yields the lines that tell of operations as the maps that Jepsen would write."""
    number, is_told = 0, False
    for number, line in lines:
        match = _LOG_LINE.fullmatch(line)
        if match is None:
            continue
        is_told = True
        written = b"{:process %b :type :%b :f :%b :rest [%b]}" % match.groups(b"")
        for _, form in _forms(path, [(number, written)]):
            assert isinstance(form, dict)
            names = ("value", "error")
            yield number, form | dict(zip(names, form.pop("rest"), strict=False))
    if number and not is_told:
        raise HistoryError(f"{path}: no line of this log is that of an operation (jepsen.util)")


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How a history writes values.

    Attributes:
        is_keyed: each value is [key, value].
        has_registers: transactions read and write registers.
    """

    is_keyed: bool
    has_registers: bool


def _events(path: Path, forms: Iterable[Form]) -> Iterator[tuple[int, Event]]:
    clients = _clients(path, forms)
    first = list(islice(clients, _LOOKED_AT))
    invoked = [form for _, form in first if form.get("type") == "invoke"]
    values = [form.get("value") for form in invoked]
    is_keyed = bool(values) and (all(map(_is_keyed, invoked)) or any(map(_asks_a_key, invoked)))
    inner = [value[-1] for value in values if isinstance(value, list) and value]
    inner = inner if is_keyed else values
    dialect = _Dialect(is_keyed=is_keyed, has_registers=_have_registers(inner))
    index = -1
    for line, form in chain(first, clients):
        event = _event(path, line, {"index": index + 1} | form, dialect)
        index = event.index
        yield line, event


def _clients(path: Path, forms: Iterable[Form]) -> Iterator[tuple[int, dict[str, object]]]:
    """Yields what is done by anybody but the nemesis."""
    for line, form in forms:
        if not isinstance(form, dict):
            kind = type(form).__name__
            raise HistoryError(f"{path}:{line}: not an event: Expected `object`, got `{kind}`")
        if form.get("process") != _NEMESIS:
            yield line, form


def _is_keyed(form: dict[str, object]) -> bool:
    value = form.get("value")
    if "key" in form or not isinstance(value, list) or len(value) != 2:
        return False
    key, inner = value
    is_whole = isinstance(inner, list) or form.get("f") != "cas"
    return not isinstance(key, list) and is_whole


def _asks_a_key(form: dict[str, object]) -> bool:
    value = form.get("value")
    if form.get("f") != "read" or not isinstance(value, list) or not _is_keyed(form):
        return False
    return value[0] is not None and value[1] is None


def _have_registers(values: Iterable[object]) -> bool:
    actions = {
        action[0]
        for value in values
        if isinstance(value, list)
        for action in value
        if isinstance(action, list) and len(action) == 3 and isinstance(action[0], str)
    }
    return "w" in actions and actions <= set(_REGISTER_ACTIONS)


def _event(path: Path, line: int, form: dict[str, object], dialect: _Dialect) -> Event:
    if dialect.is_keyed:
        form = form | _key_and_value(path, line, form)
    if dialect.has_registers:
        form = form | {"value": _register_actions(form.get("value"))}
    if "f" not in form and isinstance(form.get("value"), list):
        form = form | {"f": "txn"}
    try:
        return msgspec.convert(form, Event)
    except msgspec.ValidationError as error:
        raise refused_event(path, line, error) from error


def _key_and_value(path: Path, line: int, form: dict[str, object]) -> dict[str, object]:
    """Returns the two parts of an event's value; what failed or is not known may have others."""
    value, kind = form.get("value"), form.get("type")
    if isinstance(value, list) and len(value) == 2:
        key = {"key": value[0]} if kind in {"invoke", "ok"} else {}
        return {"value": value[1], **key}
    if kind == "invoke" or (kind == "ok" and value is not None):
        shown = msgspec.json.encode(value).decode()
        raise HistoryError(f"{path}:{line}: field value: Expected [key value], got {shown}")
    return {}


def _register_actions(value: object) -> object:
    if not isinstance(value, list):
        return value
    return [
        [_REGISTER_ACTIONS.get(action[0], action[0]), *action[1:]]
        if isinstance(action, list) and action and isinstance(action[0], str)
        else action
        for action in value
    ]
