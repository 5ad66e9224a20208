"""Reads the histories of Jepsen and its kin: EDN maps, and the lines of a test's log.

A map is an event: `:type`, `:process`, `:f`, `:value`, and `:index`, `:time`, `:error`, `:node` and
`:key` where it has them; an event without `:f` whose value is a list is a transaction, `txn`. What
the nemesis does is left out. A `:rebalance-log` becomes an action of the value. See values.py for
keys and transactions in values.

The log's lines are those of Jepsen's util namespace, as in the etcd logs that Porcupine's tests
read: process, type, function, value and perhaps an error, parted by tabs; all other lines are
somebody else's. An indeterminate operation's value may be its error: a completion that is not ok
has no value that matters.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from kraftproof.checkers.history.lines import HistoryError, NumberedLine, open_lines
from kraftproof.checkers.history.operations import (
    NEMESIS,
    Event,
    Operation,
    Validator,
    pair,
    refused_event,
)
from kraftproof.checkers.history.read.edn import EdnError, Form, edn_forms
from kraftproof.checkers.history.read.values import TRANSACTION

POLLING: Final = frozenset({"poll", "txn"})
"""Operations that may poll logs."""
REBALANCES: Final = "rebalance-log"
_LOG_LINE: Final = re.compile(
    rb"(?:.*\s)?INFO\s+(?:\[[^]]*\]\s+)?jepsen\.util\s*[-:]\s+"
    rb"(?P<process>\S+)\s+:(?P<type>invoke|ok|fail|info)\s+:?(?P<f>\S+)(?:\s+(?P<rest>.*))?"
)


def edn_operations(path: Path, validate: Validator | None = None) -> Iterator[Operation]:
    """Yield the operations of an EDN history, as `operations.iterate_operations` does.

    Raises: HistoryError: the history can't be read; the message names file, line and field.
    """
    with open_lines(path) as lines:
        yield from pair(path, _events(path, _forms(path, lines)), validate)


def log_operations(path: Path, validate: Validator | None = None) -> Iterator[Operation]:
    """Yield the operations in the log of a Jepsen test.

    Raises: HistoryError: the history can't be read; the message names file, line and field.
    """
    with open_lines(path) as lines:
        yield from pair(path, _events(path, _logged(path, lines)), validate)


def is_log_line(line: bytes) -> bool:
    """Return whether a line of a log is an operation."""
    return _LOG_LINE.fullmatch(line) is not None


def _forms(path: Path, lines: Iterable[NumberedLine]) -> Iterator[Form]:
    try:
        yield from edn_forms(lines)
    except EdnError as error:
        raise HistoryError(f"{path}:{error.line}: not EDN: {error}") from error


def _logged(path: Path, lines: Iterable[NumberedLine]) -> Iterator[Form]:
    """Yield the lines with operations as the maps that Jepsen would write."""
    number, is_observed = 0, False
    for number, line in lines:
        match = _LOG_LINE.fullmatch(line)
        if match is None:
            continue
        is_observed = True
        written = b"{:process %b :type :%b :f :%b :rest [%b]}" % match.groups(b"")
        for _, form in _forms(path, [(number, written)]):
            assert isinstance(form, dict)
            names = ("value", "error")
            yield number, form | dict(zip(names, form.pop("rest"), strict=False))
    if number and not is_observed:
        raise HistoryError(f"{path}: no line of this log is that of an operation (jepsen.util)")


def _events(path: Path, forms: Iterable[Form]) -> Iterator[tuple[int, Event]]:
    """Yield what is done by anybody but the nemesis."""
    index = -1
    for line, form in forms:
        if not isinstance(form, dict):
            kind = type(form).__name__
            raise HistoryError(f"{path}:{line}: not an event: Expected `object`, got `{kind}`")
        if form.get("process") not in NEMESIS:
            numbered: dict[str, object] = {"index": index + 1, **form}
            event = _event(path, line, numbered)
            index = event.index
            yield line, event


def _event(path: Path, line: int, form: dict[str, object]) -> Event:
    if "f" not in form and isinstance(form.get("value"), list):
        form = form | {"f": TRANSACTION}
    if form.get("type") == "ok" and form.get("f") in POLLING and form.get(REBALANCES):
        form = form | {"value": _with_rebalance(path, line, form)}
    try:
        return msgspec.convert(form, Event)
    except msgspec.ValidationError as error:
        raise refused_event(path, line, error) from error


def _with_rebalance(path: Path, line: int, form: dict[str, object]) -> object:
    """Return the actions of a completion after a further action with the rebalanced logs.

    jepsen.tests.kafka writes `:rebalance-log [{:keys [k1 k2]} ...]` beside the value of an
    operation, for the logs that the consumer got or lost while the operation ran.
    """
    changes, actions = form[REBALANCES], form.get("value")
    if not isinstance(changes, list) or not all(map(_is_rebalance, changes)):
        expected = "a list of maps with a list of :keys is expected"
        raise HistoryError(f"{path}:{line}: field {REBALANCES}: {expected}")
    logs = [log for change in changes for log in change["keys"]]
    return [["rebalance", logs], *actions] if isinstance(actions, list) else actions


def _is_rebalance(change: object) -> bool:
    return isinstance(change, dict) and isinstance(change.get("keys"), list)
