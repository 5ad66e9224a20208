"""The compiled check of spellings accepts only texts that msgspec spells in the same way."""

import json
from pathlib import Path
from random import Random

import msgspec
import pyarrow as pa
import pytest

from kraftproof.checkers.history.read.canonical import canonical, is_canonical
from kraftproof.checkers.history.read.spelling import are_canonical
from tests.support.random_cases import random_cases


def value(random, depth=0):
    kind = random.randrange(12 if depth < 4 else 7)
    if kind < 4:
        return random.choice([None, True, -1, 0, 10**18, 2**63 - 1, 2**63, 1.5, -0.0])
    if kind < 7:
        return "".join(random.choice('ab"\\é\x7f\n{}[],: ') for _ in range(random.randrange(4)))
    if kind < 9:
        return [value(random, depth + 1) for _ in range(random.randrange(4))]
    return {random.choice("abcé"): value(random, depth + 1) for _ in range(random.randrange(5))}


def text(random):
    """The text of a value, in many cases with a changed, a missing or a doubled part."""
    spelled = random.choice([json.dumps, lambda one: msgspec.json.encode(one).decode()])
    whole = spelled(value(random))
    first, second = (random.randrange(len(whole) + 1) for _ in range(2))
    changed = whole[:first] + random.choice('"\\{}[],: 0-1.eatn\n') + whole[first:]
    return random.choice([whole, whole, whole, changed, whole[:first] + whole[second:]])


def test_an_accepted_text_is_spelled_as_msgspec_spells_it():
    accepted, count = 0, random_cases(20_000, share=50)
    for seed in range(count):
        one = pa.array([text(Random(seed))])
        if are_canonical(one):
            accepted += 1
            assert is_canonical(one), (seed, one)
    assert accepted > count / 5


@pytest.mark.parametrize(
    "odd",
    [
        '{"a":1,"a":2}',
        "[1,]",
        "[1 ,2]",
        '"é"',
        '"\\u0041"',
        "-0",
        "01",
        "1e5",
        "",
        "1\n2",
        "[" * 40,
    ],
)
def test_a_text_of_another_spelling_is_not_accepted(odd):
    assert not are_canonical(pa.array(["1", odd]))


@pytest.mark.parametrize("part", [['{"a":1}', None], [None], ['{"a": 1}', None]])
def test_a_long_column_may_have_absent_texts(part):
    """For example the outputs of operations without an answer."""
    column = pa.chunked_array([part * 60_000, part * 60_000], pa.string())
    spelled = canonical(Path("table"), column, "output")
    expected = [one and one.replace(" ", "") for one in part]
    assert spelled.to_pylist() == expected * 120_000


def test_the_texts_of_operations_are_accepted():
    texts = ['{"value":"3.17@k","acks":-1,"idempotent":true}', '{"a":[{"a":1},{"a":{}}],"b":null}']
    assert are_canonical(pa.array([*texts, "[]", '""', '[[0,"x"],[1,[]]]'] * 30_000))
