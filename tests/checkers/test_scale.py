"""Large histories that are valid by construction, and twins with one wrong answer; bounded all."""

import time
from random import Random

import msgspec
import pytest

from checkers.engines.general import check_linearizable
from checkers.history import Operation
from checkers.judge import judge_key
from checkers.models import model_named
from checkers.models.cas_register import CasRegister
from checkers.models.kv_append import KvAppend
from checkers.options import CheckOptions, Limits
from checkers.verdict import Verdict, verdict_of_keys
from tests.checkers.test_general_engine import hard_history, linearizable_history

LIMITS = Limits(seconds=20)
SIZES = [(20_000, 5, 0.0), (5_000, 20, 0.0), (2_000, 30, 0.0), (5_000, 10, 0.01), (1_000, 20, 0.05)]


def string_history(random: Random, size: int, processes: int, lost: float) -> list[Operation]:
    """A history of a real store of strings: each operation takes effect between its events."""
    value, event = "", 0
    operations: list[Operation] = []
    pending: dict[int, list] = {}
    while len(operations) < size or pending:
        process = random.randrange(processes)
        if process not in pending:
            if len(operations) < size:
                f = random.choices(["get", "append", "put"], [45, 45, 10])[0]
                asked = None if f == "get" else f"<{len(operations)}>"
                pending[process] = [len(operations), None]
                operations.append(
                    Operation(
                        index=len(operations),
                        process=process,
                        f=f,
                        key="k",
                        input=asked,
                        invoke_index=event,
                    )
                )
        elif pending[process][1] is None:
            operation = operations[pending[process][0]]
            if operation.f != "get":
                value = operation.input if operation.f == "put" else value + operation.input
            pending[process][1] = (value,)
        else:
            number, (answer,) = pending.pop(process)
            if random.random() >= lost:
                operations[number] = msgspec.structs.replace(
                    operations[number], status="ok", output=answer, complete_index=event
                )
        event += 1
    return operations


def corrupted(operations: list[Operation], f: str, answer: object) -> list[Operation]:
    """The same history with one wrong answer, at about two thirds."""
    found = (
        o for o in operations if o.f == f and o.status == "ok" and o.index > len(operations) / 1.5
    )
    wrong = next(found)
    return [msgspec.structs.replace(o, output=answer) if o is wrong else o for o in operations]


@pytest.mark.parametrize(("size", "processes", "lost"), SIZES)
def test_a_large_register_is_valid(size, processes, lost):
    operations = linearizable_history(Random(size), size, processes, lost)
    assert check_linearizable(CasRegister(), operations, LIMITS).verdict is Verdict.VALID


@pytest.mark.parametrize(("size", "processes"), [(20_000, 5), (5_000, 10), (2_000, 16)])
def test_its_twin_with_a_value_that_nobody_wrote_is_invalid_there(size, processes):
    operations = corrupted(linearizable_history(Random(3), size, processes, 0.0), "read", 77)
    outcome = check_linearizable(CasRegister(), operations, LIMITS)
    assert outcome.verdict is Verdict.INVALID
    assert outcome.stuck is not None
    assert outcome.stuck.output == 77


@pytest.mark.parametrize(
    ("size", "processes", "lost"), [(2_000, 10, 0.0), (1_000, 10, 0.01), (400, 20, 0.0)]
)
def test_large_strings_and_their_twins(size, processes, lost):
    operations = string_history(Random(5), size, processes, lost)
    assert check_linearizable(KvAppend(), operations, LIMITS).verdict is Verdict.VALID
    twin = corrupted(operations, "get", "<1><0>")
    outcome = check_linearizable(KvAppend(), twin, LIMITS)
    assert outcome.verdict is Verdict.INVALID
    assert outcome.stuck is not None
    assert outcome.stuck.output == "<1><0>"


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
    started = time.monotonic()
    verdict = judge_key(model_named("registration"), "1", operations, CheckOptions())
    assert verdict.findings == ()
    assert time.monotonic() - started < 20


def test_a_limit_leaves_only_the_key_concerned_unknown():
    options = CheckOptions(limits=Limits(seconds=0.2))
    keys = [judge_key(KvAppend(), "hard", hard_history(), options)]
    easy = string_history(Random(1), 20, 3, 0.0)
    keys += [judge_key(KvAppend(), f"easy {i}", easy, options) for i in range(120)]
    assert [key.key for key in keys if key.verdict is not Verdict.VALID] == ["hard"]
    assert keys[0].reason == "no verdict within 0.2 s"
    assert verdict_of_keys(keys) is Verdict.VALID
    assert verdict_of_keys(keys[:50]) is Verdict.UNKNOWN
