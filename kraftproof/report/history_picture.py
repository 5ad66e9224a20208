"""Write the picture of an explanation as an HTML file: operations as bars in time, rows by process.

The file contains data, style and script, and works without a network. This module prepares the
data; the script (templates/picture) draws. Times are nanoseconds since the first invocation, or
numbers of events in a history without clocks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from importlib import resources
from itertools import accumulate
from pathlib import Path

import msgspec
from markupsafe import Markup

from kraftproof.checkers.explain import Explanation
from kraftproof.checkers.explain.text.operations import answering
from kraftproof.checkers.history.faults import FaultEvent
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.text import shortened
from kraftproof.report.colours import colour_of, dark_theme, style
from kraftproof.report.environment import template

MOST_OPERATIONS = 30_000
"""Largest number of drawn operations of a key; the nearest to the illegal operation are drawn."""
STATUSES = ("ok", "fail", "info")
SCRIPTS = ("view.js", "marks.js", "painter.js", "page.js")
_NEVER = 1 << 62
_EPOCH_NS = 10**17
"""Smallest time of a wall clock; the axis does not show wall-clock times."""
ARROW = "\u00a0→\u00a0"
"""An arrow with no-break spaces."""
NAMED = re.compile(r"- operation (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of the explanation; the line of an operation links to its bar."""

    text: str
    operation: int | None


def write_picture(
    path: Path,
    explanation: Explanation,
    operations: Sequence[Operation],
    faults: Sequence[FaultEvent] = (),
) -> None:
    """Write the picture of a key.

    Args:
        path: The HTML file.
        explanation: The explanation of the key.
        operations: The operations of the key in the order of their invocations.
        faults: The faults of the run, if the history is part of a run.
    """
    shown = _nearest(explanation, operations)
    picture_data = _PictureData(explanation, shown)
    fault_rows = picture_data.faults(faults)
    data = msgspec.json.encode({**picture_data.data(), "faults": fault_rows}).decode()
    page = template("picture/picture.html.j2").render(
        key=shortened(explanation.key),
        title=f"invalid: key {shortened(explanation.key)},"
        f" operation {explanation.first_illegal.index}",
        explanation=explanation,
        lines=_lines(explanation.words),
        hidden=len(operations) - len(shown),
        shown=len(shown),
        counted=None if explanation.sub_history is None else explanation.sub_history.counted(),
        arrows=any(one["after"] for one in picture_data.proof()),
        kinds=sorted({(str(one["kind"]), str(one["colour"])) for one in fault_rows}),
        colours=f"{style()}\n{dark_theme()}",
        style=_part("picture.css"),
        script=Markup("\n").join(_part(name) for name in SCRIPTS),
        data=Markup(data.replace("<", "\\u003c")),  # noqa: S704 JSON, and no tag can begin in it
    )
    path.write_text(page, encoding="utf-8")


def _part(name: str) -> Markup:
    """Return the text of a template file without escapes."""
    folder = resources.files("kraftproof.report") / "templates" / "picture"
    return Markup((folder / name).read_text(encoding="utf-8"))  # noqa: S704 no user's text


def _lines(words: str) -> list[Line]:
    lines = []
    for text in words.splitlines():
        named = NAMED.match(text)
        number = None if named is None else int(named[1])
        shown = text.removeprefix("- ").replace(" -> ", ARROW)
        lines.append(Line(text=shown, operation=number))
    return lines


def _nearest(explanation: Explanation, operations: Sequence[Operation]) -> list[Operation]:
    """Return the operations nearest to the illegal operation, and all operations of the proof."""
    centre = explanation.first_illegal.invoke_index
    by_closeness = sorted(operations, key=lambda one: abs(one.invoke_index - centre))
    sub = explanation.sub_history
    proof = set() if sub is None else {one.operation.index for one in sub.constraints}
    near = {one.index for one in by_closeness[:MOST_OPERATIONS]} | proof
    return [one for one in operations if one.index in near]


class _PictureData:
    """Converts operations to the columns that the script reads."""

    def __init__(self, explanation: Explanation, operations: Sequence[Operation]) -> None:
        self._explanation = explanation
        self._operations = operations
        self._has_clock = all(
            one.invoke_time is not None
            and (one.complete_index is None or one.complete_time is not None)
            for one in operations
        )
        self._answers = answering(operations)
        self._numbers = {one.index: number for number, one in enumerate(operations)}
        self._origin = 0
        self._origin = min(self._start(one) for one in operations)

    def data(self) -> dict[str, object]:
        """Return all data except the faults."""
        operations = self._operations
        numbers = self._numbers
        lanes, lane_of = _lanes(operations)
        return {
            "unit": "ns" if self._has_clock else "events",
            "lanes": lanes,
            "lane": [lane_of[one.process] for one in operations],
            "index": [one.index for one in operations],
            "process": [one.process for one in operations],
            "node": ["" if one.node is None else one.node for one in operations],
            "f": [one.f for one in operations],
            "asked": [_text(one.input) for one in operations],
            "said": [self._said(one) for one in operations],
            "status": [STATUSES.index(one.status) for one in operations],
            "error": [one.error or "" for one in operations],
            "start": [self._start(one) for one in operations],
            "end": [self._end(one) for one in operations],
            **self._order(numbers),
            "origin": self._origin if self._has_clock and self._origin < _EPOCH_NS else 0,
            "first_illegal": numbers[self._explanation.first_illegal.index],
            "proof": self.proof(),
            "counted": self._counted(),
        }

    def _said(self, operation: Operation) -> str:
        if operation.status != "ok" or operation.f not in self._answers:
            return ""
        return "null" if operation.output is None else _text(operation.output)

    def faults(self, events: Sequence[FaultEvent]) -> list[dict[str, object]]:
        """Return the times of each fault; empty if history and faults use different clocks."""
        if not self._has_clock:
            return []
        rows: dict[str, dict[str, object]] = {}
        for event in events:
            if event.phase == "applied":
                rows[event.fault] = {
                    "start": event.time - self._origin,
                    "end": None,
                    "kind": event.kind,
                    "label": f"{event.fault}: {_text(event.targets)} {_text(event.detail)}".strip(),
                    "colour": colour_of(event.kind),
                }
            elif event.phase == "healed" and event.fault in rows:
                rows[event.fault]["end"] = event.time - self._origin
        return list(rows.values())

    def _order(self, numbers: dict[int, int]) -> dict[str, object]:
        """Return for each operation its position in the linearization, a time, and the state."""
        steps = [one for one in self._explanation.linearization or () if one.index in numbers]
        moments = _moments([self._span(self._operations[numbers[one.index]]) for one in steps])
        order, point, state = ([-1] * len(numbers) for _ in range(3))
        states: dict[str, int] = {}
        for place, (step, moment) in enumerate(zip(steps, moments, strict=True)):
            number = numbers[step.index]
            order[number], point[number] = place, moment
            state[number] = states.setdefault(step.state, len(states))
        return {"order": order, "point": point, "state": state, "states": list(states)}

    def _span(self, operation: Operation) -> tuple[int, int]:
        """Return the earliest and the latest time of an operation's effect."""
        end = self._end(operation) if operation.status == "ok" else None
        return self._start(operation), _NEVER if end is None else end

    def proof(self) -> list[dict[str, object]]:
        """Return the operations of the proof; without a sub-history only the illegal operation."""
        first_illegal, sub = (
            self._numbers[self._explanation.first_illegal.index],
            self._explanation.sub_history,
        )
        if sub is None:
            return [{"operation": first_illegal, "required": True, "meaning": "", "after": []}]
        return [
            {
                "operation": self._numbers[one.operation.index],
                "required": one.is_required,
                "meaning": one.meaning.replace(" -> ", ARROW),
                "after": [self._numbers[index] for index in one.after],
            }
            for one in sub.constraints
        ]

    def _counted(self) -> dict[str, object]:
        """Return the windows of a counting proof, and the drawn operations in the windows."""
        sub = self._explanation.sub_history
        found = None if sub is None else sub.counted()
        if found is None:
            return {"windows": [], "inside": [], "touching": [], "text": ""}
        inside, touching = (
            [self._numbers[index] for index in indices if index in self._numbers]
            for indices in (found.inside, found.touching)
        )
        return {
            "windows": [self._window(inside, begin, end) for begin, end in found.windows],
            "inside": inside,
            "touching": touching,
            "text": f"{len(found.inside)} {found.f} wholly within,"
            f" {len(found.touching)} {found.other} at most, {found.granted} more allowed",
        }

    def _window(self, inside: Sequence[int], begin: int | None, end: int) -> list[int]:
        """Return the start and the end of a window, limited to the drawn operations."""
        shown = [self._operations[number] for number in inside]
        here = [one for one in shown if (begin or 0) <= one.invoke_index <= end]
        starts = [self._start(one) for one in here] if begin is not None else [0]
        ends = [at for one in here if (at := self._end(one)) is not None]
        return [min(starts, default=0), max(ends, default=0)]

    def _start(self, operation: Operation) -> int:
        at = operation.invoke_time if self._has_clock else operation.invoke_index
        assert at is not None, "either all have a time or events count"
        return at - self._origin

    def _end(self, operation: Operation) -> int | None:
        at = operation.complete_time if self._has_clock else operation.complete_index
        return None if at is None else at - self._origin


def _lanes(operations: Sequence[Operation]) -> tuple[list[str], dict[int, int]]:
    """Assign processes to rows: a process reuses the row of a process that has ended.

    A new process replaces a process with an unknown outcome, so the number of processes is large.
    """
    lives: dict[int, list[int]] = {}
    for one in operations:
        end = one.invoke_index if one.complete_index is None else one.complete_index
        life = lives.setdefault(one.process, [one.invoke_index, end])
        life[1] = max(life[1], end)
    free: list[tuple[int, int]] = []
    lane_of: dict[int, int] = {}
    members: list[list[int]] = []
    for process, (begin, end) in sorted(lives.items(), key=lambda item: item[1]):
        if free and free[0][0] < begin:
            lane = heappop(free)[1]
        else:
            lane = len(members)
            members.append([])
        members[lane].append(process)
        lane_of[process] = lane
        heappush(free, (end, lane))
    order = sorted(range(len(members)), key=lambda lane: min(members[lane]))
    row_of = {lane: row for row, lane in enumerate(order)}
    labels = [_lane_label(members[lane]) for lane in order]
    return labels, {process: row_of[lane] for process, lane in lane_of.items()}


def _lane_label(processes: Sequence[int]) -> str:
    return ", ".join(map(str, processes[:2])) + (", …" if len(processes) > 2 else "")


def _moments(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return a time for each position of an order, within its span and never decreasing.

    The time is the midpoint between the latest start so far and the earliest end from here on; the
    latest start so far if no operation ends.
    """
    begins = list(accumulate((begin for begin, _ in spans), max))
    ends = list(accumulate((end for _, end in reversed(spans)), min))[::-1]
    return [
        begin if end == _NEVER else (begin + end) // 2
        for begin, end in zip(begins, ends, strict=True)
    ]


def _text(value: object) -> str:
    if value is None:
        return ""
    return shortened(value if isinstance(value, str) else msgspec.json.encode(value).decode())
