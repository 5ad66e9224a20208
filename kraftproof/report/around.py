"""Collect the events around a finding by time: operations, faults and steps of its node.

The events come from the run directory. Their number is bounded: the nearest operations on the same
key, the faults of these seconds, and the last steps of the node. See `checkers.explain` for the
operations that form the contradiction.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from kraftproof.checkers.findings import moment_text
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import read_table
from kraftproof.checkers.text import shown
from kraftproof.checkers.verdict import CheckerInputError, Finding
from kraftproof.report.run_view import RunView

BEFORE: Final = 8
AFTER: Final = 4
MOST_FINDINGS: Final = 8
MOST_STEPS: Final = 12
"""Largest number of steps of a node around a finding; most of them come before the finding."""
MOST_FAULTS: Final = 12
NEAR_NS: Final = 5_000_000_000
_NAMED: Final = re.compile(r"operation (\d+)")
_STEP_FIELDS: Final = ("event", "role", "epoch", "high_watermark", "log_end")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event near a finding.

    Attributes:
        time_ns: Time of the event; None in a history without clocks.
        at: The time in words.
        kind: operation, fault or node.
        who: Process and node of an operation, name of a fault, or node.
        what: Description of the event.
        status: Outcome of an operation, or phase of a fault.
        is_named: Whether the finding names the event.
        operation: Number of the operation, if the event is an operation.
    """

    time_ns: int | None
    at: str
    kind: str
    who: str
    what: str
    status: str = ""
    is_named: bool = False
    operation: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """A finding with its number on the page and the events around the finding."""

    number: int
    finding: Finding
    events: tuple[Event, ...]

    @property
    def steps(self) -> list[Event]:
        """The steps of the node."""
        return [event for event in self.events if event.kind == "node"]


def events_around(view: RunView, findings: Sequence[Finding]) -> list[Around]:
    """Return the first findings, each with the events around the finding."""
    chosen = list(enumerate(findings[:MOST_FINDINGS], start=1))
    wanted = any(finding.operation_index is not None for _, finding in chosen)
    operations = sorted(view.history(), key=lambda one: one.index) if wanted else []
    steps = _Steps(view)
    found = []
    for number, finding in chosen:
        events = [*_operations(finding, operations), *_faults(finding, view)]
        events += steps.near(finding)
        events.sort(key=lambda one: (one.time_ns or 0, one.kind != "fault", one.operation or 0))
        found.append(Around(number=number, finding=finding, events=tuple(events)))
    return found


def _operations(finding: Finding, operations: Sequence[Operation]) -> Iterable[Event]:
    """Yield the nearest operations on the same key, and the operations that the finding names."""
    if finding.operation_index is None:
        return []
    centre = next((one for one in operations if one.index == finding.operation_index), None)
    if centre is None:
        return []
    same_key = [one for one in operations if one.key == centre.key]
    place = same_key.index(centre)
    close = range(max(0, place - BEFORE), place + AFTER + 1)
    named = set(list(map(int, _NAMED.findall(finding.sentence)))[:BEFORE])
    chosen = [one for at, one in enumerate(same_key) if at in close or one.index in named]
    return [_operation(one, is_named=one is centre) for one in chosen]


def _operation(operation: Operation, *, is_named: bool) -> Event:
    at, ended = operation.invoke_time, operation.complete_time
    node = "" if operation.node is None else f" at {operation.node}"
    asked = "" if operation.input is None else f" {shown(operation.input)}"
    answered = operation.error or ("" if operation.output is None else shown(operation.output))
    took = "" if at is None or ended is None else f" ({(ended - at) / 1e6:.1f} ms)"
    return Event(
        time_ns=at,
        at=f"event {operation.invoke_index}" if at is None else moment_text(at),
        kind="operation",
        who=f"process {operation.process}{node}",
        what=f"{operation.f}{asked}{' → ' if answered else ''}{shown(answered)}{took}",
        status=operation.status,
        is_named=is_named,
        operation=operation.index,
    )


def _faults(finding: Finding, view: RunView) -> Iterable[Event]:
    """Yield the phases of the faults that the finding names, and of other faults at this time."""
    moment = finding.time_ns
    if moment is None:
        return []
    names = {fault.name for fault in finding.faults}
    near = [
        event
        for event in view.faults
        if event.phase in {"applied", "bitten", "healed"}
        and (event.fault in names or abs(event.time - moment) <= NEAR_NS)
    ]
    nearest = sorted(near, key=lambda event: abs(event.time - moment))[:MOST_FAULTS]
    return [
        Event(
            time_ns=event.time,
            at=moment_text(event.time),
            kind="fault",
            who=event.fault,
            what=f"{event.kind}: {shown(event.detail)}",
            status=event.phase,
            is_named=event.fault in names,
        )
        for event in nearest
    ]


class _Steps:
    """The reported steps of the nodes, read at the first use."""

    def __init__(self, view: RunView) -> None:
        self._view = view
        self._rows: list[dict[str, object]] | None = None

    def near(self, finding: Finding) -> list[Event]:
        """Return the steps of the finding's node around the time of the finding."""
        moment = finding.time_ns
        if moment is None or finding.node is None:
            return []
        if self._rows is None:
            self._rows = self._read()
        own = [row for row in self._rows if str(row["node"]) == finding.node]
        before = [row for row in own if _time(row) <= moment]
        after = [row for row in own if _time(row) > moment][: AFTER - 1]
        return [_step(row) for row in before[-(MOST_STEPS - len(after)) :] + after]

    def _read(self) -> list[dict[str, object]]:
        try:
            table = read_table(self._view.directory.tables, "trace")
        except CheckerInputError:
            return []  # the verdict already reports an unreadable table
        if table is None:
            return []
        rows = table.select(["node", "run_time", *_STEP_FIELDS]).to_pylist()
        known = [row for row in rows if row["run_time"] is not None]
        return sorted(known, key=_time)


def _time(row: dict[str, object]) -> int:
    time_ns = row["run_time"]
    assert isinstance(time_ns, int), "rows without a time are left out"
    return time_ns


def _step(row: dict[str, object]) -> Event:
    fields = {name: row[name] for name in _STEP_FIELDS if row[name] is not None}
    return Event(
        time_ns=_time(row),
        at=moment_text(_time(row)),
        kind="node",
        who=f"node {row['node']}",
        what=" ".join(f"{name}={_plain(value)}" for name, value in fields.items()),
    )


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
