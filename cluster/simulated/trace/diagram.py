"""The last events of a run as a sequence diagram in text: a column per node, time downwards.

The diagram leaves out a poll with the same contents as the poll before (an empty Fetch, a
heartbeat), and the replication of the log to brokers that the violation does not concern.
See recorder.py for the recording of events.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from kraftproof.cluster.protocol import NodeInfo
from kraftproof.cluster.simulated.network.links import HARNESS
from kraftproof.cluster.simulated.trace.trace_events import Kind, State, TraceEvent

NS_PER_MS = 1_000_000
COLUMN = 7
"""Characters between two lifelines; six nodes and clients leave 80 of 140 for text."""
WIDTH = 140
"""Maximum characters of a row."""
TIME = 10
"""Characters of the time column."""
LATE_NS = 20 * NS_PER_MS
"""Delay from which a row shows the sending time; without faults a delay is about 1 ms."""
PAUSE_NS = 100 * NS_PER_MS
"""Time without events from which the diagram shows a row with the length of the gap."""
POLLED = frozenset({"ApiVersions", "BrokerHeartbeat", "DescribeQuorum", "Fetch"})
"""APIs that are polled; a repeated message of another API is always shown."""
ELECTION = re.compile(r"epoch|start ")
LIFELINES = {State.UP: "│", State.LEADS: "┃", State.PAUSED: "┊", State.DOWN: " "}
MARKS = {Kind.STEP: "●", Kind.FAULT: "✗", Kind.VIOLATION: "!"}
SHAFTS = {Kind.REQUEST: "─", Kind.RESPONSE: "╌", Kind.LOST: "─"}
LEGEND = (
    "│ up  ┃ leads  ┊ paused  (blank) down   ● step  ✗ fault   ──▶ request  ◀╌╌ response  "
    "──✗ given up   12@3: offset 12, epoch 3",
    "Requests and responses are shown when they are read. Repeated equal polls are left out.",
)


def draw(
    events: Sequence[TraceEvent],
    nodes: Sequence[NodeInfo],
    *,
    most: int,
    concerned: Iterable[int] = (),
    about: str | None = None,
) -> str:
    """Return the diagram of the last `most` informative events.

    Args:
        events: The recorded events, in order.
        nodes: The nodes of the cluster.
        most: Maximum number of events in the diagram.
        concerned: Brokers whose replication is shown; replication to controllers always is.
        about: A name; if given, only events with the name, faults and elections are shown.
    """
    if about is not None:
        events = _of(events, about)
    shown = informative_events(events, nodes, concerned)[-most:]
    columns = _columns(shown, nodes)
    rows = [*LEGEND, "", _heading(columns, nodes)]
    before_ns = shown[0].time_ns if shown else 0
    for event in shown:
        silent_ns = event.time_ns - before_ns
        if silent_ns > PAUSE_NS:
            rows.append(
                " " * TIME + "".join(_lifelines(event, columns)) + f"⋮ {silent_ns // NS_PER_MS} ms"
            )
        rows.append(_row(event, columns))
        before_ns = event.time_ns
    return "\n".join(row.rstrip() for row in rows) + "\n"


def informative_events(
    events: Iterable[TraceEvent], nodes: Sequence[NodeInfo], concerned: Iterable[int]
) -> list[TraceEvent]:
    """Return the events without repeated polls and irrelevant replication, in order."""
    seen = {HARNESS, *concerned, *(node.node_id for node in nodes if node.has("controller"))}
    said: dict[tuple[Kind, int, int, str], str] = {}
    kept = []
    for event in events:
        if _is_copying(event, seen):
            continue
        if event.source is not None and event.api in POLLED:
            key = (event.kind, event.source, event.target, event.api)
            if said.get(key) == event.text:
                continue
            said[key] = event.text
        kept.append(event)
    return kept


def _of(events: Iterable[TraceEvent], name: str) -> list[TraceEvent]:
    """Return the events whose text has the name as a whole word, with faults and elections."""
    named = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    return [
        one
        for one in events
        if named.search(one.text) or named.search(one.subject) or _matters_to_all(one)
    ]


def _matters_to_all(event: TraceEvent) -> bool:
    if event.kind is Kind.STEP:
        return ELECTION.search(event.text) is not None
    return event.kind in MARKS


def _is_copying(event: TraceEvent, seen: set[int]) -> bool:
    """Return whether an event is part of the replication to a broker that is not shown."""
    ends = {event.target} if event.source is None else {event.source, event.target}
    if ends <= seen:
        return False
    return event.api.startswith("Fetch") or event.kind is Kind.STEP


def _columns(shown: Sequence[TraceEvent], nodes: Sequence[NodeInfo]) -> dict[int, int]:
    """Return the column of each node with events; clients are node 0, the first column."""
    active = {node.node_id for node in nodes if node.has("controller")}
    for event in shown:
        active |= {event.target} if event.source is None else {event.source, event.target}
    return {node_id: place for place, node_id in enumerate(sorted(active))}


def _heading(columns: Mapping[int, int], nodes: Sequence[NodeInfo]) -> str:
    letter = {True: "c", False: "b"}
    names = {node.node_id: f"{letter[node.has('controller')]}{node.node_id}" for node in nodes}
    cells = (names.get(node_id, "client").center(COLUMN) for node_id in columns)
    return "ms".rjust(TIME) + "".join(cells)


def _row(event: TraceEvent, columns: Mapping[int, int]) -> str:
    cells = _lifelines(event, columns)
    if event.source is not None:
        _arrow(cells, event, columns[event.source], columns[event.target])
    else:
        for node_id in {event.target, *event.also} & columns.keys():
            cells[_middle(columns[node_id])] = MARKS[event.kind]
    time = f"{event.time_ns / NS_PER_MS:.3f}".rjust(TIME)
    return f"{time}{''.join(cells)}{_words(event)}"[:WIDTH]


def _lifelines(event: TraceEvent, columns: Mapping[int, int]) -> list[str]:
    cells = [" "] * (COLUMN * len(columns))
    for node_id, place in columns.items():
        known = 0 < node_id <= len(event.states)
        state = event.states[node_id - 1] if known else State.UP
        cells[_middle(place)] = LIFELINES[state]
    return cells


def _arrow(cells: list[str], event: TraceEvent, source: int, target: int) -> None:
    """Draw from the source's lifeline to the target's, over those between."""
    start, end = _middle(source), _middle(target)
    step = 1 if end > start else -1
    if event.kind is Kind.LOST:
        end = start + step * (COLUMN - 2)
    for at in range(start + step, end, step):
        cells[at] = SHAFTS[event.kind] if cells[at] == " " else "┼"
    cells[end - step] = "✗" if event.kind is Kind.LOST else "▶" if step > 0 else "◀"


def _middle(place: int) -> int:
    return place * COLUMN + COLUMN // 2


def _words(event: TraceEvent) -> str:
    if event.kind is Kind.STEP:
        return f"{event.target} {event.text}"
    if event.source is None:
        return event.text
    text = event.text and f" {event.text}"
    if event.kind is Kind.RESPONSE:
        return f"{event.api} →{text}{_since(event)}"
    to = f" to {event.target}, no answer" if event.kind is Kind.LOST else ""
    return f"{event.api}{to}{text and ':'}{text}{_since(event)}"


def _since(event: TraceEvent) -> str:
    """When a message was sent that has been on its way for long."""
    if event.sent_ns is None or event.time_ns - event.sent_ns <= LATE_NS:
        return ""
    return f"  [sent at {event.sent_ns / NS_PER_MS:.3f}]"
