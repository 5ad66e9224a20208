"""Models that users write in one file: against brute force, their hints, and their mistakes."""

import json
from pathlib import Path
from random import Random

import msgspec
import pytest
import typer
from typer.testing import CliRunner

from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.judge.keys import _KeyJudge, judge_key
from kraftproof.checkers.judge.processes import map_in_order
from kraftproof.checkers.models import model_named, reference_to
from kraftproof.checkers.models.specification import Specification
from kraftproof.checkers.options import CheckOptions, Limits
from kraftproof.checkers.verdict import CheckerInputError, Verdict
from kraftproof.commands.check import check
from tests.checkers.models.example_model import Stock
from tests.support.checkers import reference
from tests.support.checkers.random_histories import random_history

EXAMPLE = Path(__file__).with_name("example_model.py")
LIMITS = Limits(seconds=20)
STOCK = "from tests.checkers.models.example_model import Stock\nclass A(Stock):\n    "
app = typer.Typer()
app.command()(check)


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments), "--engine", "inline"])


class PlainStock(Stock):
    """The same without a hint."""

    commutes = None
    is_pure = Specification.is_pure


def stock(state, operation, answered):
    """The stock once more, as the reference says it."""
    held = state or 0
    if operation.f == "restock":
        return held + operation.input
    if operation.f == "count":
        reference.require(not answered or operation.output == held)
        return held
    is_short = operation.input > held
    reference.require(not answered or is_short == (operation.output == "short"))
    if not answered:
        reference.require(not is_short)
    return held if is_short else held - operation.input


def draw_stock(random, state):
    held = state or 0
    f, number = random.choice(["restock", "restock", "take", "count"]), random.randrange(1, 4)
    if f == "restock":
        return f, number, None
    if f == "count":
        return f, None, random.choice([held, held, random.randrange(5)])
    fitting = "short" if number > held else "taken"
    return f, number, random.choice([fitting, fitting, "short", "taken"])


def test_the_example_agrees_with_trying_every_order_with_and_without_its_hints():
    random = Random(3)
    told = {Verdict.VALID: 0, Verdict.INVALID: 0}
    for _ in range(1200):
        processes = random.randrange(1, 5)
        operations = random_history(random, draw_stock, stock, random.randrange(1, 7), processes)
        outcome = check_linearizable(Stock(), operations, LIMITS)
        plain = check_linearizable(PlainStock(), operations, LIMITS)
        assert (outcome.verdict is Verdict.VALID) == reference.linearizable(stock, operations)
        assert (outcome.first_illegal, outcome.linearizable) == (
            plain.first_illegal,
            plain.linearizable,
        )
        told[outcome.verdict] += 1
    assert min(told.values()) > 100, told


def overlapping(count):
    """So many restocks at once, and a count after them of what they don't add up to."""
    restocks = [
        Operation(
            index=i, process=i, f="restock", key="k", input=2**i, status="ok",
            invoke_index=i, complete_index=count + i,
        )
        for i in range(count)
    ]  # fmt: skip
    counted = Operation(
        index=count, process=0, f="count", key="k", input=None, output=2**count, status="ok",
        invoke_index=2 * count, complete_index=2 * count + 1,
    )  # fmt: skip
    return [*restocks, counted]


def test_the_documentation_shows_the_example_as_it_is():
    documentation = Path(__file__).parents[3] / "docs" / "checkers.md"
    assert f"```python stock.py\n{EXAMPLE.read_text()}```" in documentation.read_text()


def test_what_commutes_is_tried_in_one_order_only():
    outcome = check_linearizable(Stock(), overlapping(60), LIMITS)
    assert (outcome.verdict, outcome.linearizable) == (Verdict.INVALID, 60)
    assert outcome.configurations < 200
    few = Limits(seconds=20, memory_bytes=4_000_000)
    assert check_linearizable(PlainStock(), overlapping(60), few).verdict is Verdict.UNKNOWN


class Cell(Specification):
    """A register whose values are written once, and know their number."""

    name = "cell"
    functions = frozenset({"write", "read"})

    def init(self):
        return 0

    def step(self, state, call):
        if call.f == "write":
            return call.input
        return state if call.output == state else None

    def is_pure(self, call):
        return call.f == "read"


class UniqueCell(Cell):
    """With the hint that a value is not written again."""

    def unique(self, call):
        return call.input if call.f == "write" else call.output


class VersionedCell(Cell):
    """With the hint that later values are greater, which is true of some histories only."""

    def version(self, call):
        return call.input if call.f == "write" else call.output


def cell(state, operation, answered):
    if operation.f == "write":
        return operation.input
    reference.require(not answered or (state or 0) == operation.output)
    return state


def draw_cells():
    made = 0

    def draw(random, state):
        nonlocal made
        made += 1
        if random.random() < 0.4:
            return "write", made, None
        return "read", None, random.choice([state or 0, state or 0, max(0, made - 2), made])

    return draw


def test_a_proposed_order_is_believed_only_if_it_is_legal():
    random = Random(5)
    engines = {Cell: 0, UniqueCell: 0, VersionedCell: 0}
    for _ in range(500):
        operations = random_history(random, draw_cells(), cell, random.randrange(1, 7), 3)
        truth = reference.linearizable(cell, operations)
        for kind in engines:
            verdict = judge_key(kind(), "k", operations, CheckOptions(limits=LIMITS))
            assert (verdict.verdict is Verdict.VALID) == truth
            order = kind().proposed(operations)
            engines[kind] += order is not None
    assert engines[Cell] == 0
    assert min(engines[UniqueCell], engines[VersionedCell]) > 300


@pytest.mark.parametrize("kind", [UniqueCell, VersionedCell])
def test_a_proposed_order_decides_what_no_search_would(kind):
    lost = [
        Operation(index=i, process=i, f="write", key="k", input=i + 1, invoke_index=i)
        for i in range(300)
    ]
    reads = [
        Operation(
            index=300 + i, process=400, f="read", key="k", input=None, output=i + 1, status="ok",
            invoke_index=300 + 2 * i, complete_index=301 + 2 * i,
        )
        for i in range(300)
    ]  # fmt: skip
    found = judge_key(kind(), "k", [*lost, *reads], CheckOptions(limits=Limits(seconds=5)))
    assert found.verdict is Verdict.VALID


def lines_of(operations):
    events = []
    for o in operations:
        event = {"process": o.process, "f": o.f, "key": o.key}
        events.append((o.invoke_index, event | {"type": "invoke", "value": o.input}))
        if o.complete_index is not None:
            answer = event | {"type": o.status, "value": o.output}
            events.append((o.complete_index, answer))
    ordered = sorted(events, key=lambda pair: pair[0])
    return "".join(json.dumps({"index": i} | event) + "\n" for i, event in ordered)


def test_a_model_is_taken_from_a_file(tmp_path):
    history = tmp_path / "h.jsonl"
    history.write_text(lines_of(overlapping(3)))
    result = run(history, "--model", f"{EXAMPLE}:Stock")
    assert result.exit_code == 1, result.stderr
    assert "stock/linearizable: count of k returned 8" in result.stdout
    assert "(operation 3)" in result.stdout
    model = model_named(f"{EXAMPLE}:Stock")
    reference_found = reference_to(model)
    assert type(model_named(reference_found)).__name__ == "Stock"


@pytest.mark.parametrize(
    ("content", "name", "wanted"),
    [
        (None, "Stock", "FileNotFoundError: "),
        ("class A", "A", "SyntaxError: "),
        ("1 / 0", "A", "ZeroDivisionError: division by zero"),
        ("x = 1", "A", "AttributeError: "),
        ("raise SystemExit(0)", "A", "SystemExit: 0"),
        (f"{STOCK}name = 7", "A", "its name is 7, not a text"),
        (f"{STOCK}name = ''", "A", "its name is '', not a text"),
        (f"{STOCK}functions = 'take'", "A", "its functions are 'take', not a set of texts"),
        (f"{STOCK}functions = {{1}}", "A", "its functions are {1}, not a set of texts"),
        ("class A: pass", "A", "A is no model: it has to be a Specification, "),
    ],
)
def test_a_file_without_a_model_is_one_line(tmp_path, content, name, wanted):
    path = tmp_path / "mine.py"
    if content is not None:
        path.write_text(content)
    result = run(tmp_path, "--model", f"{path}:{name}")
    assert result.exit_code == 3
    assert result.stderr.startswith(f"kraftproof check: model {path}:{name}: {wanted}")
    assert result.stderr.count("\n") == 1
    with pytest.raises(CheckerInputError):
        model_named(f"{path}:{name}")


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("def step(self, state, call): return state[0]", "TypeError: 'int' object is not"),
        ("def step(self, state, call): return [state]", "TypeError: unhashable type: 'list'"),
        ("def calls(self, operations): raise KeyError('x')", "KeyError: 'x'"),
        ("def validate(self, operation): raise KeyError('x')", "KeyError: 'x'"),
        ("def step(self, state, call): return True", "TypeError: step returned True for restock"),
    ],
)
def test_a_model_that_raises_leaves_its_keys_unknown_and_the_rest_judged(tmp_path, body, wanted):
    path = tmp_path / "mine.py"
    path.write_text(f"{STOCK}{body}\n")
    history = tmp_path / "h.jsonl"
    history.write_text(lines_of(overlapping(2)))
    result = run(history, history, "--model", f"{path}:A")
    assert result.exit_code == 2
    assert result.stdout.count(f"key k: the checker of stock crashed: {wanted}") == 2
    assert result.stderr == ""


def test_keys_are_judged_in_processes_as_they_are_here():
    options = CheckOptions(limits=LIMITS)
    model = model_named(f"{EXAMPLE}:Stock")
    tables = {
        key: operations_table([msgspec.structs.replace(o, key=key) for o in overlapping(4 + i % 3)])
        for i, key in enumerate("abcdef")
    }

    def judged(processes):
        work = _KeyJudge(model, options)
        pack = lambda key: (key, tables[key])  # noqa: E731
        found = map_in_order(work, sorted(tables), pack, processes, patience_seconds=-1)
        return [msgspec.structs.replace(verdict, seconds=0.0) for verdict in found]

    assert judged(2) == judged(1)
