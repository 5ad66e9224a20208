"""The limits of a key, time and memory, whatever its operations cost, told by counting work."""

from types import SimpleNamespace

import pytest

from kraftproof.checkers.calls.lists.lists import element_texts
from kraftproof.checkers.engines.wgl import memory, relaxed_search, search
from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.models.specification import Specification
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers.columnar import history

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
    clock = SimpleNamespace(monotonic=lambda: float(costly.seconds))
    for module in (relaxed_search, search):
        monkeypatch.setattr(module, "time", clock)
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
    laid_out = relaxed_search.make_plan

    def slowly(*args):
        model.seconds += 2 * SECONDS
        return laid_out(*args)

    monkeypatch.setattr(relaxed_search, "make_plan", slowly)
    reads = [("read", None, 0, 2 * n, 2 * n + 1) for n in range(1_000)]
    found = check_linearizable(model, history(*reads), Limits(seconds=SECONDS))
    assert found.verdict is Verdict.UNKNOWN
    assert model.seconds < 2 * SECONDS + 1_000


def test_asking_what_commutes_counts(model, monkeypatch):
    def place(call):
        return -1 if call.f == "read" else call.input

    def commutes(one, other):
        """Each with all but its neighbours, so that one after the other is drawn in."""
        model.seconds += 1
        return abs(place(one) - place(other)) != 1

    monkeypatch.setattr(model, "commutes", commutes, raising=False)
    writes = [("write", n, None, n, None) for n in range(400)]
    read = ("read", None, -1, 4_000, 4_001)
    found = check_linearizable(model, history(*writes, read), Limits(seconds=SECONDS))
    assert found.verdict is Verdict.UNKNOWN
    assert model.seconds < SECONDS + 1_000


class Hoard(Specification):
    """Keeps all that it was given; a tuple as long as the history."""

    name = "hoard"
    functions = frozenset({"give"})

    def init(self):
        return ()

    def step(self, state, call):
        return (*state, call.input)


def test_states_as_long_as_the_history_count_as_memory(monkeypatch):
    given = history(*(("give", n, None, 2 * n, 2 * n + 1) for n in range(600)))
    limits = Limits(memory_bytes=1_000_000)
    assert check_linearizable(Hoard(), given, limits).verdict is Verdict.VALID
    monkeypatch.setattr(memory, "_ALLOWANCE_BYTES", 0)
    found = check_linearizable(Hoard(), given, limits)
    assert (found.verdict, found.reason) == (Verdict.UNKNOWN, "no verdict within 1000000 bytes")


def test_reads_that_repeat_each_other_share_their_texts():
    """Else a list of few values, read whole again and again, takes fifty bytes an element read."""
    values = list(range(1_000))
    one, other = element_texts(values), element_texts(values)
    assert one == tuple(map(str, values))
    assert all(text is same for text, same in zip(one, other, strict=True))


def test_texts_of_elements_tell_integers_from_what_equals_them():
    assert element_texts([1, True, 1.0, "1"]) == ("1", "true", "1.0", '"1"')
    assert element_texts([True, False]) == ("true", "false")
    assert element_texts([]) == ()
