"""The last events of a run as a sequence diagram in text: a column a node, time downwards.

A poll that says the same as the one before (a Fetch that brings nothing, a heartbeat) is left out,
and so is the copying of the log to brokers that the violation does not concern. Not: how
events come about (recorder.py).
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from kraftproof.cluster.protocol import NodeInfo
from kraftproof.cluster.simulated.network.links import HARNESS
from kraftproof.cluster.simulated.trace.trace_events import Kind, State, TraceEvent

NS_PER_MS = 1_000_000
COLUMN = 7
"""Characters from one lifeline to the next; six nodes and clients leave 80 of 140 for words."""
WIDTH = 140
TIME = 10
LATE_NS = 20 * NS_PER_MS
"""Messages are on their way for a millisecond or so; what takes longer has met a fault."""
PAUSE_NS = 100 * NS_PER_MS
"""Where nothing is shown for longer, the diagram says for how long."""
POLLED = frozenset({"ApiVersions", "BrokerHeartbeat", "DescribeQuorum", "Fetch"})
"""What is asked all the time; anything else is asked again for a reason."""
ELECTION = re.compile(r"epoch|start ")
LIFELINES = {State.UP: "│", State.LEADS: "┃", State.PAUSED: "┊", State.DOWN: " "}
MARKS = {Kind.STEP: "●", Kind.FAULT: "✗", Kind.VIOLATION: "!"}
SHAFTS = {Kind.REQUEST: "─", Kind.RESPONSE: "╌", Kind.LOST: "─"}
LEGEND = (
    "│ up  ┃ leads  ┊ paused  (blank) down   ● step  ✗ fault   ──▶ request  ◀╌╌ response  "
    "──✗ given up   12@3: offset 12, epoch 3",
    "Requests and responses stand where they are read. Polls that say the same again are left out.",
)


def draw(
    events: Sequence[TraceEvent],
    nodes: Sequence[NodeInfo],
    *,
    most: int,
    concerned: Iterable[int] = (),
    about: str | None = None,
) -> str:
    """Return the diagram of the last `most` events that say something.

    Args:
        events: What was recorded, in its order.
        nodes: All nodes of the cluster.
        most: How many of them it may have.
        concerned: Brokers whose copying of the log is to be seen too; controllers' always is.
        about: A name; only events that have it are shown then, with faults and elections.
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
    """Return the events that say something new, in their order."""
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
    """The events that say the name as a word of its own, and those that matter to all."""
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
    """Whether a broker that is not to be seen copies the log here, which it does all the time."""
    ends = {event.target} if event.source is None else {event.source, event.target}
    if ends <= seen:
        return False
    return event.api.startswith("Fetch") or event.kind is Kind.STEP


def _columns(shown: Sequence[TraceEvent], nodes: Sequence[NodeInfo]) -> dict[int, int]:
    """The place of each node that has something to show; clients come first, as node 0."""
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
