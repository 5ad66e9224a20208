"""The last moments of a run as a sequence diagram in text: a column a node, time downwards.

A poll that says the same as the one before (a Fetch that brings nothing, a heartbeat) is left out,
and so is the copying of the log to brokers that the violation does not concern. Not: how
moments come about (recorder.py).
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from kraftproof.cluster.protocol import NodeInfo
from kraftproof.cluster.simulated.network.links import HARNESS
from kraftproof.cluster.simulated.trace.trace_events import Kind, Moment, State

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
    moments: Sequence[Moment],
    nodes: Sequence[NodeInfo],
    *,
    most: int,
    concerned: Iterable[int] = (),
    about: str | None = None,
) -> str:
    """Return the diagram of the last `most` moments that say something.

    Args:
        moments: What was recorded, in its order.
        nodes: All nodes of the cluster.
        most: How many of them it may have.
        concerned: Brokers whose copying of the log is to be seen too; controllers' always is.
        about: A name; only moments that have it are shown then, with faults and elections.
    """
    if about is not None:
        moments = _of(moments, about)
    shown = telling(moments, nodes, concerned)[-most:]
    columns = _columns(shown, nodes)
    rows = [*LEGEND, "", _heading(columns, nodes)]
    before_ns = shown[0].time_ns if shown else 0
    for moment in shown:
        silent_ns = moment.time_ns - before_ns
        if silent_ns > PAUSE_NS:
            rows.append(
                " " * TIME + "".join(_lifelines(moment, columns)) + f"⋮ {silent_ns // NS_PER_MS} ms"
            )
        rows.append(_row(moment, columns))
        before_ns = moment.time_ns
    return "\n".join(row.rstrip() for row in rows) + "\n"


def telling(
    moments: Iterable[Moment], nodes: Sequence[NodeInfo], concerned: Iterable[int]
) -> list[Moment]:
    """Return the moments that say something new, in their order."""
    seen = {HARNESS, *concerned, *(node.node_id for node in nodes if node.has("controller"))}
    said: dict[tuple[Kind, int, int, str], str] = {}
    kept = []
    for moment in moments:
        if _is_copying(moment, seen):
            continue
        if moment.source is not None and moment.api in POLLED:
            key = (moment.kind, moment.source, moment.target, moment.api)
            if said.get(key) == moment.text:
                continue
            said[key] = moment.text
        kept.append(moment)
    return kept


def _of(moments: Iterable[Moment], name: str) -> list[Moment]:
    """The moments that say the name as a word of its own, and those that matter to all."""
    named = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    return [
        one
        for one in moments
        if named.search(one.text) or named.search(one.subject) or _matters_to_all(one)
    ]


def _matters_to_all(moment: Moment) -> bool:
    if moment.kind is Kind.STEP:
        return ELECTION.search(moment.text) is not None
    return moment.kind in MARKS


def _is_copying(moment: Moment, seen: set[int]) -> bool:
    """Whether a broker that is not to be seen copies the log here, which it does all the time."""
    ends = {moment.target} if moment.source is None else {moment.source, moment.target}
    if ends <= seen:
        return False
    return moment.api.startswith("Fetch") or moment.kind is Kind.STEP


def _columns(shown: Sequence[Moment], nodes: Sequence[NodeInfo]) -> dict[int, int]:
    """The place of each node that has something to show; clients come first, as node 0."""
    active = {node.node_id for node in nodes if node.has("controller")}
    for moment in shown:
        active |= {moment.target} if moment.source is None else {moment.source, moment.target}
    return {node_id: place for place, node_id in enumerate(sorted(active))}


def _heading(columns: Mapping[int, int], nodes: Sequence[NodeInfo]) -> str:
    letter = {True: "c", False: "b"}
    names = {node.node_id: f"{letter[node.has('controller')]}{node.node_id}" for node in nodes}
    cells = (names.get(node_id, "client").center(COLUMN) for node_id in columns)
    return "ms".rjust(TIME) + "".join(cells)


def _row(moment: Moment, columns: Mapping[int, int]) -> str:
    cells = _lifelines(moment, columns)
    if moment.source is not None:
        _arrow(cells, moment, columns[moment.source], columns[moment.target])
    else:
        for node_id in {moment.target, *moment.also} & columns.keys():
            cells[_middle(columns[node_id])] = MARKS[moment.kind]
    time = f"{moment.time_ns / NS_PER_MS:.3f}".rjust(TIME)
    return f"{time}{''.join(cells)}{_words(moment)}"[:WIDTH]


def _lifelines(moment: Moment, columns: Mapping[int, int]) -> list[str]:
    cells = [" "] * (COLUMN * len(columns))
    for node_id, place in columns.items():
        known = 0 < node_id <= len(moment.states)
        state = moment.states[node_id - 1] if known else State.UP
        cells[_middle(place)] = LIFELINES[state]
    return cells


def _arrow(cells: list[str], moment: Moment, source: int, target: int) -> None:
    """Draw from the source's lifeline to the target's, over those between."""
    start, end = _middle(source), _middle(target)
    step = 1 if end > start else -1
    if moment.kind is Kind.LOST:
        end = start + step * (COLUMN - 2)
    for at in range(start + step, end, step):
        cells[at] = SHAFTS[moment.kind] if cells[at] == " " else "┼"
    cells[end - step] = "✗" if moment.kind is Kind.LOST else "▶" if step > 0 else "◀"


def _middle(place: int) -> int:
    return place * COLUMN + COLUMN // 2


def _words(moment: Moment) -> str:
    if moment.kind is Kind.STEP:
        return f"{moment.target} {moment.text}"
    if moment.source is None:
        return moment.text
    text = moment.text and f" {moment.text}"
    if moment.kind is Kind.RESPONSE:
        return f"{moment.api} →{text}{_since(moment)}"
    to = f" to {moment.target}, no answer" if moment.kind is Kind.LOST else ""
    return f"{moment.api}{to}{text and ':'}{text}{_since(moment)}"


def _since(moment: Moment) -> str:
    """When a message was sent that has been on its way for long."""
    if moment.sent_ns is None or moment.time_ns - moment.sent_ns <= LATE_NS:
        return ""
    return f"  [sent at {moment.sent_ns / NS_PER_MS:.3f}]"
