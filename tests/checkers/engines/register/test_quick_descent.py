"""The search of registers by machine words: what it says is valid is, and it finds nearly all."""

from random import Random

import numpy as np
import pytest

from kraftproof.checkers.engines.register.search import depth_first
from kraftproof.checkers.engines.register.search.bitmask_dfs import new_search, search_keys
from kraftproof.checkers.engines.register.search.layout import RANKS, lay_out
from tests.checkers.engines.register.test_frontier import random_key, truth_of
from tests.support.checkers.register_calls import register_calls
from tests.support.long_cases import long

WORDS = 64
WORK = -8


@pytest.mark.parametrize("slots_for_lost", [None, 1, long(2), long(3)])
def test_what_the_quick_search_calls_valid_is_valid(slots_for_lost):
    random = Random(77)
    keys = [random_key(random, random.randrange(5, 12)) for _ in range(800)]
    is_valid = np.array([truth_of(key).first_illegal is None for key in keys])
    layout = lay_out(register_calls(*keys))
    if slots_for_lost is not None:
        layout.counts[:, RANKS] = WORDS - slots_for_lost
    numbers = np.arange(len(keys))
    found = np.zeros((len(keys), 3), np.int64)
    search_keys(layout, numbers, new_search(layout, numbers), WORK, False, found)
    said = found[:, 0] == depth_first.VALID
    assert not (said & ~is_valid).any()
    assert (said & is_valid).sum() > 0.95 * is_valid.sum() > 0.2 * len(keys)
