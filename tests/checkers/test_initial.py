"""Initial values that a user states: before the history, under their keys, for models that can."""

import json
from random import Random

import msgspec
import pytest
import typer
from typer.testing import CliRunner

from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.initial import parse_initial, started
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models import models
from kraftproof.checkers.options import CheckOptions
from kraftproof.commands.check import check
from kraftproof.commands.explain import explain
from tests.support.checkers import random_histories as draws
from tests.support.checkers import reference
from tests.support.random_cases import random_cases

app = typer.Typer()
app.command()(check)
explaining = typer.Typer()
explaining.command()(explain)


def written(tmp_path, *operations):
    """A history of operations (f, input, output, status, key) of one process."""
    path, events = tmp_path / "h.jsonl", []
    for f, asked, told, status, key in operations:
        for kind, value in (("invoke", asked), (status, told)):
            event = {"index": len(events), "process": 0, "type": kind, "f": f, "value": value}
            events.append(event if key is None else event | {"key": key})
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return str(path)


def run(path, *options):
    return CliRunner().invoke(app, [path, *options])


def read(value, key=None):
    return ("read", None, value, "ok", key)


def write(value, key=None, status="ok"):
    return ("write", value, value, status, key)


def test_a_first_read_names_what_to_type_and_is_valid_with_it(tmp_path):
    path = written(tmp_path, read(0), write(3), read(3))
    result = run(path)
    assert result.exit_code == 1
    assert (
        "no operation ever set 0; if that is the initial value, give --initial 0" in result.output
    )
    assert run(path, "--initial", "0").output.startswith("valid ")
    assert " 3 operations" in run(path, "--initial", "0").output
    assert run(path, "--initial", "1").exit_code == 1


def test_a_first_read_of_a_transaction_names_what_to_type_for_its_register(tmp_path):
    path = written(
        tmp_path,
        ("txn", [["w", "x", 1], ["r", "y", None]], [["w", "x", 1], ["r", "y", 7]], "ok", None),
        ("txn", [["r", "y", None]], [["r", "y", 7]], "ok", None),
    )
    result = run(path, "--model", "multi-register")
    assert result.exit_code == 1
    assert (
        "it read 7 from register y: no operation ever set 7 in register y; if that is the initial"
        " value, give --initial y=7"
    ) in result.output
    assert run(path, "--model", "multi-register", "--initial", "y=7").exit_code == 0


def test_a_read_after_a_write_is_no_initial_value(tmp_path):
    result = run(written(tmp_path, write(3), read(0)))
    assert result.exit_code == 1
    assert "initial" not in result.output


def test_each_key_may_have_its_own(tmp_path):
    path = written(tmp_path, read(0, "a"), write(1, "a"), read("x", "b"), write(1, "b"))
    assert run(path, "--initial", "0").exit_code == 1
    assert run(path, "--initial", "0", "--initial", 'b="x"').exit_code == 0
    assert run(path, "--initial", "a=0", "--initial", 'b="x"').exit_code == 0


def test_a_stated_value_proves_nothing_by_itself(tmp_path):
    result = run(written(tmp_path, write(1, status="fail")), "--initial", "0")
    assert result.exit_code == 2
    assert "nothing was checked" in result.output


@pytest.mark.parametrize(
    ("operation", "right", "wrong"),
    [
        (("get", None, 7, "ok", "k"), "7", "8"),
        (("add-and-get", 1, 8, "ok", None), "7", "8"),
        (("contains", 2, True, "ok", None), "[1,2]", "[1]"),
        (("txn", [["r", "x", None]], [["r", "x", 7]], "ok", None), "x=7", "x=8"),
    ],
)
def test_other_models_start_with_a_value_too(tmp_path, operation, right, wrong):
    names = {"get": "map", "add-and-get": "counter", "contains": "set", "txn": "multi-register"}
    path, model = written(tmp_path, operation), ("--model", names[operation[0]])
    assert run(path, *model, "--initial", right).exit_code == 0
    assert run(path, *model, "--initial", wrong).exit_code == 1


def test_a_bank_starts_with_its_balances(tmp_path):
    path = written(tmp_path, ("read", None, {"0": 5, "1": 5}, "ok", None))
    for initial, code in (('{"0":5,"1":5}', 0), ('{"0":6,"1":5}', 1)):
        assert run(path, "--model", "bank", "--initial", initial).exit_code == code


def test_an_explanation_tells_the_stated_value(tmp_path):
    path = written(tmp_path, ("get", None, 8, "ok", "k"))
    result = CliRunner().invoke(explaining, [path, "--model", "map", "--initial", "7"])
    assert result.exit_code == 1
    assert "operation -" not in result.output


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("--initial", "x"), "--initial x: JSON, or KEY=JSON, is expected"),
        (("--initial", "0", "--model", "mutex"), 'a mutex starts "free" or "held", not 0'),
        (("--initial", '"a"', "--model", "counter"), "a counter starts with an integer"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, options, wanted):
    path = written(tmp_path, ("acquire" if "mutex" in options else "add", 1, 1, "ok", None))
    result = run(path, *options)
    assert result.exit_code == 3
    assert wanted in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("case", ["cas", "write"])
def test_engines_agree_with_trying_every_order_from_that_value(case):
    """The same history, judged from 0, and by the reference that begins with a write of 0."""
    random, model = Random(case), models()["cas-register"]
    values, verdicts = parse_initial(["0"]), set()
    draw = draws.draw_few_repeated(["read", case])
    for _ in range(random_cases(200)):
        history = draws.random_history(random, draw, reference.cas_register, 8, 3)
        if all(one.status != "ok" for one in history):
            continue
        table = started("h", model, operations_table(history), values)
        (verdict,) = judge_columns(model, columns_of(table), CheckOptions(initial=values))
        first = msgspec.structs.replace(
            history[0], index=-1, f="write", input=0, output=0, status="ok", process=-1,
            invoke_index=-3, complete_index=-2,
        )  # fmt: skip
        wanted = reference.linearizable(reference.cas_register, [first, *history])
        assert (verdict.verdict.value == "valid") == wanted, history
        verdicts.add(wanted)
    assert verdicts == {True, False}
