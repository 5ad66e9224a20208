"""Queues in which elements are put again: what a search by place finds, and where it gives up.

That it agrees with trying every order is in test_against_reference.
"""

from dataclasses import replace

import numpy as np
import pytest

from kraftproof.checkers.calls.containers import QueueCalls
from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.containers import queue as queues
from kraftproof.checkers.engines.kernels.visited_states import NONE, is_known, remember
from kraftproof.checkers.engines.repeated.queue import queue as queue_repeated
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.generate import Chunks, GenerateOptions
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.models import model_named
from kraftproof.checkers.models.queue import Queue
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers.columnar import LIMITS, decided, history
from tests.support.long_cases import long
from tests.support.random_cases import is_long

ENGINE = "queue-repeated"


LARGE = 10_000 if is_long() else 300
"""Operations of a large history; as plain Python each takes long."""


def generated(*, values: int | None = 5, **options) -> QueueCalls:
    settings = GenerateOptions(model="queue", concurrency=10, values=values, **options)
    model = model_named("queue")
    assert isinstance(model, Queue)
    (table,) = Chunks(settings)
    calls = model.calls_of(columns_of(table))
    assert isinstance(calls, QueueCalls)
    return calls


@pytest.mark.parametrize("lost", [0.0, long(0.05)])
@pytest.mark.parametrize(
    ("corrupt", "verdict"),
    [long(None, Verdict.VALID), long("phantom", Verdict.INVALID), ("false-empty", Verdict.INVALID)],
)
def test_a_large_history_with_five_values_is_decided(lost, corrupt, verdict):
    calls = generated(operations=LARGE, indeterminate=lost, corrupt=corrupt, seed=4)
    (outcome,) = registry.decide(calls, LIMITS)
    assert outcome is not None
    assert (outcome.verdict, outcome.engine) == (verdict, ENGINE)


def test_what_counting_does_not_show_is_searched_for():
    """Two values go round; two takes exchange theirs, and no count is wrong."""
    puts = [("enqueue", n // 7 % 2, None, 4 * n, 4 * n + 1) for n in range(700)]
    takes = [("dequeue", None, n // 7 % 2, 4 * n + 2, 4 * n + 3) for n in range(700)]
    assert decided("queue", history(*puts, *takes)).verdict is Verdict.VALID
    early = [("enqueue", 1, None, 4 * n, 4 * n + 1) for n in range(350)]
    late = [("enqueue", 0, None, 4 * n, 4 * n + 1) for n in range(350, 700)]
    wrong = [("dequeue", None, int(n != 349), 2800 + 2 * n, 2801 + 2 * n) for n in range(351)]
    outcome = decided("queue", history(*early, *late, *wrong))
    assert outcome.verdict is Verdict.INVALID
    assert outcome.first_illegal_row == 700 + 349


def test_a_take_that_began_late_leaves_no_moment_without_elements():
    """What found none until 33 lies before the puts that were over by 15, when `late` began."""
    first = ("enqueue", 1, None, 0, 7)
    lost = ("dequeue", None, None, 2, None)
    none = ("dequeue", None, None, 9, 33)
    twos = [("enqueue", 2, None, 11, 13), ("enqueue", 2, None, 12, 16)]
    again = [("enqueue", 1, None, 10, 19), *twos, ("enqueue", 0, None, 17, 18)]
    late = [("dequeue", None, 1, 15, 27), ("dequeue", None, 2, 20, 26)]
    assert decided("queue", history(first, lost, none, *again, *late)).verdict is Verdict.VALID
    assert decided("queue", history(first, none, *again, *late)).verdict is Verdict.INVALID


def test_past_its_limits_a_key_is_left_undecided():
    calls = generated(operations=LARGE // 5, indeterminate=0.05, seed=4)
    assert queues.decide(calls, Limits(memory_bytes=10_000)) == [None]


def test_orders_of_what_is_never_taken_are_not_searched():
    """Of eight elements the last has to be first, and nobody takes the others: 8! orders."""
    puts = [("enqueue", n, None, n, 100 + n) for n in range(8)]
    take = ("dequeue", None, 7, 50, 60)
    wrong = ("dequeue", None, 99, 70, 80)
    limits = Limits(seconds=60, memory_bytes=1_000_000)
    assert check_linearizable(Queue(), history(*puts, take), limits).verdict is Verdict.VALID
    found = check_linearizable(Queue(), history(*puts, take, wrong), limits)
    assert found.verdict is Verdict.INVALID
    assert found.first_illegal is not None
    assert found.first_illegal.output == 99


def test_a_table_keeps_every_state_once_however_often_it_grows():
    table, known = np.full((2, 3), NONE, dtype=np.int32), 0
    states = [np.asarray([n, n % 7, 0], dtype=np.int32) for n in range(100)]
    for state in states * 2:
        table, known = remember(table, known, state)
    assert known == len(states)
    assert all(is_known(table, state) for state in states)
    assert not is_known(table, np.asarray([100, 0, 0], dtype=np.int32))


@pytest.mark.parametrize("corrupt", [None, "duplicate", "phantom", "out-of-order"])
def test_it_names_what_the_engine_of_unique_elements_names(corrupt):
    calls = generated(operations=LARGE * 3 // 10, values=None, corrupt=corrupt, seed=2)
    (outcome,) = queues.decide(calls, LIMITS)
    assert outcome is not None
    assert outcome.engine == "queue"
    assert outcome.verdict is (Verdict.INVALID if corrupt else Verdict.VALID)
    searched = queue_repeated.decide_repeated(calls, 0, len(calls), LIMITS)
    assert searched == replace(outcome, engine=ENGINE)


@pytest.mark.long
@pytest.mark.parametrize("concurrency", [10, 20, 50])
@pytest.mark.parametrize("lost", [0.0, 0.05])
def test_queues_of_many_clients_are_found_valid(concurrency, lost):
    options = GenerateOptions(
        model="queue", operations=10_000, concurrency=concurrency, values=5,
        indeterminate=lost, seed=3,
    )  # fmt: skip
    (table,) = Chunks(options)
    calls = model_named("queue").calls_of(columns_of(table))  # type: ignore[union-attr]
    (outcome,) = registry.decide(calls, LIMITS)
    assert outcome is not None
    assert (outcome.verdict, outcome.engine) == (Verdict.VALID, ENGINE)
