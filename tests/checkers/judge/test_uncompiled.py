"""A short history is decided without a compilation, as the compiled engines would decide it."""

import subprocess
import sys

import pytest

from kraftproof.checkers import uncompiled
from kraftproof.checkers.generate.catalogue import SUBJECTS
from tests.support.long_cases import mostly_long

pytestmark = pytest.mark.compiled

QUICK = {"cas-register", "topics"}
JUDGES = """
import sys
from kraftproof.checkers import compiling, uncompiled
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models import model_named
from kraftproof.checkers.options import CheckOptions

class Compiles(BaseException): pass
def compiling_begins():
    raise Compiles
compiling.compiling = compiling_begins
uncompiled.QUESTION_SECONDS = 30.0  # a slow machine decides nothing here

name, corruption = sys.argv[1:]
shapes = [
    {"operations": 500},
    {"operations": 100, "concurrency": 20},
    {"operations": 100, "values": 2},
    {"operations": 500, "values": None, "corrupt": corruption},
]
for shape in shapes:
    columns = columns_of(generated_table(GenerateOptions(model=name, **shape)))
    (verdict,) = judge_columns(model_named(name), columns, CheckOptions())
    print(verdict.verdict.value)
print("numba" in sys.modules)
"""


@pytest.mark.parametrize("model", mostly_long([(name, name) for name in SUBJECTS], QUICK))
def test_no_kernel_is_compiled_for_a_short_history(model: str) -> None:
    kinds = SUBJECTS[model].corruptions
    corruption = next(name for name, kind in kinds.items() if kind.is_guaranteed)
    done = subprocess.run(
        [sys.executable, "-c", JUDGES, model, corruption],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["valid", "valid", "valid", "invalid", "False"], done.stderr


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Collects for each question whether it was asked uncompiled; no seconds are spent yet."""
    monkeypatch.setattr(uncompiled, "_spent", type(uncompiled._spent)(float))
    return []


def ask(asked: list[bool], calls: int = 0) -> bool:
    left = uncompiled.own.budget
    asked.append(left is not None)
    for _ in range(calls if left is not None else 0):
        left.spend()
    return left is not None


def first(asked: list[bool], *, size: int = 1, limit: float = 1e9, calls: int = 0) -> bool:
    return uncompiled.uncompiled_first(
        "engine", size, limit, lambda: ask(asked, calls), lambda _: False
    )


def test_a_short_question_is_asked_uncompiled_and_a_long_one_is_not(asked: list[bool]) -> None:
    assert first(asked, size=uncompiled.SHORT)
    assert not first(asked, size=uncompiled.SHORT + 1)
    assert asked == [True, False]


def test_an_engine_that_used_up_its_time_is_compiled_for_the_rest_of_the_process(
    asked: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uncompiled, "QUESTION_SECONDS", -1.0)
    assert not first(asked, calls=100)
    assert not first(asked, calls=100)
    assert asked == [True, False, False]
    assert uncompiled.own.budget is None


def test_an_answer_that_the_clock_may_have_cut_short_is_asked_for_again(asked: list[bool]) -> None:
    assert not first(asked, limit=0)
    assert asked == [True, False]


def test_a_number_past_64_bits_is_left_to_the_compiled_engine(asked: list[bool]) -> None:
    def overflows() -> bool:
        if ask(asked):
            raise OverflowError
        return True

    assert uncompiled.uncompiled_first("engine", 1, 1e9, overflows, lambda _: True)
    assert asked == [True, False]
