"""No reduction turns a linearizable history invalid; what is called minimal is so.

On random small histories of every model that has a drawer, judged by trying every order.
"""

from dataclasses import replace
from math import inf
from random import Random

import pytest

from checkers.engines.general import check_linearizable
from checkers.engines.plan import plan_of
from checkers.explain import reductions
from checkers.explain.brute_force import is_linearizable
from checkers.explain.budget import Budget
from checkers.explain.engine_verdicts import is_surely_invalid
from checkers.explain.minimise import minimise
from checkers.explain.subhistory import SubHistory
from checkers.models import SequentialModel, models
from checkers.models.reducible import AllBut, ReducibleModel
from checkers.options import Limits
from checkers.verdict import Verdict
from tests.checkers.cases import CASES, model_of
from tests.checkers.random_histories import random_history

HISTORIES = 200
KINDS = ["drop", "optional", "weaken", "weaken all", "window", "window of few", "tidy", "project"]
KINDS += ["count", "help", "add up", "balance"]
NAMES = sorted(name for name in CASES if isinstance(models()[model_of(name)], SequentialModel))


def sequential(name: str) -> SequentialModel:
    model = models()[model_of(name)]
    assert isinstance(model, SequentialModel)
    return model


def reduced_once(random: Random, model: SequentialModel, sub: SubHistory) -> SubHistory | None:
    """Some sound reduction of some calls; None where it does not apply."""
    entries = list(enumerate(sub.entries))
    some = [place for place, _ in entries if random.random() < 0.4]
    pure = [place for place in some if model.is_pure(sub.entries[place].call)]
    weak = [n for n in some if reductions.weaker_calls(model, sub.entries[n].call)]
    events = [one.operation.invoke_index for one in sub.entries]
    kind = random.choice(KINDS)
    since = max(random.randrange(max(events, default=0) + 2), sub.since or 0)
    required = [sub.entries[place] for place in some]
    makes = {
        "drop": lambda: reductions.dropped(model, sub, pure),
        "optional": lambda: reductions.optional(model, sub, some),
        "weaken": lambda: reductions.weakened(model, sub, weak),
        "weaken all": lambda: reductions.weakest(model, sub),
        "window": lambda: reductions.window(model, sub, since),
        "window of few": lambda: reductions.window(model, sub, since, required),
        "tidy": lambda: reductions.tidied(model, sub),
        "count": lambda: reductions.counted(model, sub),
        "help": lambda: replace(sub, entries=reductions.helpful(model, sub.entries)),
        "add up": lambda: reductions.added_up(model, sub),
        "balance": lambda: reductions.balanced(model, sub, random.choice([0, 3])),
    }
    if kind in makes:
        return makes[kind]()
    if not isinstance(model, ReducibleModel) or sub.since is not None:
        return None
    values = sorted({v for one in sub.entries for v in model.values(one.call)}, key=repr)
    some = frozenset(v for v in values if random.random() < 0.4)
    return reductions.projected(model, sub, random.choice([some, AllBut(some)]))


@pytest.mark.parametrize("name", NAMES)
def test_a_linearizable_history_stays_so(name):
    model, random = sequential(name), Random(f"sound {name}")
    apply, draw = CASES[name]
    reduced = 0
    for _ in range(HISTORIES):
        size = random.randrange(3, 9)
        operations = random_history(random, draw, apply, size, random.randrange(2, 5))
        end = random.randrange(2 * size + 1)
        sub = reductions.prefix(model, operations, 1 << 60)
        if not is_linearizable(model, sub):
            continue
        sub = reductions.prefix(model, operations, end)
        done = [f"prefix {end}"]
        for _ in range(5):
            assert is_linearizable(model, sub), (done, operations, sub)
            further = reduced_once(random, model, sub)
            if further is not None:
                sub, reduced = further, reduced + (further != sub)
                done.append(repr(sub))
        assert is_linearizable(model, sub), (done, operations)
    assert reduced > HISTORIES / 10, "hardly anything was reduced"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_refuted_with_endless_calls_is_invalid(name):
    model, random = sequential(name), Random(f"endless {name}")
    apply, draw = CASES[name]
    refuted = invalid = 0
    for _ in range(HISTORIES):
        size = random.randrange(3, 9)
        operations = random_history(random, draw, apply, size, random.randrange(2, 5))
        whole = reductions.prefix(model, operations, random.randrange(4, 2 * size + 4))
        plan = plan_of(model, list(whole.entries))
        is_refuted = Budget(inf).is_refuted(model, plan, whole.starts)
        is_legal = is_linearizable(model, whole)
        assert not (is_refuted and is_legal), operations
        refuted, invalid = refuted + is_refuted, invalid + (is_legal is False)
    assert refuted > invalid / 2
    assert invalid > HISTORIES / 20


@pytest.mark.parametrize("name", NAMES)
def test_what_an_engine_finds_invalid_is_so_however_it_was_reduced(name):
    model, random = sequential(name), Random(f"engine {name}")
    apply, draw = CASES[name]
    for _ in range(HISTORIES):
        size = random.randrange(3, 9)
        operations = random_history(random, draw, apply, size, random.randrange(2, 5))
        sub = reductions.prefix(model, operations, random.randrange(4, 2 * size + 4))
        for _ in range(random.randrange(3)):
            sub = reduced_once(random, model, sub) or sub
        if is_surely_invalid(model, sub, Limits()):
            assert is_linearizable(model, sub) is False, (operations, sub)


@pytest.mark.parametrize("name", ["queue", "stack", "priority-queue", "cas-register"])
def test_an_engine_knows_how_to_read_what_is_left(name):
    model, random = sequential(name), Random(f"read {name}")
    apply, draw = CASES[name]
    read = invalid = 0
    for _ in range(HISTORIES):
        size = random.randrange(3, 9)
        operations = random_history(random, draw, apply, size, random.randrange(2, 5))
        sub = reductions.prefix(model, operations, random.randrange(4, 2 * size + 4))
        invalid += is_linearizable(model, sub) is False
        read += is_surely_invalid(model, sub, Limits())
    assert read > invalid / 2 > HISTORIES / 20


def single_reductions(model: SequentialModel, sub: SubHistory) -> list[SubHistory]:
    """Everything that one more reduction of one call would leave."""
    found = []
    for place, entry in enumerate(sub.entries):
        if entry.is_required and model.is_pure(entry.call):
            found.append(reductions.dropped(model, sub, [place]))
        if entry.is_required:
            found.append(reductions.optional(model, sub, [place]))
        weaker = reductions.weaker_calls(model, entry.call)
        found += [reductions.weakened(model, sub, [place], choice) for choice in range(len(weaker))]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_what_is_called_minimal_is_invalid_and_minimal(name):
    model, random = sequential(name), Random(f"minimal {name}")
    apply, draw = CASES[name]
    invalid = 0
    for _ in range(HISTORIES):
        size = random.randrange(3, 14)
        operations = random_history(random, draw, apply, size, random.randrange(2, 6))
        outcome = check_linearizable(model, operations, Limits())
        if outcome.verdict is not Verdict.INVALID:
            continue
        assert outcome.stuck is not None
        assert outcome.stuck.complete_index is not None
        invalid += 1
        whole = reductions.prefix(model, operations, outcome.stuck.complete_index)
        found = minimise(model, whole, 20.0)
        assert found.is_invalid
        assert found.is_minimal
        assert is_linearizable(model, found.sub) is False, (operations, found)
        assert outcome.stuck.index in {one.operation.index for one in found.sub.entries}
        for smaller in single_reductions(model, found.sub):
            assert is_linearizable(model, smaller), (operations, found, smaller)
    assert invalid > HISTORIES / 20, "hardly any history was invalid"
