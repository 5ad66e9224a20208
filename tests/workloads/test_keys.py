"""Keys retire in time and take few operations at once."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from kraftproof.cluster.systems.system import Completion, Outcome
from kraftproof.workloads.keys import MOST_OPEN, MOST_OPERATIONS, Key, KeyPool

OK = Completion(outcome=Outcome.OK)
INFO = Completion(outcome=Outcome.INFO)


def test_a_key_retires_after_two_indeterminate_results():
    key = Key("k", None)
    for _ in range(2):
        assert not key.is_retired
        key.begin()
        key.end(INFO)
    assert key.is_retired


def test_a_key_retires_after_two_hundred_operations():
    key = Key("k", None)
    for _ in range(MOST_OPERATIONS):
        assert key.is_free
        key.begin()
        key.end(OK)
    assert key.is_retired


@given(steps=st.lists(st.booleans(), max_size=600), seed=st.integers(0, 99))
def test_a_pool_never_opens_more_than_five_on_a_key_and_never_uses_a_retired_one(steps, seed):
    random = Random(seed)
    pool = KeyPool(random, 3, lambda number: f"k{number}", lambda: None)
    opened = []
    for begins in steps:
        if begins or not opened:
            key = pool.draw()
            assert not key.is_retired
            key.begin()
            opened.append(key)
            assert key.open <= MOST_OPEN
        else:
            key = opened.pop(random.randrange(len(opened)))
            key.end(INFO if random.random() < 0.1 else OK)
    assert len({key.name for key in pool.used}) == len(pool.used)
