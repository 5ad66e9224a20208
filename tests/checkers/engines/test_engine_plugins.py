"""Engines that other distributions bring: asked after ours, and never believed when they crash.

Each test installs a distribution: a folder on the path with its metadata, as pip makes it.
"""

import json

import numpy as np
import pytest

from kraftproof.checkers.engines.own import OWN
from kraftproof.checkers.engines.registry import (
    decide,
    installed,
    order_of,
)
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import CheckerInputError, Verdict
from kraftproof.cli import run
from tests.support.checkers.register_calls import OPEN, cas, read, register_calls, write

LIMITS = Limits()
TICKETS = '''
"""A dispenser of numbers: each take returns the next one."""

from dataclasses import dataclass, replace

import numpy as np

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketCalls(Calls):
    number: np.ndarray


class Tickets:
    name = "tickets"
    functions = frozenset({"ticket"})
    is_compiled = False

    def validate(self, operation):
        pass

    def key(self, operation):
        return operation.key

    def init(self):
        return 0

    def calls(self, operations):
        return [int(one.output) for one in operations]

    def step(self, state, call):
        return state + 1 if state == call else None

    def is_pure(self, call):
        return False

    def normal_form(self, calls):
        return lambda state: state

    def describe(self, state):
        return f"ticket {state} next"

    def calls_of(self, columns):
        operations = [one for key in range(len(columns.keys)) for one in columns.operations(key)]
        return TicketCalls(
            starts=columns.starts,
            rows=np.arange(len(operations)),
            invoke=np.array([one.invoke_index for one in operations]),
            complete=np.array([one.complete_index for one in operations]),
            number=np.array([int(one.output) for one in operations]),
        )


class TicketEngine:
    """Dispensers of numbers: the numbers give the order."""

    models = ("tickets",)

    def accepts(self, calls):
        return type(calls).__name__ == "TicketCalls"

    def decide(self, calls, limits):
        return [self._key(calls, *span) for span in zip(calls.starts[:-1], calls.starts[1:])]

    def _key(self, calls, start, end):
        order = start + np.argsort(calls.number[start:end], kind="stable")
        latest = -1
        for place, call in enumerate(order):
            latest = max(latest, calls.invoke[call])
            if calls.number[call] != place or calls.complete[call] < latest:
                return Outcome(
                    verdict=Verdict.INVALID,
                    engine="ticket",
                    first_illegal_row=int(calls.rows[call]),
                    linearizable=None,
                )
        return Outcome(verdict=Verdict.VALID, engine="ticket")

    def order_of(self, calls, cut, limits):
        return np.argsort(calls.number)
'''
ANSWERS = """
from kraftproof.checkers.calls.register import RegisterCalls
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.verdict import Verdict


class AnswersAll:
    asked = 0

    def accepts(self, calls):
        return isinstance(calls, RegisterCalls)

    def decide(self, calls, limits):
        type(self).asked += 1
        return [Outcome(verdict=Verdict.VALID, engine="theirs")] * (len(calls.starts) - 1)

    def order_of(self, calls, cut, limits):
        return [0]


class TooFew(AnswersAll):
    def decide(self, calls, limits):
        return []


class Crashes(AnswersAll):
    def decide(self, calls, limits):
        raise RuntimeError("out of order")

    def order_of(self, calls, cut, limits):
        raise SystemExit(3)


class NoEngine:
    def accepts(self, calls):
        return True


def broken():
    raise OSError("no licence")
"""


def tickets(path, swapped=()):
    """Write 2,001 takes, more than the general engine is asked first; two clients at a time."""
    numbers = list(range(2002))
    for one, other in swapped:
        numbers[one], numbers[other] = numbers[other], numbers[one]
    lines = []
    for turn in range(0, 2002, 2):
        lines += [{"process": process, "type": "invoke", "f": "ticket"} for process in (0, 1)]
        for process in (0, 1):
            number = numbers[turn + process]
            lines.append({"process": process, "type": "ok", "f": "ticket", "value": number})
    events = [{"index": index, "value": None, **line} for index, line in enumerate(lines)]
    path.write_text("".join(json.dumps(one) + "\n" for one in events), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("swapped", "code"), [((), 0), ([(10, 11)], 0), ([(10, 12)], 1)], ids=["order", "open", "wrong"]
)
def test_an_installed_engine_decides_calls_that_only_it_knows(
    install, tmp_path, capsys, monkeypatch, swapped, code
):
    module = install("ticketing", TICKETS, "ticket", "TicketEngine")
    monkeypatch.setattr("kraftproof.checkers.judge.keys._MOST_SEARCHED", 0)
    asked = []
    theirs = installed()[0].engine
    decides = theirs.decide
    monkeypatch.setattr(
        theirs, "decide", lambda calls, limits: asked.append(len(calls)) or decides(calls, limits)
    )
    path = tickets(tmp_path / "tickets.jsonl", swapped)
    sources = ["--model", f"{module}:Tickets", str(path)]
    assert run(["check", "--engine", "inline", *sources]) == code, capsys.readouterr()
    assert asked == [2002]


def undecided():
    """Return calls that our engine leaves: more work than its limits allow."""
    return register_calls([write(0, 0, OPEN), write(1, 1, OPEN), cas(0, 1, 2, 5), read(1, 6, 7)])


def test_ours_is_asked_first_and_an_installed_engine_only_about_the_rest(install, monkeypatch):
    install("answering", ANSWERS, "all", "AnswersAll")
    calls = undecided()
    (ours,) = decide(calls, LIMITS)
    assert ours.engine != "theirs"
    assert installed()[0].engine.asked == 0
    from kraftproof.checkers.engines.register import registers

    monkeypatch.setattr(registers, "decide", lambda calls, limits: [None])
    (theirs,) = decide(calls, LIMITS)
    assert theirs.engine == "theirs"


def test_an_installed_engine_is_asked_for_an_order_when_ours_has_none(install, monkeypatch):
    install("answering", ANSWERS, "all", "AnswersAll")
    from kraftproof.checkers.engines.repeated.beam_search import registers

    monkeypatch.setattr(registers, "order_of", lambda calls, cut, limits: None)
    calls = undecided()
    assert order_of(calls, OPEN, LIMITS).tolist() == [calls.rows[0]]


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        (
            "Crashes",
            "RuntimeError: out of order",
        ),
        (
            "TooFew",
            "ValueError: 0 outcomes for 1 keys",
        ),
    ],
)
def test_an_engine_that_crashes_proves_nothing(install, monkeypatch, engine, reason):
    install("answering", ANSWERS, "all", engine)
    from kraftproof.checkers.engines.register import registers
    from kraftproof.checkers.engines.repeated.beam_search import registers as ordering

    monkeypatch.setattr(registers, "decide", lambda calls, limits: [None])
    (outcome,) = decide(undecided(), LIMITS)
    assert outcome.verdict is Verdict.UNKNOWN
    assert outcome.reason == f"engine all (answering:{engine} of answering) crashed: {reason}"
    if engine == "Crashes":
        monkeypatch.setattr(ordering, "order_of", lambda calls, cut, limits: None)
        assert order_of(undecided(), OPEN, LIMITS) is None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "broken",
            "crashed: OSError: no licence: uninstall it",
        ),
        ("Missing", "crashed: AttributeError: "),
        (
            "NoEngine",
            "has no decide: it has to be an Engine",
        ),
    ],
)
def test_an_engine_that_cannot_be_loaded_is_named_in_one_line(install, value, message):
    install("answering", ANSWERS, "all", value)
    with pytest.raises(CheckerInputError) as refused:
        installed()
    line = str(refused.value)
    assert line.startswith(f"engine all (answering:{value} of answering) {message}")
    assert "\n" not in line


def test_two_engines_of_one_name_are_refused_and_both_named(install):
    install("answering", ANSWERS, "all", "AnswersAll")
    install("another", ANSWERS, "all", "AnswersAll")
    with pytest.raises(CheckerInputError, match="engine all: registered twice") as refused:
        installed()
    assert "another:AnswersAll of another and answering:AnswersAll of answering" in str(
        refused.value
    )


def test_each_kind_of_calls_has_one_engine_of_ours():
    assert len({engine.kind for engine in OWN}) == len(OWN)
    assert [engine.name for engine in OWN] == sorted(engine.name for engine in OWN)
    calls = undecided()
    assert [engine.name for engine in OWN if engine.accepts(calls)] == ["register"]
    assert isinstance(calls.rows, np.ndarray)
