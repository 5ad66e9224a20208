"""`kraftproof check`: lines, JSON, inference, exit codes, and one line for each mistake."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from kraftproof.checkers.generate import Chunks, GenerateOptions
from kraftproof.commands.check import check
from tests.checkers.conftest import HISTORIES, event_lines

app = typer.Typer()
app.command()(check)

VALID = str(HISTORIES / "etcd" / "etcd_002.jsonl")
INVALID = str(HISTORIES / "etcd" / "etcd_000.jsonl")


def run(*arguments):
    return CliRunner().invoke(app, [*arguments, "--engine", "inline"])


@pytest.fixture(scope="module")
def unknown(tmp_path_factory):
    """Few pieces that fifty clients append again and again: no engine decides that so soon."""
    options = GenerateOptions(model="kv-append", operations=3_000, concurrency=50, values=5, seed=1)
    path = tmp_path_factory.mktemp("unknown") / "unknown.parquet"
    pq.write_table(pa.concat_tables(list(Chunks(options))), path)
    return str(path)


def test_the_exit_code_is_that_of_the_worst(tmp_path):
    unknown = str(write(tmp_path / "h.jsonl", ("a", "fail")))
    assert run(VALID).exit_code == 0
    assert run(VALID, unknown).exit_code == 2
    assert run(unknown, INVALID, VALID).exit_code == 1


@pytest.mark.long
def test_the_exit_code_tells_that_the_time_was_too_short(unknown):
    """Compiles an engine, which takes twenty seconds where no command has compiled it before."""
    limit = ("--key-seconds", "0.05")
    assert run(VALID, unknown, *limit).exit_code == 2
    assert run(unknown, INVALID, VALID, *limit).exit_code == 1


def test_a_line_a_history_names_the_offending_operation():
    result = run(VALID, INVALID)
    first, second, finding = result.output.splitlines()[:3]
    assert first.startswith("valid")
    assert second.startswith("invalid")
    assert "cas-register/linearizable: read of key 0 returned" in finding
    assert "(operation " in finding


def test_json_has_one_object_a_history():
    result = run(VALID, INVALID, "--json")
    lines = [json.loads(line) for line in result.output.splitlines()]
    names = ["history", "model", "verdict", "seconds", "operations", "keys", "findings"]
    assert [list(line)[:7] for line in lines] == [names] * 2
    assert [line["verdict"] for line in lines] == ["valid", "invalid"]
    assert {line["model"] for line in lines} == {"cas-register"}


def write(path, *operations):
    """A history of (key, status) of a write each; no status: it never completed."""
    path.parent.mkdir(exist_ok=True)
    told = {"f": "write", "value": 1}
    lines = []
    for process, (key, status) in enumerate(operations):
        kinds = ("invoke", status) if status else ("invoke",)
        lines += [told | {"process": process, "key": key, "type": kind} for kind in kinds]
    path.write_text(event_lines(lines))
    return path


def test_json_carries_the_findings_with_the_fewest_operations_that_prove_them(tmp_path):
    keys = [f"{key}" for key in range(5)]
    events = [
        told | {"key": key, "type": kind, "value": value, "time": 1}
        for key in keys
        for f, answer in (("write", 1), ("read", 2))
        for kind, value in (("invoke", 1 if f == "write" else None), ("ok", answer))
        for told in ({"f": f, "process": 0},)
    ]
    (tmp_path / "h.jsonl").write_text(event_lines(events))
    found = json.loads(run(str(tmp_path / "h.jsonl"), "--json").output)["findings"]
    assert [(one["check"], one["kind"], one["key"]) for one in found] == [
        ("cas-register/linearizable", "safety", key) for key in keys
    ]
    assert [one["operation"] for one in found] == [1, 3, 5, 7, 9]
    assert [one["events"] for one in found] == [[4 * n + 2, 4 * n + 3] for n in range(5)]
    assert all("; no operation ever set 2 (operation" in one["sentence"] for one in found)
    explained = [one["explanation"] for one in found if "explanation" in one]
    assert [one["key"] for one in explained] == keys[:3]
    assert all(one["sub_history"]["is_minimal"] for one in explained)


NOTHING_PROVEN = {
    "empty": (),
    "all-failed": [("a", "fail"), ("b", "fail")],
    "all-indeterminate": [("a", "info"), ("b", None)],
}


@pytest.mark.parametrize("name", NOTHING_PROVEN)
def test_a_history_of_which_nothing_succeeded_is_unknown(tmp_path, name):
    history = write(tmp_path / "h.jsonl", *NOTHING_PROVEN[name])
    for arguments in ((), ("--model", "cas-register")):
        result = run(str(history), *arguments)
        assert result.exit_code == 2
        assert result.output.startswith("unknown ")
        assert "nothing was checked" in result.output


def test_keys_on_which_nothing_succeeded_take_no_part_in_the_verdict(tmp_path):
    failed = [(f"failed-{number}", "fail") for number in range(9)]
    good = write(tmp_path / "h.jsonl", *failed, ("good", "ok"))
    result = run(str(good))
    assert (result.exit_code, result.output.split()[0]) == (0, "valid")
    assert "9 of 10 keys prove nothing: no operation on them succeeded" in result.output


@pytest.mark.parametrize(
    ("content", "options", "wanted"),
    [
        ('{"index":0}\n', (), ":1: Object missing required field `process`"),
        ("[1]\n", (), ":1: Expected `object`, got `int`"),
        ("FROB", (), "no model fits the operations frob: give --model ("),
        ("FROB", ("--model", "mutex"), ":1: field f: frob is no operation of mutex, which has acq"),
        ("FROB", ("--model", "nope"), "model nope: no such model; there are "),
        (None, (), "no history (*.jsonl, *.edn, *.parquet) and no run directory in it"),
    ],
)
def test_a_mistake_is_one_line_and_exit_3(tmp_path, content, options, wanted):
    frob = '{"index":0,"process":0,"type":"invoke","f":"frob"}\n'
    if content is not None:
        (tmp_path / "h.jsonl").write_text(content.replace("FROB", frob))
    result = run(str(tmp_path), *options)
    assert result.exit_code == 3
    assert wanted in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_path_that_is_not_there_and_a_bad_run_directory_are_named(tmp_path):
    assert "none: no such file or directory" in run(str(tmp_path / "none")).stderr
    (tmp_path / "run.json").write_text('{"workload": {"name": "topics"}}')
    assert "missing required field `model` - at `$.workload`" in run(str(tmp_path)).stderr
    (tmp_path / "run.json").write_text('{"workload": {"name": "topics", "model": "topics"}}')
    assert "run directory without history.jsonl" in run(str(tmp_path)).stderr


def test_spark_without_java_is_one_line_and_exit_3(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(
        "kraftproof.checkers.spark.session.SparkSession.getActiveSession",
        staticmethod(lambda: None),
    )
    result = CliRunner().invoke(app, [VALID, "--engine", "spark"])
    assert result.exit_code == 3
    assert "needs Java 17 or newer" in result.stderr
    assert result.stderr.count("\n") == 1


def test_what_values_mean_can_be_said(tmp_path):
    """Both writes may be of pairs, or under the keys 1 and 3."""
    lines = [{"f": "write", "value": value} for value in ([1, 2], [3, 4])]
    path = tmp_path / "h.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in answered(lines)))
    for option, keys in (((), 2), (("--keyed",), 2), (("--unkeyed",), 1)):
        result = run(str(path), *option, "--json")
        assert json.loads(result.output)["keys"] == keys, option


def answered(operations):
    """The events of operations that one process invokes, each answered by its own value."""
    for number, operation in enumerate(operations):
        for place, kind in enumerate(("invoke", "ok")):
            yield {"index": 2 * number + place, "process": 0, "type": kind} | operation


def test_an_explanation_reads_the_history_with_all_that_was_said_of_it(tmp_path):
    lines = [{"f": "write", "value": value} for value in ([1, 2], [1, 3])]
    lines.append({"f": "read", "value": [1, 2]})
    path = tmp_path / "h.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in answered(lines)))
    for option in ("--keyed", "--unkeyed"):
        result = run(str(path), option, "--initial", "0")
        assert result.exit_code == 1
        assert "operations prove the violation" in result.output, option
