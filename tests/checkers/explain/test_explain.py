"""Explanations: their words, the linearization in them, their bounds, and `kraftproof explain`.

One invalid history of each model lies in invalid_examples, NAME.jsonl, with its words, NAME.txt.
"""

from dataclasses import replace
from pathlib import Path
from random import Random

import msgspec
import pytest
import typer
from typer.testing import CliRunner

from kraftproof.checkers.engines.wgl.relaxed_search import check_linearizable
from kraftproof.checkers.explain import Explanation, explain
from kraftproof.checkers.explain.linearization.linearization import longest_linearization, states_of
from kraftproof.checkers.explain.reduction.minimise import minimise
from kraftproof.checkers.explain.reduction.reductions import prefix
from kraftproof.checkers.explain.verify.brute_force import is_linearizable
from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.operations import Operation, read_operations
from kraftproof.checkers.judge.keys import judge_columns
from kraftproof.checkers.models import SequentialModel, models
from kraftproof.checkers.models.cas_register import CasRegister
from kraftproof.checkers.options import CheckOptions, Limits
from kraftproof.checkers.verdict import CheckerInputError, Verdict
from kraftproof.commands.check import check
from kraftproof.commands.explain import explain as command
from tests.checkers.conftest import HISTORIES
from tests.support.checkers.cases import CASES, model_of
from tests.support.checkers.random_histories import random_history
from tests.support.long_cases import long
from tests.support.random_cases import random_cases

EXAMPLES = Path(__file__).parent / "invalid_examples"
SHOWN_HISTORIES = random_cases(200, share=4)
SEQUENTIAL = sorted(name for name, one in models().items() if isinstance(one, SequentialModel))
INVALID = HISTORIES / "etcd" / "etcd_000.jsonl"
VALID = HISTORIES / "etcd" / "etcd_002.jsonl"

app = typer.Typer()
app.command()(command)


def run(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


@pytest.mark.parametrize("name", SEQUENTIAL)
def test_each_model_has_an_invalid_history_and_its_words(name):
    path = EXAMPLES / f"{name}.jsonl"
    said = run(path, "--model", name)
    assert said.exit_code == 1, said.output
    _, _, words = said.stdout.partition("\n")
    assert words == path.with_suffix(".txt").read_text(encoding="utf-8")
    explanation = msgspec.json.decode(run(path, "--model", name, "--json").stdout, type=Explanation)
    assert explanation.words + "\n" == words
    assert explanation.schema_version == 2
    assert explanation.sub_history is not None
    assert explanation.sub_history.is_verified
    assert explanation.sub_history.is_minimal
    assert explanation.linearization is not None
    assert len(explanation.linearization) >= explanation.linearizable


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_linearization_is_legal_and_keeps_real_time(name):
    model, random = models()[model_of(name)], Random(f"witness {name}")
    assert isinstance(model, SequentialModel)
    apply, draw = CASES[name]
    shown = 0
    for _ in range(SHOWN_HISTORIES):
        operations = random_history(random, draw, apply, random.randrange(2, 12), 4)
        outcome = check_linearizable(model, operations, Limits())
        if outcome.verdict is not Verdict.INVALID or outcome.first_illegal is None:
            continue
        end = outcome.first_illegal.complete_index or 0
        before = prefix(model, operations, end - 1)
        order = longest_linearization(model, before, 30)
        assert order is not None
        required = [entry.operation.index for entry in before.entries if entry.is_required]
        assert set(required) <= {operation.index for operation, _ in order}
        latest, state = -1, model.init()
        for (operation, call), told in zip(order, states_of(model, order), strict=True):
            latest = max(latest, operation.invoke_index)
            assert operation.status != "ok" or (operation.complete_index or 0) > latest
            state = model.step(state, call)
            assert state == told
            assert state is not None
        shown += bool(order)
    assert shown > SHOWN_HISTORIES / 20


def stale_history(size: int, processes: int) -> tuple[list[Operation], int]:
    """Writes that overlap, one read of what was overwritten long before, and where it is over."""
    random, operations, event = Random(size), [], 0
    free = [0] * processes
    for index in range(size):
        process = random.randrange(processes)
        event = max(event, free[process]) + 1
        end = event + random.randrange(1, 4 * processes)
        stale = index == size - 5
        operations.append(
            Operation(
                index=index,
                process=process,
                f="read" if stale else "write",
                key="k",
                input=None if stale else index,
                output=size // 2 if stale else index,
                status="ok",
                invoke_index=2 * event,
                complete_index=2 * end + 1,
            )
        )
        free[process] = end
    ends = {one.complete_index for one in operations}
    assert len(ends) > size / 2
    return operations, size - 5


def test_a_long_history_is_proved_by_its_end():
    operations, first_illegal = stale_history(20_000, 8)
    found = explain(CasRegister(), "k", operations, first_illegal)
    assert found.sub_history is not None
    assert len(found.sub_history.constraints) == 2
    assert found.sub_history.is_verified
    assert found.sub_history.constraints[-1].operation.index == first_illegal


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("mutex", "double-acquire"),
        long("mutex", "double-release"),
        long("counter", "too-high"),
        long("multi-register", "stale-read"),
        long("priority-queue", "duplicate"),
        long("stack", "duplicate"),
        long("stack", "false-empty"),
        long("versioned-register", "stale-read"),
        long("append-log", "lost-record"),
        long("fencing-lock", "repeated-token"),
        long("list-append", "reordered"),
        long("queue", "duplicate"),
        long("topics", "absent"),
        long("registration", "stale-epoch"),
        long("set", "lost-add"),
    ],
)
def test_the_linearization_is_found_where_a_search_alone_would_be_lost(name, kind):
    options = GenerateOptions(
        model=name, operations=10_000, concurrency=10, values=None, corrupt=kind, seed=1
    )
    if name == "list-append":
        options = replace(options, keys=50)
    history = generated_table(options)
    model = models()[name]
    assert isinstance(model, SequentialModel)
    columns = columns_of(history)
    judged = judge_columns(model, columns, CheckOptions())
    (wrong,) = [one for one in judged if one.verdict is Verdict.INVALID]
    first_illegal = wrong.findings[0].operation_index
    assert first_illegal is not None
    operations = columns.operations(columns.keys.index(wrong.key))
    found = explain(model, wrong.key, operations, first_illegal, seconds=30)
    assert found.linearization is not None
    assert len(found.linearization) >= found.linearizable
    assert found.sub_history is not None
    assert found.sub_history.is_verified
    assert found.sub_history.is_minimal


def test_too_little_time_is_said():
    operations, first_illegal = stale_history(20_000, 8)
    found = explain(CasRegister(), "k", operations, first_illegal, seconds=1e-9)
    assert found.sub_history is None
    assert found.linearization is None
    assert "prove the violation" not in found.words


@pytest.mark.long
def test_a_sub_history_may_be_too_large_to_try_all_orders_of():
    writes = [
        Operation(
            index=n,
            process=n,
            f="write",
            key="k",
            input=n,
            output=n,
            status="ok",
            invoke_index=n,
            complete_index=1000 + n,
        )
        for n in range(40)
    ]
    sub = prefix(
        CasRegister(),
        [
            *writes,
            msgspec.structs.replace(
                writes[0], index=40, f="read", output=99, invoke_index=2000, complete_index=2001
            ),
        ],
        2001,
    )
    assert is_linearizable(CasRegister(), sub) is None


def test_what_is_valid_is_not_called_invalid():
    operations = read_operations(VALID)
    found = minimise(CasRegister(), prefix(CasRegister(), operations, 1 << 60), 20.0)
    assert not found.is_invalid


def test_the_command_says_why(tmp_path):
    picture = tmp_path / "why.html"
    said = run(INVALID, "--html", picture)
    assert said.exit_code == 1
    assert said.stdout.startswith("invalid ")
    assert "operation 43 (process 11, read -> 2), events" in said.stdout
    assert "<canvas" in picture.read_text(encoding="utf-8")


def test_the_command_has_nothing_to_explain():
    said = run(VALID)
    assert said.exit_code == 0
    assert "nothing to explain" in said.stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((INVALID, "--key", "7"), "no key 7: it has 0"),
        ((INVALID, "--model", "absent"), "no such model"),
        ((EXAMPLES / "absent.jsonl",), "no such file"),
        ((EXAMPLES,), "histories in it: name one of them"),
    ],
)
def test_a_mistake_is_one_line(arguments, line):
    said = run(*arguments)
    assert isinstance(said.exception, CheckerInputError | ValueError)
    assert line in str(said.exception)
    assert "\n" not in str(said.exception)


def test_a_model_that_fails_spoils_only_the_explanation(monkeypatch):
    def weaker(self, call):
        raise RuntimeError("out of ideas")

    monkeypatch.setattr(CasRegister, "weaker", weaker)
    said = run(INVALID)
    assert "can't be explained: the model cas-register failed: RuntimeError" in str(said.exception)


def test_check_says_why_and_writes_pictures(tmp_path):
    checked = typer.Typer()
    checked.command()(check)
    words = CliRunner().invoke(checked, ["--engine", "inline", str(INVALID)]).stdout
    assert "operation 43 (process 11, read -> 2), events" in words
    arguments = ["--engine", "inline", "--json", "--explain", str(tmp_path / "why"), str(INVALID)]
    said = CliRunner().invoke(checked, arguments)
    assert said.exit_code == 1
    assert len(said.stdout.splitlines()) == 1
    names = sorted(path.name for path in (tmp_path / "why").iterdir())
    assert names == ["1-etcd_000-0.html", "1-etcd_000-0.json"]
    explanation = msgspec.json.decode((tmp_path / "why" / names[1]).read_bytes(), type=Explanation)
    assert explanation.key == "0"
    assert explanation.history == str(INVALID)


def test_check_explains_a_run_in_its_directory(tmp_path):
    run_json = {"workload": {"name": "registers", "model": "cas-register"}}
    (tmp_path / "run.json").write_bytes(msgspec.json.encode(run_json))
    (tmp_path / "history.jsonl").write_bytes(INVALID.read_bytes())
    checked = typer.Typer()
    checked.command()(check)
    said = CliRunner().invoke(checked, ["--engine", "inline", str(tmp_path)])
    assert said.exit_code == 1
    names = sorted(path.name for path in (tmp_path / "explanations").iterdir())
    assert names == ["0.html", "0.json"]
