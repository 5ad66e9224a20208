"""The search for registers loses no legal order: its rules, and tight histories of many equals.

The truth is that of a search written from the definition alone: sets of calls that may have taken
effect, and the value then.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from kraftproof.checkers.calls.register import CAS, READ, WRITE
from kraftproof.checkers.engines.register.search.portfolio import decide
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.checkers.engines.register.pruning_rules import CONDITIONS
from tests.support.checkers.engines import by_frontier, from_the_last_returns, in_steps
from tests.support.checkers.register_calls import INITIAL, OPEN, Call, register_calls
from tests.support.long_cases import long
from tests.support.random_cases import random_cases

LIMITS = Limits(seconds=60)
HISTORIES = random_cases(800, share=16)
UNREAD = 9
ENGINES = [decide, by_frontier, in_steps, from_the_last_returns]


def returns_of(calls: list[Call]) -> list[int]:
    """The calls that return, in that order, by their place."""
    returned = [place for place, call in enumerate(calls) if call[4] != OPEN]
    return sorted(returned, key=lambda place: calls[place][4])


def linearizable(calls: list[Call]) -> int:
    """How many returns some legal order reaches: the most, over all that may have taken effect."""
    returns = returns_of(calls)
    before = [
        sum(1 << place for place, other in enumerate(calls) if other[4] < call[3]) for call in calls
    ]
    furthest, waiting = 0, [(0, INITIAL)]
    seen = set(waiting)
    while waiting and furthest < len(returns):
        done, value = waiting.pop()
        reached = (n for n, place in enumerate(returns) if not done >> place & 1)
        furthest = max(furthest, next(reached, len(returns)))
        for place, (action, old, new, _, _) in enumerate(calls):
            is_next = not done >> place & 1 and not before[place] & ~done
            if is_next and (action == WRITE or old == value):
                following = (done | 1 << place, value if action == READ else new)
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
    return furthest


def tight_key(random: Random) -> list[Call]:
    """Calls around the points of one legal order, few values; half the time one thing is off.

    How far calls reach around their points is drawn for each kind of call, so that long writes meet
    short reads, and late reads long compare-and-sets. Some never return, with or without effect.
    """
    values, lost, idle = random.randrange(1, 4), random.choice([0, 0, 0.2, 0.5]), random.random()
    mix = [random.choice([0.5, 1, 2]), random.choice([0.3, 1, 2]), random.choice([0, 1, 3])]
    reach = [(random.choice([0.5, 1, 3, 8]), random.choice([0.5, 1, 3, 8])) for _ in mix]
    value, calls = INITIAL, []
    for point in range(random.randrange(8, 17)):
        action, new = random.choices([READ, WRITE, CAS], mix)[0], random.randrange(1, values + 1)
        old = -1 if action == WRITE else value
        is_lost = action != READ and random.random() < lost
        if not (is_lost and random.random() < idle):
            value = value if action == READ else new
        earlier, later = (random.random() * most for most in reach[action])
        returns = OPEN if is_lost else point + later
        calls.append((action, old, -1 if action == READ else new, point - earlier, returns))
    changed = random.randrange(2 * len(calls))
    if changed < len(calls):
        calls[changed] = off(random, calls[changed], values)
    return in_whole_times(calls)


def off(random: Random, call: tuple, values: int) -> tuple:
    """The same call, but what it reads, compares with or sets is drawn anew."""
    action, old, new, invoke, complete = call
    drawn = random.randrange(1, values + 1)
    if action != WRITE and (action == READ or random.random() < 0.5):
        return (action, drawn, new, invoke, complete)
    return (action, old, drawn, invoke, complete)


def in_whole_times(calls: list[tuple]) -> list[Call]:
    """The calls sorted by invocation; their times are numbers from 0, in the same order."""
    times = sorted({time for call in calls for time in call[3:] if time != OPEN})
    number = {time: place for place, time in enumerate(times)} | {OPEN: OPEN}
    renamed = [(*call[:3], number[call[3]], number[call[4]]) for call in calls]
    return sorted(renamed, key=lambda call: call[3])


def assert_right(engine, keys: list[list[Call]], truths: list[int]) -> None:
    calls = register_calls(*keys)
    for place, outcome in enumerate(engine(calls, LIMITS)):
        key, truth = keys[place], truths[place]
        returns = returns_of(key)
        if truth == len(returns):
            assert outcome.verdict is Verdict.VALID, key
            continue
        assert outcome.verdict is Verdict.INVALID, key
        assert outcome.linearizable == truth, key
        assert outcome.first_illegal_row == calls.rows[calls.starts[place] + returns[truth]], key


@pytest.fixture(scope="module")
def tight() -> tuple[list[list[Call]], list[int]]:
    random = Random(11)
    keys = [tight_key(random) for _ in range(HISTORIES)]
    return keys, [linearizable(key) for key in keys]


@pytest.mark.parametrize("engine", ENGINES)
def test_tight_histories_against_every_order(engine, tight):
    keys, truths = tight
    valid = sum(truth == len(returns_of(key)) for key, truth in zip(keys, truths, strict=True))
    assert HISTORIES // 10 < valid < HISTORIES * 9 // 10
    assert_right(engine, keys, truths)


def among_open_writes(calls: list[Call], begun: Iterable[float]) -> list[Call]:
    """The same among writes that nobody reads, open from those times until all is over.

    They may all take effect last, so that nothing else is true; but ranks are larger.
    """
    over = 1 + max(time for call in calls for time in call[3:] if time != OPEN)
    writes = [(WRITE, -1, UNREAD, invoke, over + n) for n, invoke in enumerate(begun)]
    return in_whole_times([*calls, *writes])


def truth_among(truth: int, few: list[Call], many: list[Call]) -> int:
    return truth + (len(many) - len(few) if truth == len(returns_of(few)) else 0)


@pytest.mark.parametrize("engine", [*map(long, ENGINES)])
def test_tight_histories_among_more_calls_than_a_word_has_bits(engine, tight):
    random = Random(12)
    keys, truths = (some[: HISTORIES // 2] for some in tight)
    many = [
        among_open_writes(key, [random.uniform(-40, 40) for _ in range(random.randrange(100, 132))])
        for key in keys
    ]
    assert_right(engine, many, list(map(truth_among, truths, keys, many)))


@pytest.mark.parametrize("before", [0, long(62), 64])
@pytest.mark.parametrize("engine", ENGINES)
def test_what_each_condition_of_a_rule_is_for(engine, before):
    keys = [list(condition.key) for condition in CONDITIONS]
    truths = [linearizable(key) for key in keys]
    assert truths == [len(returns_of(key)) for key in keys]
    many = [among_open_writes(key, range(-before, 0)) for key in keys]
    assert_right(engine, many, list(map(truth_among, truths, keys, many)))


def test_without_any_one_condition_a_verdict_is_wrong():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.checkers.engines.register.pruning_rules"],
        cwd=Path(__file__).parents[4],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stdout + done.stderr
