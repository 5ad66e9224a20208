"""Random histories of every model: overlaps, failures, lost answers, a pending tail.

Answers are drawn, or those of a system that works, or a mix of both, so that valid and invalid
histories both come up.
"""

import contextlib
from collections.abc import Callable
from random import Random

import msgspec

from checkers.history import Operation
from tests.checkers.reference import Apply, IllegalError, State

Draw = Callable[[Random, State], tuple[str, object, object]]
"""(random, state) -> (f, input, output); the state is a hint for an answer that fits."""


def draw_cas(random: Random, state: State) -> tuple[str, object, object]:
    values = [None, 0, 1, 2, {"a": 1, "b": [2]}]
    value = random.choice(values[1:])
    f = random.choice(["read", "read", "write", "cas", "cas"])
    if f == "read":
        return f, None, random.choice([state, state, random.choice(values)])
    if f == "write":
        return f, value, value
    return f, [random.choice([state, random.choice(values)]), value], None


def draw_append(random: Random, state: State) -> tuple[str, object, object]:
    text = random.choice(["", "a", "b", "ab"])
    f = random.choice(["get", "get", "append", "append", "put"])
    seen = random.choice([state or "", state or "", "".join(random.choices("ab", k=2)), "a", None])
    return (f, None, seen) if f == "get" else (f, text, text)


def draw_mutex(random: Random, state: State) -> tuple[str, object, object]:
    fitting = "release" if state else "acquire"
    return random.choice([fitting, random.choice(["acquire", "release"])]), None, None


def draw_txn(random: Random, state: State) -> tuple[str, object, object]:
    asked, answered, values = [], [], dict(state or {})
    for _ in range(random.randrange(1, 4)):
        action, register = random.choice(["read", "write"]), random.choice(["x", "y", 3])
        value = random.randrange(3)
        if action == "read":
            value = random.choice([values.get(register, 0), values.get(register, 0), value])
        else:
            values[register] = value
        asked.append([action, register, None if action == "read" else value])
        answered.append([action, register, value])
    return "txn", asked, answered


def draw_topics(random: Random, state: State) -> tuple[str, object, object]:
    told = [topic_id for topic_id in [state] if isinstance(topic_id, str)]
    topic_id = random.choice([*told, *told, "A", "B", "C"])
    by = random.choice([{"by": "name"}, {"by": "id", "id": topic_id}])
    if random.random() < 0.4:
        return random.choice(
            [
                ("create", None, {"outcome": "created", "id": topic_id}),
                ("create", None, {"outcome": "exists"}),
                ("delete", by, {"outcome": random.choice(["deleted", "absent"])}),
                ("lookup", None, {"outcome": random.choice(["exists", "absent"])}),
                ("describe", {"id": topic_id}, {"outcome": "present"}),
            ]
        )
    if state is None:
        created = {"outcome": "created", "id": random.choice("ABCDEF")}
        return random.choice([("create", None, created), ("lookup", None, {"outcome": "absent"})])
    return random.choice(
        [
            ("create", None, {"outcome": "exists"}),
            ("lookup", None, {"outcome": "exists"}),
            ("delete", {"by": "name"}, {"outcome": "deleted"}),
        ]
    )


def draw_registration(random: Random, state: State) -> tuple[str, object, object]:
    largest, owner, current = state or (-1, None, None)
    who = random.choice(["a", "b", owner or "c"])
    epoch = random.choice([int(current or 0), int(largest) + 1, random.randrange(4)])
    beat = {"epoch": epoch, "want_fence": False, "want_shut_down": False}
    is_current = owner is not None and epoch == current
    alive = random.choice([is_current, is_current, random.random() < 0.5])
    said = {"outcome": "alive", "fenced": False, "should_shut_down": False}
    granted = {"outcome": "registered", "epoch": random.choice([int(largest) + 1, epoch])}
    refused = {"outcome": "duplicate"}
    is_there = random.choice([owner is not None, random.random() < 0.5])
    return random.choice(
        [
            ("register", {"incarnation": who}, granted),
            ("register", {"incarnation": who}, random.choice([granted, refused])),
            ("heartbeat", beat, said if alive else {"outcome": "stale"}),
            ("heartbeat", beat, said if alive else {"outcome": "stale"}),
            ("unregister", None, {"outcome": "unregistered" if is_there else "absent"}),
        ]
    )


def random_history(
    random: Random, draw: Draw, apply: Apply, size: int, processes: int
) -> list[Operation]:
    """Operations with random overlaps, from a system that often answers as it should."""
    operations: list[Operation] = []
    open_by_process: dict[int, int] = {}
    state: State = None
    event = 0
    while len(operations) < size or open_by_process:
        process = random.randrange(processes)
        number = open_by_process.pop(process, None)
        if number is not None:
            operations[number] = _completed(random, operations[number], event)
        elif len(operations) < size:
            f, asked, answered = draw(random, state)
            operation = Operation(
                index=len(operations),
                process=process,
                f=f,
                key="k",
                input=asked,
                output=answered,
                invoke_index=event,
                invoke_time=event,
            )
            operations.append(operation)
            with contextlib.suppress(IllegalError):
                state = apply(state, operation, True)
            if random.random() < 0.95:
                open_by_process[process] = operation.index
        event += 1
    return [o if o.complete_index or o.status != "info" else _pending(o) for o in operations]


def _completed(random: Random, operation: Operation, event: int) -> Operation:
    status = random.choices(["ok", "info", "fail"], [80, 14, 6])[0]
    output = operation.output if status == "ok" else None
    return msgspec.structs.replace(
        operation, status=status, complete_index=event, complete_time=event, output=output
    )


def _pending(operation: Operation) -> Operation:
    return msgspec.structs.replace(operation, output=None)
