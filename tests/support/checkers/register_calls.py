"""Small random registers as calls, and every legal order of them, straight from the definition."""

from dataclasses import dataclass
from random import Random

import numpy as np

from kraftproof.checkers.calls.register import CAS, READ, WRITE, RegisterCalls
from kraftproof.checkers.history.columns import NEVER

INITIAL = 0
NAMES = ["null", *"abcdefghijk"]
"""The values: null at first."""
OPEN = NEVER
"""Where a call never returns."""

Call = tuple[int, int, int, int, int]
"""(action, expected, new, invoke, complete)."""


def read(value, invoke, complete):
    return (READ, value, -1, invoke, complete)


def write(value, invoke, complete):
    return (WRITE, -1, value, invoke, complete)


def cas(old, new, invoke, complete):
    return (CAS, old, new, invoke, complete)


def register_calls(*keys: list[Call]) -> RegisterCalls:
    """The calls of some keys, each sorted by invocation; row = 2 * number, to tell them apart."""
    rows = [sorted(calls, key=lambda call: call[3]) for calls in keys]
    table = np.array([call for calls in rows for call in calls], np.int64).reshape(-1, 5)
    return RegisterCalls(
        starts=np.cumsum([0, *map(len, rows)]),
        rows=2 * np.arange(len(table)),
        invoke=table[:, 3].copy(),
        complete=table[:, 4].copy(),
        action=table[:, 0].astype(np.int8),
        expected=table[:, 1].astype(np.int32),
        new=table[:, 2].astype(np.int32),
        initial=INITIAL,
        values=NAMES,
    )


def random_key(random: Random, size: int) -> list[Call]:
    """A few overlapping calls on few values, which are often written again; some never return."""
    values = random.randrange(1, 4)
    mix = random.choice(["rwc", "rw", "rrwc", "rwcc", "rwwcc", "wcc", "rwww"])
    lost = random.choice([0.0, 0.0, 0.15, 0.5])
    state, event, calls, opened = INITIAL, 0, [], {}
    while len(calls) < size or opened:
        process = random.randrange(4)
        if process in opened:
            if random.random() < 0.5:
                number = opened.pop(process)
                returns = OPEN if random.random() < lost else event
                calls[number] = (*calls[number][:4], returns)
        elif len(calls) < size:
            asked = random.choice([state, state, random.randrange(values + 1)])
            new = random.choice([max(state, 1), random.randrange(1, values + 1)])
            kind = random.choice(mix)
            if kind == "r":
                calls.append(read(asked, event, OPEN))
            else:
                calls.append((write(new, event, OPEN), cas(asked, new, event, OPEN))[kind == "c"])
                state = new if kind == "w" or asked == state else state
            opened[process] = len(calls) - 1
        event += 1
    return [call for call in calls if call[0] != READ or call[4] != OPEN]


@dataclass(frozen=True)
class Truth:
    """What is true of a key: the call that no legal order reaches, what it may hold before it."""

    first_illegal: Call | None
    linearizable: int
    states: frozenset[int]


def truth_of(calls: list[Call]) -> Truth:
    """Tries every order of what was invoked, completion by completion."""
    returns = sorted((call for call in calls if call[4] != OPEN), key=lambda call: call[4])
    states = frozenset({INITIAL})
    for number, call in enumerate(returns):
        following = _states_at(calls, call[4])
        if not following:
            return Truth(call, number, states)
        states = following
    return Truth(None, len(returns), states)


def _states_at(calls: list[Call], time: int) -> frozenset[int]:
    """Every value that the register may hold when what has returned by then has taken effect."""
    invoked = [call for call in calls if call[3] <= time]
    returned = {number for number, call in enumerate(invoked) if call[4] <= time}
    seen: set[tuple[frozenset[int], int]] = set()
    waiting = [(frozenset[int](), INITIAL)]
    while waiting:
        done, value = waiting.pop()
        if (done, value) in seen:
            continue
        seen.add((done, value))
        soonest = min((invoked[i][4] for i in returned - done), default=OPEN)
        for number, (_, old, new, invoke, _) in enumerate(invoked):
            if number not in done and invoke < soonest and old in {-1, value}:
                waiting.append((done | {number}, value if new < 0 else new))
    return frozenset(value for done, value in seen if returned <= done)
