"""What the compiled engines say of what was reduced is true, and they can be asked about most.

On random small histories of every model that has a drawer, judged by trying every order.
"""

from collections import Counter
from random import Random

import pytest

from kraftproof.checkers.explain.verify.brute_force import is_linearizable
from kraftproof.checkers.explain.verify.engine_verdicts import engine_verdict
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers.cases import CASES, sequential
from tests.support.checkers.reduced import beginning, reduced_once
from tests.support.random_cases import random_cases

HISTORIES = random_cases(400, share=8)
WITHOUT_ENGINE = {"bank", "bank-overdraft"}
"""Cases that the general engine alone decides."""


@pytest.mark.parametrize("name", sorted(CASES.keys() - WITHOUT_ENGINE))
def test_what_an_engine_finds_is_so_however_it_was_reduced(name):
    model, random = sequential(name), Random(f"engine {name}")
    decided: Counter[Verdict] = Counter()
    for _ in range(HISTORIES):
        operations, sub = beginning(random, name)
        for _ in range(random.randrange(3)):
            sub = reduced_once(random, model, sub) or sub
        found = engine_verdict(model, sub, Limits())
        decided[found] += 1
        if found is not Verdict.UNKNOWN:
            assert is_linearizable(model, sub) is (found is Verdict.VALID), (operations, sub)
    assert decided[Verdict.VALID] > HISTORIES / 5, decided
    assert decided[Verdict.INVALID] > 0, decided
    assert decided[Verdict.UNKNOWN] < HISTORIES / 2, decided


@pytest.mark.parametrize("name", ["queue", "stack", "priority-queue", "cas-register"])
def test_an_engine_knows_how_to_read_what_is_left(name):
    model, random = sequential(name), Random(f"read {name}")
    read = invalid = 0
    for _ in range(HISTORIES):
        _, sub = beginning(random, name)
        invalid += is_linearizable(model, sub) is False
        read += engine_verdict(model, sub, Limits()) is Verdict.INVALID
    assert read > invalid / 2 > HISTORIES / 20
