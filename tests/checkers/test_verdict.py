"""How verdicts combine, and that a crashed model is unknown."""

import pytest

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.judge.keys import judge_key
from kraftproof.checkers.models.mutex import Mutex
from kraftproof.checkers.options import CheckOptions
from kraftproof.checkers.verdict import KeyVerdict, Verdict, verdict_of_keys, worst

V, U, I = Verdict.VALID, Verdict.UNKNOWN, Verdict.INVALID  # noqa: E741 three columns of a table


def keys(valid, unknown, invalid=0):
    told = [V] * valid + [U] * unknown + [I] * invalid
    return [
        KeyVerdict(key=str(i), model="m", verdict=verdict, operations=1)
        for i, verdict in enumerate(told)
    ]


def test_invalid_beats_unknown_beats_valid():
    assert worst([V, U, I, V]) is I
    assert worst([V, U]) is U
    assert worst([]) is V
    assert [verdict.exit_code for verdict in (V, I, U)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [((0, 0), U), ((99, 1), V), ((98, 2), U), ((0, 1), U), ((50, 49, 1), I)],
)
def test_more_than_one_percent_of_unknown_keys_is_unknown(counts, wanted):
    assert verdict_of_keys(keys(*counts)) is wanted


@pytest.mark.parametrize(
    ("valid", "unknown", "vacuous", "wanted"),
    [(0, 0, 3, U), (1, 0, 300, V), (1, 1, 300, U), (99, 1, 300, V)],
)
def test_a_key_that_proves_nothing_counts_on_neither_side(valid, unknown, vacuous, wanted):
    nothing = KeyVerdict(key="x", model="m", verdict=U, operations=1, is_vacuous=True)
    assert verdict_of_keys([*keys(valid, unknown), *[nothing] * vacuous]) is wanted


def test_a_crashed_model_leaves_its_key_and_its_run_unknown():
    class Broken(Mutex):
        def step(self, state, call):
            raise RuntimeError("lost my mind")

    operation = Operation(
        index=0, process=0, f="acquire", key="k", input=None, status="ok",
        invoke_index=0, complete_index=1,
    )  # fmt: skip
    verdict = judge_key(Broken(), "k", [operation], CheckOptions())
    assert (verdict.verdict, verdict.crashed) == (U, True)
    assert verdict.reason.startswith("the checker of mutex crashed: RuntimeError: lost my mind (")
    assert verdict_of_keys([*keys(999, 0), verdict]) is U
