"""Registers whose values are written once: both engines against the general one and each other."""

from random import Random

import msgspec
import numpy as np
import pytest

from kraftproof.checkers.calls.selection import of_keys
from kraftproof.checkers.engines.register import registers, unique_cas
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.history.columns import NEVER, columns_of
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.models.cas_register import CasRegister
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers import reference
from tests.support.checkers.random_histories import random_history
from tests.support.long_cases import long
from tests.support.random_cases import random_cases

MODEL = CasRegister()
LIMITS = Limits(seconds=20)


def drawer(functions):
    """Draws operations with ever new values; what is expected is mostly recent."""
    made = 0

    def draw(random, state):
        nonlocal made
        made += 1
        recent = [None, *range(max(1, made - 6), made + 3)]  # some are yet to be written
        seen = random.choice([state, state, state, random.choice(recent)])
        f = random.choice(functions)
        if f == "read":
            return f, None, seen
        return (f, made, made) if f == "write" else (f, [seen, made], None)

    return draw


def histories(random, functions, size):
    """Several keys with interleaved events, each a random history."""
    keys = random.randrange(1, 4)
    operations: list[Operation] = []
    for key in range(keys):
        size_of_key, processes = random.randrange(1, size), random.randrange(1, 6)
        drawn = random_history(
            random, drawer(functions), reference.cas_register, size_of_key, processes
        )
        base = len(operations)
        operations += [
            msgspec.structs.replace(
                o,
                key=str(key),
                index=o.index + base,
                invoke_index=o.invoke_index * keys + key,
                complete_index=None if o.complete_index is None else o.complete_index * keys + key,
            )
            for o in drawn
        ]
    return operations


@pytest.mark.parametrize(
    ("functions", "engine"),
    [(["read", "read", "write"], "zones"), (["read", "write", "cas", "cas"], "unique-cas")],
)
@pytest.mark.parametrize(
    ("size", "rounds"), [(9, random_cases(2_800, share=16)), (40, random_cases(1_200))]
)
def test_says_what_the_general_engine_says_and_names_the_same_operation(
    functions, engine, size, rounds
):
    random = Random(size)
    told = {Verdict.VALID: 0, Verdict.INVALID: 0}
    engines = set()
    for _ in range(rounds):
        columns = columns_of(operations_table(histories(random, functions, size)))
        decided = registers.decide(MODEL.calls_of(columns), LIMITS)
        for key, outcome in enumerate(decided):
            wanted = check_linearizable(MODEL, columns.operations(key), LIMITS)
            assert (outcome.verdict, outcome.linearizable) == (wanted.verdict, wanted.linearizable)
            if wanted.first_illegal is not None:
                assert columns.operation(outcome.first_illegal_row) == wanted.first_illegal
                assert outcome.states
            told[outcome.verdict] += 1
            engines.add(outcome.engine)
    assert engine in engines
    assert min(told.values()) > 30, told


def large_history(random, size, processes, lost):
    """A history of a real register; each operation takes effect between its events."""
    operations, effects, value, event = [], {}, None, 0
    while len(operations) < size or effects:
        process = random.randrange(processes)
        if process not in effects and len(operations) < size:
            f = random.choice(["read", "write"])
            asked = event if f == "write" else None
            effects[process] = Operation(
                index=len(operations), process=process, f=f, key="k", input=asked,
                invoke_index=event, output="not yet",
            )  # fmt: skip
            operations.append(effects[process])
        elif process in effects and effects[process].output == "not yet":
            operation = effects[process]
            value = operation.input if operation.f == "write" else value
            effects[process] = msgspec.structs.replace(operation, output=value)
        elif process in effects:
            operation, is_lost = effects.pop(process), random.random() < lost
            operations[operation.index] = msgspec.structs.replace(
                operation,
                status="info" if is_lost else "ok",
                complete_index=None if is_lost else event,
            )
        event += 1
    return operations


def outcomes_of(operations):
    calls = MODEL.calls_of(columns_of(operations_table(operations)))
    return registers.by_zones(calls)[0], unique_cas.decide(calls)[0]


@pytest.mark.parametrize(("processes", "lost"), [long(5, 0.0), long(50, 0.0), long(20, 0.05)])
def test_the_two_engines_agree_on_large_histories_and_their_corrupted_twins(processes, lost):
    random = Random(processes)
    operations = large_history(random, 20_000, processes, lost)
    zones, blocks = outcomes_of(operations)
    assert (zones.verdict, blocks.verdict) == (Verdict.VALID, Verdict.VALID)
    verdicts = []
    for _ in range(12):
        twin = list(operations)
        reads = [o for o in operations if o.f == "read" and o.status == "ok" and o.index > 9_000]
        one, other = random.choice(reads), random.choice(reads)
        twin[one.index] = msgspec.structs.replace(one, output=other.output)
        zones, blocks = outcomes_of(twin)
        assert (zones.verdict, zones.first_illegal_row, zones.linearizable, zones.states) == (
            blocks.verdict,
            blocks.first_illegal_row,
            blocks.linearizable,
            blocks.states,
        )
        verdicts.append(zones.verdict)
    assert Verdict.INVALID in verdicts


def test_a_value_read_by_who_asked_first_counts_from_its_write_though_that_never_returns():
    told = [
        (0, "read", None, "X", "ok", 0, 4),
        (1, "write", "A", "A", "ok", 1, 2),
        (2, "write", "X", None, "info", 3, None),
        (1, "read", None, "A", "ok", 5, 6),
    ]
    operations = [
        Operation(
            index=index, process=process, f=f, key="k", input=asked, output=answer,
            status=status, invoke_index=begun, complete_index=done,
        )
        for index, (process, f, asked, answer, status, begun, done) in enumerate(told)
    ]  # fmt: skip
    for outcome in outcomes_of(operations):
        assert (outcome.first_illegal_row, outcome.linearizable) == (3, 2)
        assert outcome.states == ('value "X"',)


def test_some_keys_of_calls_are_what_those_keys_alone_have():
    operations = histories(Random(5), ["read", "write", "cas"], 30)
    columns = columns_of(operations_table(operations))
    calls = MODEL.calls_of(columns)
    part = of_keys(calls, np.array([0, 2])) if len(columns.keys) > 2 else of_keys(calls, [0])
    keys = {columns.operation(row).key for row in part.rows.tolist()}
    assert keys == ({"0", "2"} if len(columns.keys) > 2 else {"0"})
    assert part.starts[-1] == len(part)
    assert ((part.complete == NEVER) | (part.complete > part.invoke)).all()
