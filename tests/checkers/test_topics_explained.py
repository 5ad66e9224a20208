"""Topics of which many answers were lost: a wrong answer is explained without the lost ones."""

import pytest

from checkers.columns import columns_of
from checkers.explain import explain
from checkers.generate import GenerateOptions, generated_table
from checkers.judge import judge_columns
from checkers.models.topics import Topics
from checkers.options import CheckOptions
from checkers.tables import operations_of
from tests.checkers.test_topics import LOST_CREATE, A, B, created, delete, in_series, lookup

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
        (delete("deleted"), "nothing is there after it"),
        (lookup("absent"), "nothing is there after it"),
        (delete("absent", A), "that topic is not there after it"),
        (created(B), "its topic is there after it"),
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
