"""The limit of time of a key, whatever its operations cost, told by counting work."""

from types import SimpleNamespace

import pytest

from checkers.engines import general
from checkers.engines.general import check_linearizable
from checkers.models.specification import Specification
from checkers.options import Limits
from checkers.verdict import Verdict
from tests.checkers.columnar import history

SECONDS = 100


class Costly(Specification):
    """A register each of whose steps takes a second."""

    name = "costly"
    functions = frozenset({"read", "write"})

    def __init__(self):
        self.seconds = 0

    def init(self):
        return 0

    def step(self, state, call):
        self.seconds += 1
        if call.f == "read":
            return state if call.output == state else None
        return call.input

    def is_pure(self, call):
        return call.f == "read"


@pytest.fixture
def model(monkeypatch):
    costly = Costly()
    monkeypatch.setattr(general, "time", SimpleNamespace(monotonic=lambda: float(costly.seconds)))
    return costly


def test_what_needs_no_choice_is_given_up_in_time_all_the_same(model):
    reads = [("read", None, 0, 2 * n, 2 * n + 1) for n in range(5_000)]
    found = check_linearizable(model, history(*reads), Limits(seconds=SECONDS))
    assert (found.verdict, found.reason) == (Verdict.UNKNOWN, f"no verdict within {SECONDS} s")
    assert SECONDS < model.seconds < SECONDS + 1_000


def test_a_choice_between_many_is_given_up_in_time(model):
    writes = [("write", n, None, n, 5_000 + n) for n in range(400)]
    read = ("read", None, -1, 4_000, 4_001)
    found = check_linearizable(model, history(*writes, read), Limits(seconds=SECONDS))
    assert found.verdict is Verdict.UNKNOWN
    assert model.seconds < SECONDS + 1_000


def test_laying_out_the_operations_counts(model, monkeypatch):
    laid_out = general.make_plan

    def slowly(*args):
        model.seconds += 2 * SECONDS
        return laid_out(*args)

    monkeypatch.setattr(general, "make_plan", slowly)
    reads = [("read", None, 0, 2 * n, 2 * n + 1) for n in range(1_000)]
    found = check_linearizable(model, history(*reads), Limits(seconds=SECONDS))
    assert found.verdict is Verdict.UNKNOWN
    assert model.seconds < 2 * SECONDS + 1_000
