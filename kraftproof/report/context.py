"""What happened around an operation that a finding names: the same key, before and after it.

Read from the history's file, so that it holds for whatever was recorded. Not: which operations
make the contradiction (a sound, minimal sub-history is the checkers' to give).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from checkers.history import Operation, read_operations
from checkers.verdict import Finding
from kraftproof.history import FaultEvent

BEFORE = 8
AFTER = 4
MOST_CONTEXTS = 8
NAMED = re.compile(r"operation (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One operation beside the one that a finding names."""

    index: int
    is_named: bool
    process: int
    node: str
    asked: str
    said: str
    status: str
    invoked_s: float
    took_ms: float | None
    faults: str
    """The faults in force when it was invoked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """One operation that findings name, with the operations around it."""

    index: int
    key: str
    sentences: tuple[str, ...]
    lines: tuple[Line, ...]


def contexts(
    findings: Sequence[Finding], history: Path, faults: Sequence[FaultEvent], started_ns: int
) -> tuple[Context, ...]:
    """Return the first operations that findings name, each with what stood around it."""
    sentences: dict[int, list[str]] = {}
    for finding in findings:
        if finding.operation_index is not None:
            sentences.setdefault(finding.operation_index, []).append(finding.sentence)
    if not sentences:
        return ()
    operations = read_operations(history)
    by_index = {one.index: one for one in operations}
    found = []
    for index in list(sentences)[:MOST_CONTEXTS]:
        centre = by_index[index]
        same_key = [one for one in operations if one.key == centre.key]
        lines = tuple(
            _line(one, centre, faults, started_ns)
            for one in _around(same_key, centre, sentences[index])
        )
        found.append(
            Context(index=index, key=centre.key, sentences=tuple(sentences[index]), lines=lines)
        )
    return tuple(found)


def _around(
    same_key: Sequence[Operation], centre: Operation, sentences: Iterable[str]
) -> Iterable[Operation]:
    """The operations close by, and those that the sentences name as well."""
    place = same_key.index(centre)
    close = range(max(0, place - BEFORE), place + AFTER + 1)
    named = {int(number) for sentence in sentences for number in NAMED.findall(sentence)}
    return [one for at, one in enumerate(same_key) if at in close or one.index in named]


def _line(
    operation: Operation, centre: Operation, faults: Sequence[FaultEvent], started_ns: int
) -> Line:
    invoked_ns, completed_ns = operation.invoke_time or 0, operation.complete_time
    return Line(
        index=operation.index,
        is_named=operation.index == centre.index,
        process=operation.process,
        node="" if operation.node is None else operation.node,
        asked=f"{operation.f} {_shown(operation.input)}",
        said=operation.error or _shown(operation.output),
        status=operation.status,
        invoked_s=(invoked_ns - started_ns) / 1e9,
        took_ms=None if completed_ns is None else (completed_ns - invoked_ns) / 1e6,
        faults=", ".join(_in_force(faults, invoked_ns)),
    )


def _in_force(faults: Sequence[FaultEvent], at_ns: int) -> list[str]:
    in_force: dict[str, str] = {}
    for event in faults:
        if event.time_ns > at_ns:
            break
        if event.phase == "applied":
            in_force[event.name] = f"{event.kind} {', '.join(map(str, event.targets))}"
        elif event.phase == "healed":
            in_force.pop(event.name, None)
    return list(in_force.values())


def _shown(value: object) -> str:
    """The fields of a value without the quotes that only programs need."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return " ".join(f"{name}={_shown(one)}" for name, one in value.items())
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
