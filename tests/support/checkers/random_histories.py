"""Random histories of every model: overlaps, failures, lost answers, a pending tail.

Answers are drawn, or those of a system that works, or a mix of both, so that valid and invalid
histories both come up.
"""

import contextlib
from collections.abc import Callable, Sequence
from random import Random

import msgspec

from kraftproof.checkers.history.operations import Operation
from tests.support.checkers.reference import Apply, IllegalError, State

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


def draw_few_repeated(functions: Sequence[str]) -> Draw:
    """Draws register operations whose values mostly are written once, at this size."""

    def draw(random: Random, state: State) -> tuple[str, object, object]:
        f, value = random.choice(functions), random.randrange(8)
        if f == "read":
            return f, None, random.choice([state, state, value])
        return f, value if f == "write" else [random.choice([state, state, value]), value], None

    return draw


def draw_append(random: Random, state: State) -> tuple[str, object, object]:
    text = random.choice(["", "a", "b", "ab"])
    f = random.choice(["get", "get", "append", "append", "put"])
    seen = random.choice([state or "", state or "", "".join(random.choices("ab", k=2)), "a", None])
    return (f, None, seen) if f == "get" else (f, text, text)


def draw_bank(random: Random, state: State) -> tuple[str, object, object]:
    balances, _ = state or (None, None)
    if random.random() < 0.5:
        source, target = random.sample("ab", 2)
        moved = {"from": source, "to": target, "amount": random.randrange(3)}
        return "transfer", moved, moved
    held = random.randrange(-1, 4)
    drawn = {"a": held, "b": 3 - held}
    return "read", None, random.choice([balances, balances, drawn]) or drawn


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


def draw_container(
    put: str, take: str, place: Callable[[list[int]], int], values: int = 1000
) -> Draw:
    """Draws puts, mostly of what was not put before, and takes, mostly of what goes next."""

    def draw(random: Random, state: State) -> tuple[str, object, object]:
        elements = list(state or [])
        fresh = random.randrange(values) if random.random() < 0.98 else 7
        if random.random() < 0.5:
            return put, fresh, None
        fitting = elements[place(elements)] if elements else None
        wild = random.choice([*elements, None, fresh])
        return take, None, fitting if random.random() < 0.85 else wild

    return draw


draw_queue = draw_container("enqueue", "dequeue", lambda elements: 0)
draw_repeated = draw_container("enqueue", "dequeue", lambda elements: 0, values=3)
draw_stack = draw_container("push", "pop", lambda elements: -1)
draw_priorities = draw_container("insert", "delete-min", lambda e: e.index(min(e)))


def draw_counter(deltas: Sequence[int]) -> Draw:
    """Draws adds of some summands, and answers that mostly fit."""

    def draw(random: Random, state: State) -> tuple[str, object, object]:
        total, delta = state or 0, random.choice(deltas)
        wild = random.choice([total, total, total, total + random.choice(deltas), 0])
        f = random.choice(["read", "read", "add", "add", "add-and-get"])
        if f == "read":
            return f, None, wild
        return f, delta, None if f == "add" else wild + delta

    return draw


def draw_list(random: Random, state: State) -> tuple[str, object, object]:
    """Draws an append, a read or a transaction on two lists; elements are mostly new."""
    f = random.choice(["append", "read", "txn", "txn"])
    lists = {name: list(held) for name, held in (state or {}).items()}
    actions = []
    for _ in range(random.randrange(1, 4) if f == "txn" else 1):
        name = random.choice("xy") if f == "txn" else None
        held = lists.setdefault(name, [])
        if f == "append" or (f == "txn" and random.random() < 0.5):
            held.append(random.randrange(1000))
            actions.append(["append", name, held[-1]])
        else:
            stale = held[: random.randrange(len(held) + 1)]
            swapped = [*held[:-2], *held[:-3:-1]]
            wild = random.choice([stale, swapped, [*held, 7]])
            actions.append(["r", name, list(held) if random.random() < 0.8 else wild])
    if f != "txn":
        return f, actions[0][2] if f == "append" else None, actions[0][2]
    return f, [[a, n, None if a == "r" else v] for a, n, v in actions], actions


def draw_elements(random: Random, state: State) -> tuple[str, object, object]:
    """Draws questions after single elements of a set."""
    f, element = random.choice(["add", "remove", "contains", "contains"]), random.randrange(4)
    is_there = random.choice([element in (state or []), element in (state or []), True, False])
    return f, element, is_there if f == "contains" else None


def draw_growing_set(random: Random, state: State) -> tuple[str, object, object]:
    """Draws adds, mostly of new elements, and reads of the whole."""
    held = list(state or [])
    if random.random() < 0.5:
        return "add", random.randrange(1000) if random.random() < 0.98 else 7, None
    told = random.sample(held, len(held))
    part = told[: random.randrange(len(held) + 1)]
    return "read", None, told if random.random() < 0.85 else random.choice([part, [*held, 7]])


def draw_fencing(random: Random, state: State) -> tuple[str, object, object]:
    alive, largest = state or (None, -1)
    token = max(random.choice([largest, largest, largest, random.randrange(4)]), 0)
    f = random.choice(["lock", "use", "use", "unlock"])
    if f == "lock":
        return f, None, largest + 1 if random.random() < 0.85 else token
    is_alive = random.choice([token == alive] * 3 + [False])
    return f, token, is_alive if f == "use" else None


def draw_map(random: Random, state: State) -> tuple[str, object, object]:
    value = random.choice(["a", "b", 3, [4]])
    f = random.choice(["get", "get", "put", "remove"])
    seen = random.choice([state, state, state, value, None])
    return f, value if f == "put" else None, seen if f == "get" else None


def draw_log(random: Random, state: State) -> tuple[str, object, object]:
    """Draws produces of new values and fetches; offsets leave gaps now and then."""
    records = [(offset, value) for offset, value, _ in state or [] if offset is not None]
    end = max((offset for offset, _ in records), default=-1) + 1
    if random.random() < 0.5:
        offset = end + random.choice([0, 0, 1]) if random.random() < 0.9 else random.randrange(4)
        return "produce", random.randrange(1000), offset
    offset, value = random.choice([*records, (end, None), (random.randrange(4), None)])
    lost = [value for offset, value, _ in state or [] if offset is None]
    return "fetch", offset, random.choice(lost) if lost and random.random() < 0.3 else value


def draw_versioned(random: Random, state: State) -> tuple[str, object, object]:
    value, version = state or (None, 0)
    near = max(0, version + random.choice([0, 0, 0, 0, 1, -1]))
    f, new = random.choice(["get", "get", "set", "set-if"]), random.randrange(3)
    if f == "get":
        return f, None, [random.choice([value, value, value, new]), near]
    return f, (new if f == "set" else [near, new]), random.choice([version, near, near]) + 1


def random_history(
    random: Random, draw: Draw, apply: Apply, size: int, processes: int, state: State = None
) -> list[Operation]:
    """Operations with random overlaps, from a system that often answers as it should."""
    operations: list[Operation] = []
    open_by_process: dict[int, int] = {}
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


def some_lost(
    random: Random, history: Sequence[Operation], lost: Callable[[Operation], Operation]
) -> list[Operation]:
    """A history of which up to half of the operations are as they are when lost."""
    share = random.choice([0, 0.1, 0.3, 0.5])
    return [lost(one) if random.random() < share else one for one in history]


def _completed(random: Random, operation: Operation, event: int) -> Operation:
    status = random.choices(["ok", "info", "fail"], [80, 14, 6])[0]
    output = operation.output if status == "ok" else None
    return msgspec.structs.replace(
        operation, status=status, complete_index=event, complete_time=event, output=output
    )


def _pending(operation: Operation) -> Operation:
    return msgspec.structs.replace(operation, output=None)
