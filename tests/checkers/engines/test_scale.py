"""Large histories of known verdict, for all engines; what stays bounded as histories grow.

`make test-long` runs the large ones (`tests.support.checkers.scale`).
"""

import time

import msgspec
import pytest

from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.generate.subjects.register_corruption import KINDS
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_of
from kraftproof.checkers.judge.keys import judge_key
from kraftproof.checkers.models import model_named
from kraftproof.checkers.models.kv_append import KvAppend
from kraftproof.checkers.options import CheckOptions, Limits
from kraftproof.checkers.verdict import Verdict, verdict_of_keys
from tests.checkers.engines.wgl.test_general_engine import hard_history
from tests.support.checkers.engines import ENGINES
from tests.support.checkers.scale import run
from tests.support.checkers.scale_cases import SMALL, Case

FIRST = {case.options.model: case for case in reversed(SMALL)}
"""The first case of each model, with the fewest operations; `make test` has these as plain Python.
"""
REGISTERS = "cas-register"
"""Their histories are too large for plain Python; tests/checkers/engines/register has smaller ones.
"""


def cases():
    """Return each case as a parameter: long, unless it is quick."""
    for case in SMALL:
        model = case.options.model
        is_quick = model != REGISTERS and case is FIRST[model]
        marks = [] if is_quick else [pytest.mark.long]
        yield pytest.param(case, id=case.told, marks=marks)


@pytest.mark.parametrize("case", list(cases()))
def test_engines_are_right_on_histories_whose_verdict_is_known(case):
    findings = list(run(case))
    assert [finding for finding in findings if finding.wrong] == []
    assert not any(finding.is_undecided for finding in findings)
    assert len(findings) > len(case.engines)


def wrong_of(decide, monkeypatch):
    """What is found wrong with an engine, by the kind of history."""
    monkeypatch.setitem(ENGINES, "chosen", decide)
    options = GenerateOptions(operations=400, keys=3, failed=0.05)
    findings = list(run(Case(options=options, engines=("chosen",), seconds=120.0)))
    return [(f.told.split(", ")[-1].removesuffix(": chosen"), f.wrong) for f in findings if f.wrong]


def test_an_engine_that_finds_nothing_is_caught(monkeypatch):
    valid = Outcome(verdict=Verdict.VALID, engine="blind")
    wrong = wrong_of(lambda calls, _: [valid] * (len(calls.starts) - 1), monkeypatch)
    guaranteed = [name for name, kind in KINDS.items() if kind.is_guaranteed]
    assert [kind for kind, _ in wrong] == guaranteed
    assert all(what.startswith("missed operation ") for _, what in wrong)


def test_an_engine_that_cries_wolf_is_caught(monkeypatch):
    invalid = Outcome(verdict=Verdict.INVALID, engine="wolf", first_illegal_row=0)
    wrong = wrong_of(lambda calls, _: [invalid] * (len(calls.starts) - 1), monkeypatch)
    assert [kind for kind, _ in wrong] == ["valid", *KINDS]
    assert all(what.startswith(("false alarm", "named operation")) for _, what in wrong)


def test_a_long_history_of_registrations_takes_time_in_proportion():
    answers = []
    for number in range(4_000):
        epoch = number - number % 8
        who = {"incarnation": f"i{epoch}"}
        beat = {"epoch": epoch, "want_fence": False, "want_shut_down": False}
        alive = {"outcome": "alive", "fenced": False, "should_shut_down": False}
        answers.append(
            [
                ("register", who, {"outcome": "registered", "epoch": epoch}),
                ("heartbeat", beat, alive),
                ("register", {"incarnation": "other"}, {"outcome": "duplicate"}),
                ("unregister", None, {"outcome": "unregistered"}),
            ][min(number % 8, 3) if number % 8 in {0, 7} else 1 + number % 2]
        )
    operations = [
        Operation(
            index=i,
            process=0,
            f=f,
            key="1",
            input=asked,
            output=said,
            status="ok",
            invoke_index=2 * i,
            complete_index=2 * i + 1,
            invoke_time=i,
            complete_time=i + 1,
        )
        for i, (f, asked, said) in enumerate(answers)
    ]
    started = time.process_time()
    verdict = judge_key(model_named("registration"), "1", operations, CheckOptions())
    assert verdict.findings == ()
    assert time.process_time() - started < 20


def test_a_limit_leaves_only_the_key_concerned_unknown():
    options = CheckOptions(limits=Limits(seconds=0.2))
    *appends, read = hard_history()
    more_than_all = msgspec.structs.replace(read, output="a" * 602)  # some of them twice make it
    keys = [judge_key(KvAppend(), "hard", [*appends, more_than_all], options)]
    options_of_easy = GenerateOptions(model="kv-append", operations=20, concurrency=3, values=None)
    easy = operations_of(generated_table(options_of_easy))
    keys += [judge_key(KvAppend(), f"easy {i}", easy, options) for i in range(120)]
    assert [key.key for key in keys if key.verdict is not Verdict.VALID] == ["hard"]
    assert keys[0].reason == "no verdict within 0.2 s"
    assert verdict_of_keys(keys) is Verdict.VALID
    assert verdict_of_keys(keys[:50]) is Verdict.UNKNOWN
