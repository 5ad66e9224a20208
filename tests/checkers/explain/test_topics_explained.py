"""Topics of which many answers were lost: a wrong answer is explained without the lost ones."""

from functools import reduce
from itertools import product

import pytest

from kraftproof.checkers.explain import explain
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.tables import operations_of
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models.topics import Topics
from kraftproof.checkers.options import CheckOptions
from tests.checkers.kraft.test_topics import LOST_CREATE, A, B, created, delete, in_series, lookup

MODEL = Topics()
LOST_DELETE = ("delete", {"by": "name"}, None)


def explained(steps):
    """The operations of the explanation, with what is needed of them, and with the lost ones."""
    operations = in_series([LOST_CREATE, LOST_DELETE, *steps])
    found = explain(MODEL, "t", operations, len(operations) - 1).sub_history
    assert found.is_minimal
    assert found.is_verified
    return [(one.operation.index, one.meaning) for one in found.constraints]


@pytest.mark.parametrize(
    ("step", "needed"),
    [
        (delete("deleted"), "the topic does not exist afterwards"),
        (lookup("absent"), "the topic does not exist afterwards"),
        (delete("absent", A), "that topic is not there after it"),
        (created(B), "the topic exists afterwards"),
    ],
)
def test_a_topic_that_was_gone_is_not_deleted_again(step, needed):
    (before, meaning), (last, _) = explained([created(), step, delete("deleted", A)])
    assert (before, meaning, last) == (3, needed, 4)


def test_a_long_history_with_lost_answers_is_explained_by_two_operations():
    options = GenerateOptions(
        model="topics",
        operations=10_000,
        concurrency=10,
        indeterminate=0.05,
        corrupt="gone-id",
        seed=0,
    )
    table = generated_table(options)
    (verdict,) = judge_columns(MODEL, columns_of(table), CheckOptions())
    found = explain(MODEL, "0", operations_of(table), verdict.findings[0].operation_index)
    assert found.linearization is not None
    assert found.sub_history.is_verified
    assert len(found.sub_history.constraints) == 2


def after(state, calls):
    """The state that calls lead to, one after the other; None if one of them is not legal."""
    return reduce(lambda now, call: None if now is None else MODEL.step(now, call), calls, state)


def test_a_call_that_helps_none_of_those_that_follow_may_be_left_out():
    """Of all orders of four calls; one topic's id was told to its create, the other's to nobody."""
    ends = [by for topic in (A, B) for by in (delete("deleted", topic), delete("absent", topic))]
    lost_ends = [("delete", {"by": "id", "id": topic}, None) for topic in (A, B)]
    steps = [created(), LOST_CREATE, lookup("exists"), lookup("absent"), delete("deleted"), *ends]
    recorded = MODEL.calls(in_series([*steps, LOST_DELETE, *lost_ends]))
    calls = list(dict.fromkeys([*recorded, *(MODEL.weaker(one)[0] for one in recorded[:2])]))
    states = {after(MODEL.init(), some) for some in product(recorded, repeat=2)} - {None}
    helped = {other: {*MODEL.candidate_causes(calls, [other])} for other in calls}
    left_out = 0
    for call, *others in product(calls, repeat=4):
        if any(call in helped[other] for other in others):
            continue
        for state in states:
            if after(state, [call, *others]) is not None:
                left_out += 1
                assert after(state, others) is not None, (state, call, others)
    assert left_out > 1_000
