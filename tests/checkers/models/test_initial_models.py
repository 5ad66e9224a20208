"""Every model that can start with a value does so as trying every order from that value does."""

import json
from random import Random

import pytest

from kraftproof.checkers.engines.registry import decide
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.initial import parse_initial, started
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models import ColumnarModel, models
from kraftproof.checkers.models.starting import StartingModel
from kraftproof.checkers.options import CheckOptions, Limits
from tests.checkers.test_initial import run, written
from tests.support.checkers import random_histories, reference
from tests.support.checkers.cases import CASES, LENIENT, model_of, sequential
from tests.support.random_cases import random_cases

HISTORIES = random_cases(120, share=8)
STARTS = {
    "append-log": ([[0, 7], [2, 8]], [(0, 7, frozenset()), (2, 8, frozenset())]),
    "bank": ({"a": 2, "b": 1}, ({"a": 2, "b": 1}, [])),
    "bank-overdraft": ({"a": 2, "b": 1}, ({"a": 2, "b": 1}, [])),
    "cas-register": (1, 1),
    "counter": (3, 3),
    "fencing-lock": (2, (2, 2)),
    "kv-append": ("ab", "ab"),
    "list-append": ([5, 6], {None: [5, 6], "x": [5, 6], "y": [5, 6]}),
    "map": ("a", "a"),
    "multi-register": (2, {"x": 2, "y": 2, "z": 2, 3: 2}),
    "mutex": ("held", True),
    "priority-queue": ([5, 1, 900], [5, 1, 900]),
    "queue": ([5, 6], [5, 6]),
    "set": ([1, 2], [1, 2]),
    "stack": ([5, 6], [5, 6]),
    "topics": ("A", "A"),
    "versioned-register": ([1, 3], (1, 3)),
}
"""By model: what a user states, and the state of the reference."""
NO_VALUE = {"acls", "configs", "credentials", "quotas", "registration", "tokens"}


def test_every_model_starts_with_a_value_or_says_why_not():
    names = {name for name, model in models().items() if isinstance(model, StartingModel)}
    assert names == {*STARTS, "log"}
    assert set(models()) - names == NO_VALUE
    assert all(models()[name].no_initial_value for name in NO_VALUE)


@pytest.mark.parametrize("name", sorted(one for one in CASES if model_of(one) in STARTS))
def test_engines_agree_with_trying_every_order_from_the_initial_value(name):
    random, model, (apply, draw) = Random(f"starts {name}"), sequential(name), CASES[name]
    stated, state = STARTS[model_of(name)]
    values, found, differs = parse_initial([json.dumps(stated)]), set(), 0
    for _ in range(HISTORIES):
        size, processes = random.randrange(2, 9), random.randrange(2, 5)
        history = random_histories.random_history(random, draw, apply, size, processes, state)
        if all(one.status != "ok" for one in history):
            continue
        columns = columns_of(started("h", model, operations_table(history), values))
        wanted = reference.linearizable(apply, history, initial=state)
        (verdict,) = judge_columns(model, columns, CheckOptions(initial=values))
        is_legal = not any(one.check.endswith("/linearizable") for one in verdict.findings)
        answers = [is_legal, *compiled(model, columns)]
        if model_of(name) in LENIENT:
            assert all(answers) or not wanted, history
        else:
            assert set(answers) == {wanted}, history
        found.add(wanted)
        differs += wanted != reference.linearizable(apply, history)
    assert found == {True, False}
    assert differs > HISTORIES / 20, "the initial value hardly matters"


def compiled(model, columns):
    """The answers of the compiled engine, if the model has one for such calls."""
    calls = model.calls_of(columns) if isinstance(model, ColumnarModel) else None
    outcomes = [] if calls is None else decide(calls, Limits())
    return [one.verdict.value == "valid" for one in outcomes if one is not None]


@pytest.mark.parametrize(
    ("model", "operation", "right", "wrong"),
    [
        ("queue", ("dequeue", None, 5, "ok", None), "[5,6]", "[6,5]"),
        ("stack", ("pop", None, 6, "ok", None), "[5,6]", "[6,5]"),
        ("priority-queue", ("delete-min", None, 5, "ok", None), "[6,5]", "[6,4]"),
        ("kv-append", ("get", None, "ab", "ok", "k"), 'k="ab"', '"b"'),
        ("versioned-register", ("get", None, [7, 2], "ok", "k"), "k=[7,2]", "[7,3]"),
        ("append-log", ("fetch", 4, 9, "ok", "k"), "k=[[1,8],[4,9]]", "[[4,8]]"),
        ("mutex", ("release", None, None, "ok", None), '"held"', '"free"'),
        ("fencing-lock", ("use", 6, True, "ok", None), "6", "5"),
        ("list-append", ("read", None, [1], "ok", "k"), "k=[1]", "[2]"),
        ("list-append", ("txn", [["r", "x", None]], [["r", "x", [1]]], "ok", None), "x=[1]", "[]"),
        ("topics", ("lookup", None, {"outcome": "exists"}, "ok", "t"), 't="A"', "null"),
        ("log", ("poll", [["poll"]], [["poll", {"t": [[3, 7]]}]], "ok", None), "t=[[3,7]]", "[]"),
    ],
)
def test_a_stated_value_decides_what_a_first_operation_may_find(
    tmp_path, model, operation, right, wrong
):
    path = written(tmp_path, operation)
    good, bad = (run(path, "--model", model, "--initial", one) for one in (right, wrong))
    assert (good.exit_code, bad.exit_code) == (0, 1), good.output + bad.output
    assert "operation -" not in good.output + bad.output


@pytest.mark.parametrize(
    ("model", "operation", "value", "wanted"),
    [
        ("queue", ("dequeue", None, 5, "ok", "k"), "5", "a queue starts with a list of elements"),
        ("queue", ("dequeue", None, 5, "ok", "k"), "[null]", "enqueue takes"),
        (
            "priority-queue",
            ("delete-min", None, 5, "ok", "k"),
            '["a"]',
            'insert has a number, not "a"',
        ),
        ("kv-append", ("get", None, "a", "ok", "k"), "5", "kv-append starts with a string, not 5"),
        ("versioned-register", ("get", None, [7, 2], "ok", "k"), "7", "starts with [value, versi"),
        ("versioned-register", ("get", None, [7, 2], "ok", "k"), "[7,0]", "null at version 0"),
        ("versioned-register", ("get", None, [7, 2], "ok", "k"), "[7,99999999]", "up to 10,000"),
        ("append-log", ("fetch", 4, 9, "ok", "k"), "[[4,9],[4,8]]", "offset 4 is out of order"),
        ("mutex", ("release", None, None, "ok", "k"), "1", 'starts "free" or "held", not 1'),
        ("list-append", ("read", None, [1], "ok", "k"), "1", "starts with a list of elements, not"),
        ("topics", ("lookup", None, {"outcome": "exists"}, "ok", "k"), "1", "its id, or null"),
    ],
)
def test_a_value_that_a_model_can_not_start_with_is_one_line(
    tmp_path, model, operation, value, wanted
):
    result = run(written(tmp_path, operation), "--model", model, "--initial", value)
    assert result.exit_code == 3
    assert wanted in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("key", "options", "wanted"),
    [
        ("a", ("b=1",), "no operation has the key b; the history's are a"),
        (None, ("b=1",), "no operation has the key b; the history's are none: give --initial VALU"),
        ("a", ("1", "2"), "--initial 2: every key starts with 1 already"),
        ("a", ("a=1", "a=2"), "--initial a=2: the key a starts with 1 already"),
    ],
)
def test_a_key_that_is_not_there_is_refused(tmp_path, key, options, wanted):
    path = written(tmp_path, ("read", None, 1, "ok", key), ("write", 2, 2, "ok", key))
    result = run(path, *(part for one in options for part in ("--initial", one)))
    assert result.exit_code == 3
    assert wanted in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_key_may_have_an_equals_sign(tmp_path):
    path = written(tmp_path, ("read", None, "x=1", "ok", "a=b"), ("write", 2, 2, "ok", "a=b"))
    assert run(path, "--initial", 'a=b="x=1"').exit_code == 0


def test_a_broken_transaction_is_named_with_its_line_also_with_an_initial_value(tmp_path):
    path = written(tmp_path, ("txn", 5, 5, "ok", None))
    result = run(path, "--model", "list-append", "--initial", "[]")
    assert result.exit_code == 3
    assert "txn takes" in result.stderr
