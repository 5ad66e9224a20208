"""What was put in and taken out is counted: what does not balance has no legal order.

On thousands of random small histories of every container, judged by trying every order.
"""

from dataclasses import replace
from random import Random

import msgspec
import pytest

from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.explain import explain
from kraftproof.checkers.explain.certificate.counting import left_over, unbalanced
from kraftproof.checkers.explain.reduction.reductions import prefix, projected
from kraftproof.checkers.explain.subhistory import ElementCount, SubHistory
from kraftproof.checkers.explain.verify.brute_force import is_element_count_right, is_linearizable
from kraftproof.checkers.generate import GenerateOptions
from kraftproof.checkers.judge.entries import Entry
from kraftproof.checkers.models import models
from kraftproof.checkers.models.container import Container
from kraftproof.checkers.models.reducible import AllBut
from kraftproof.checkers.options import Limits
from tests.support.checkers.cases import CASES
from tests.support.checkers.columnar import history
from tests.support.checkers.explained import whole_proof
from tests.support.checkers.random_histories import draw_container, random_history
from tests.support.long_cases import long
from tests.support.random_cases import is_long, random_cases

HISTORIES = random_cases(4_000, share=16)
NAMES = ("queue", "stack", "priority-queue")
NEXT_OUT = {
    "queue": lambda _: 0,
    "stack": lambda _: -1,
    "priority-queue": lambda e: e.index(min(e)),
}


def container(name: str) -> Container:
    model = models()[name]
    assert isinstance(model, Container)
    return model


def random_prefix(random: Random, name: str, values: int) -> SubHistory:
    """A prefix of random calls of a container; no operation before the last has no place."""
    model, (apply, _) = container(name), CASES[name]
    draw = draw_container(model.put, model.take, NEXT_OUT[name], values)
    size = random.randrange(3, 12)
    operations = random_history(random, draw, apply, size, random.randrange(1, 5))
    for place, one in enumerate(operations):
        if one.f == model.take and one.status == "ok" and random.random() < 0.2:
            operations[place] = msgspec.structs.replace(one, output=random.randrange(values))
    ends = [one.complete_index for one in operations if one.status == "ok"]
    first_illegal = check_linearizable(model, operations, Limits()).first_illegal
    if first_illegal is not None and first_illegal.complete_index is not None:
        return prefix(model, operations, first_illegal.complete_index)
    return prefix(model, operations, random.choice([end for end in ends if end is not None] or [0]))


def with_one_more(sub: SubHistory, balance: ElementCount) -> SubHistory:
    """The same with a call that would set the balance right, had it begun in time."""
    later = msgspec.structs.replace(
        sub.last_to_return().operation, invoke_index=balance.by + 1, complete_index=balance.by + 2
    )
    call = ("put" if balance.is_taken else "take", balance.items[0])
    return replace(sub, entries=(*sub.entries, Entry(later, call)))


@pytest.mark.parametrize("name", NAMES)
def test_what_does_not_balance_has_no_legal_order(name):
    random, model, found = Random(f"balance {name}"), container(name), 0
    orders = 0
    for _ in range(HISTORIES):
        sub = random_prefix(random, name, random.choice([1, 3, 6]))
        balance = unbalanced(model, sub)
        if balance is None:
            continue
        found += 1
        assert is_linearizable(model, sub) is False, sub
        assert is_element_count_right(model, balance, sub)
        assert is_element_count_right(model, balance, with_one_more(sub, balance))
        left = left_over(model, balance)
        assert is_linearizable(model, left) is False
        fewer = [
            replace(left, entries=tuple(one for one in left.entries if one != put))
            for put in left.entries
            if put in balance.over
        ]
        assert any(is_linearizable(model, one) for one in fewer), "what is counted shows it"
        few = projected(model, sub, AllBut(balance.about))
        assert is_linearizable(model, few) is False, balance
        orders += balance.about != balance.items
    assert found > HISTORIES / 40
    assert orders > HISTORIES / 200, "hardly any was about what has to be out before"


def widened(random: Random, sub: SubHistory) -> SubHistory:
    """The same where each call began earlier and was over later: what was legal still is."""
    moments = []
    for one, _ in sub.entries:
        began, ended = (random.expovariate(0.5) for _ in range(2))
        moments.append((one.invoke_index - began, one.index, "invoke_index"))
        if one.complete_index is not None:
            moments.append((one.complete_index + ended, one.index, "complete_index"))
    changed = {index: {} for _, index, _ in moments}
    for place, (_, index, event) in enumerate(sorted(moments)):
        changed[index][event] = place
    entries = [Entry(msgspec.structs.replace(o, **changed[o.index]), c) for o, c in sub.entries]
    entries.sort(key=lambda entry: entry.operation.invoke_index)
    return replace(sub, entries=tuple(entries))


@pytest.mark.parametrize("name", NAMES)
def test_no_balance_is_believed_of_what_has_a_legal_order(name):
    """Whatever items it is about, and whenever they are said to be out, or taken too often."""
    random, model, asked = Random(f"legal {name}"), container(name), 0
    for _ in range(HISTORIES // 2):
        sub = random_prefix(random, name, random.choice([2, 4, 12]))
        sub = random.choice([sub, widened(random, sub)])
        items = sorted({model.change(one.call).item for one in sub.entries} - {None})
        if not items or not is_linearizable(model, sub):
            continue
        asked += 1
        for _ in range(10):
            some = tuple(random.sample(items, random.randrange(1, len(items) + 1)))
            said = ElementCount(
                items=some,
                about=some,
                is_taken=random.random() < 0.3,
                over=(),
                begun=(),
                by=random.randrange(2 * len(sub) + 1),
                left=(),
            )
            assert not is_element_count_right(model, said, sub), (said, sub)
    assert asked > HISTORIES / 8


def test_counting_shows_all_that_is_wrong_with_the_last_answer_about_equal_elements():
    """Of one value only, without lost answers, a container is how many there are inside."""
    random, model, shown = Random("one value"), container("queue"), 0
    for _ in range(HISTORIES):
        sub = random_prefix(random, "queue", 1)
        calls = {one.call for one in sub.entries}
        if not sub.entries or not calls <= {("put", "0"), ("take", "0")}:
            continue
        if not any(one.is_required for one in sub.entries):
            continue
        last = sub.last_to_return()
        before = replace(sub, entries=tuple(one for one in sub.entries if one is not last))
        if is_linearizable(model, before) and not is_linearizable(model, sub):
            assert unbalanced(model, sub) is not None, sub
            shown += 1
    assert shown > HISTORIES / 100


def test_another_count_than_the_recorded_one_is_not_believed():
    operations = history(
        ("enqueue", 1, None, 0, 1),
        ("enqueue", 1, None, 2, 3),
        ("dequeue", None, 1, 4, 9),
        ("dequeue", None, None, 5, 8),
    )
    model = container("queue")
    legal = prefix(model, [operations[0], *operations[2:]], 9)
    assert unbalanced(model, legal) is None
    whole = prefix(model, operations, 8)
    balance = unbalanced(model, whole)
    assert balance is not None
    assert [one.operation.index for one in balance.over] == [0, 1]
    assert is_element_count_right(model, balance, whole)
    assert not is_element_count_right(model, replace(balance, by=7), whole)
    assert not is_element_count_right(model, replace(balance, items=("2",)), whole)
    assert not is_element_count_right(model, replace(balance, is_taken=True), whole)


@pytest.mark.parametrize(
    ("name", "kind", "lost"),
    [
        long("queue", "false-empty", 0.0),
        long("priority-queue", "false-empty", 0.0),
        long("priority-queue", "duplicate", 0.0),
        long("stack", "out-of-order", 0.05),
    ],
)
def test_what_hundreds_of_calls_show_is_told_by_counting_them(name, kind, lost):
    options = GenerateOptions(
        model=name,
        operations=10_000 if is_long() else 4_000,
        concurrency=10,
        values=None if name == "stack" else 5,
        indeterminate=lost,
        corrupt=kind,
        seed=0,
    )
    sub = whole_proof(options)
    assert sub.balance is not None
    assert len(sub.constraints) <= 3


def test_the_words_say_what_was_counted():
    calls = [("enqueue", 1, None, 2 * n, 2 * n + 1) for n in range(20)]
    calls += [("dequeue", None, 1, 40 + 2 * n, 41 + 2 * n) for n in range(12)]
    operations = history(*calls, ("dequeue", None, None, 64, 65))
    found = explain(container("queue"), "0", operations, 32)
    assert found.sub_history is not None
    assert found.sub_history.is_verified
    assert found.sub_history.is_minimal
    balance = found.sub_history.balance
    assert balance is not None
    assert (len(balance.over), len(balance.begun), balance.by) == (20, 12, 65)
    assert "By event 65, the elements of 20 enqueue of 1 had to be out" in found.words
    assert "at most 12 matching dequeue had begun" in found.words
