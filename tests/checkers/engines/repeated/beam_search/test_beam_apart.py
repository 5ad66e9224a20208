"""What one register alone shows, where a search of all of them ends without a verdict."""

from collections import Counter
from dataclasses import replace
from random import Random

import msgspec
import pytest

from kraftproof.checkers.engines import registry
from kraftproof.checkers.engines.repeated.beam_search.beam_search import decide_repeated
from kraftproof.checkers.engines.transactions import single_registers as beam_apart
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.generate import generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models.multi_register import MultiRegister
from kraftproof.checkers.options import CheckOptions, Limits
from kraftproof.checkers.verdict import Verdict
from tests.checkers.explain.test_explain_crowded import crowded
from tests.support.checkers.cases import drawn
from tests.support.checkers.columnar import calls_of
from tests.support.long_cases import long
from tests.support.random_cases import random_cases

HISTORIES = random_cases(600, share=4)
MODEL = MultiRegister()


def all_are_hopeless(calls, start, end, facts, limits, *illegal):
    """Decides what has one register; of more only what takes no work."""
    seconds = limits.seconds if facts.find.shape[1] == 1 else 0
    limits = msgspec.structs.replace(limits, seconds=seconds)
    return decide_repeated(calls, start, end, facts, limits, *illegal)


def first_is_hopeless():
    """Decides nothing of the first that has several registers, and all that comes after it."""
    asked = []

    def decide(calls, start, end, facts, limits, *illegal):
        asked.append(facts)
        hopeless = len(asked) == 1 and facts.find.shape[1] > 1
        limits = msgspec.structs.replace(limits, seconds=0 if hopeless else limits.seconds)
        return decide_repeated(calls, start, end, facts, limits, *illegal)

    return decide


def first_tells_no_first():
    """Says of the first that is invalid that it is so, but not which operation is stuck first."""
    asked = []

    def decide(*given):
        asked.append(given)
        found = decide_repeated(*given)
        is_silent = len(asked) == 1 and found.verdict is Verdict.INVALID
        return replace(found, linearizable=None) if is_silent else found

    return decide


def is_one_invalid(operations):
    """Whether the history of some register alone has no legal order."""
    registers = {action[1] for one in operations for action in one.input}
    return any(
        check_linearizable(MODEL, only(operations, register), Limits()).verdict is Verdict.INVALID
        for register in registers
    )


def only(operations, register):
    """The same transactions on one register."""
    return [
        msgspec.structs.replace(
            one,
            input=[action for action in one.input if action[1] == register],
            output=one.output and [action for action in one.output if action[1] == register],
        )
        for one in operations
    ]


@pytest.mark.parametrize("can_all_be_decided_later", [True, long(False)])
def test_what_is_shown_by_one_register_is_so(can_all_be_decided_later, monkeypatch):
    random, told = Random("apart"), Counter()
    for _ in range(HISTORIES):
        operations = drawn(random, "multi-register", range(3, 10))
        calls = calls_of("multi-register", operations)
        if not calls.is_ambiguous[0]:
            continue
        decide = first_is_hopeless() if can_all_be_decided_later else all_are_hopeless
        monkeypatch.setattr(beam_apart, "decide_repeated", decide)
        (found,) = registry.decide(calls, Limits())
        truth = check_linearizable(MODEL, operations, Limits()).among(operations)
        told[found.verdict, found.linearizable is None] += 1
        if not can_all_be_decided_later:
            assert (found.verdict is Verdict.INVALID) == is_one_invalid(operations), operations
        if found.verdict is Verdict.UNKNOWN:
            assert not can_all_be_decided_later
            continue
        assert found.verdict is truth.verdict, operations
        if found.linearizable is not None:
            assert (found.first_illegal_row, found.linearizable) == (
                truth.first_illegal_row,
                truth.linearizable,
            )
        elif found.first_illegal_row is not None:
            ends = [
                operations[row].complete_index
                for row in (truth.first_illegal_row, found.first_illegal_row)
            ]
            assert ends == sorted(ends), "one that is stuck before it can't be later"
    if can_all_be_decided_later:
        assert min(told[Verdict.VALID, False], told[Verdict.INVALID, False]) > HISTORIES / 20
    else:
        assert told[Verdict.INVALID, True] > HISTORIES / 20


def test_which_operation_is_stuck_first_is_asked_again_if_it_was_not_told(monkeypatch):
    random, invalid = Random("asked again"), 0
    for _ in range(HISTORIES):
        operations = drawn(random, "multi-register", range(3, 10))
        calls = calls_of("multi-register", operations)
        if not calls.is_ambiguous[0]:
            continue
        monkeypatch.setattr(beam_apart, "decide_repeated", first_tells_no_first())
        (found,) = registry.decide(calls, Limits())
        truth = check_linearizable(MODEL, operations, Limits()).among(operations)
        assert found.verdict is truth.verdict, operations
        assert (found.first_illegal_row, found.linearizable) == (
            truth.first_illegal_row,
            truth.linearizable,
        )
        invalid += found.verdict is Verdict.INVALID
    assert invalid > HISTORIES / 20


@pytest.mark.long
def test_a_stale_read_of_many_clients_is_invalid_though_all_registers_together_are_hopeless():
    options = crowded("multi-register", "stale-read", 1_000, 60, 0.02, 77, values=8)
    columns, limits = columns_of(generated_table(options)), Limits(seconds=8)
    (judged,) = judge_columns(MODEL, columns, CheckOptions(limits=limits))
    assert judged.verdict is Verdict.INVALID
    assert not judged.findings[0].is_first
