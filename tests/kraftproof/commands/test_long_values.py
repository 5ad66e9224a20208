"""A value of 100,000 characters fills no screen, whichever reader or option it comes by."""

import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftproof.checkers.text import LONGEST_LINE, LONGEST_VALUE
from kraftproof.cli import run
from kraftproof.mutants.search import Searcher

LONG = "x" * 100_000
EVENT = {"index": 0, "process": 0, "type": "invoke", "f": "write", "key": 0, "value": 1}
DONE = EVENT | {"index": 1, "type": "ok"}
OPTIONS = {
    "test": (
        "backend workload nemesis nodes time-limit rate fault-every min-bites concurrency seed"
        " mutant engine system timeouts node-config store"
    ),
    "sim": "seeds seed schedule nodes time-limit mutant budget-s store",
    "shrink": "mutant nodes time-limit budget-s store out",
    "mutants": "seeds budget-s repeat jobs",
    "check": "model engine key-seconds processes initial",
    "explain": "model key seconds initial",
    "analyze": "model key-seconds gap-seconds initial master out",
    "generate": (
        "model operations keys out concurrency values mix indeterminate failed corrupt hot-key seed"
    ),
    "up": "backend nodes timeouts seed",
}
ARGUMENTS = {
    "test": ("--dry-run",),
    "shrink": ("no-such-run",),
    "generate": ("--operations", "10"),
    "mutants": ("clean",),
}
CASES = [(command, name) for command, names in OPTIONS.items() for name in names.split()]


def lines_said(capsys, *arguments):
    """The exit code and all lines of a command line; none is longer than a line may be."""
    code = run([str(one) for one in arguments])
    said = capsys.readouterr()
    lines = [*said.out.splitlines(), *said.err.splitlines()]
    assert lines
    longest = max(map(len, lines))
    assert longest <= LONGEST_LINE, next(one for one in lines if len(one) == longest)[:300]
    shown = max((len(word) for line in lines for word in re.findall("x+", line)), default=0)
    assert shown <= LONGEST_VALUE
    assert "Traceback" not in said.err
    return code, lines


def refusals(lines):
    return [line for line in lines if line.startswith("kraftproof")]


def history(tmp_path, *events):
    path = tmp_path / "h.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return path


@pytest.mark.parametrize(("command", "option"), CASES)
def test_an_option(tmp_path, monkeypatch, capsys, command, option):
    monkeypatch.chdir(tmp_path)
    arguments = ARGUMENTS.get(command, ())
    if command in {"check", "explain", "analyze"}:
        arguments = (history(tmp_path, EVENT, DONE),)
    code, lines = lines_said(capsys, command, *arguments, f"--{option}", LONG)
    assert code == 3
    assert len(refusals(lines)) == 1


FILES = {
    "explain": ("--html", "h.jsonl"),
    "sim": ("--coverage", "--seed", "1", "--time-limit", "1"),
    "mutants": ("--scoreboard", "clean", "--seeds", "0:1", "--repeat", "1"),
}


@pytest.mark.parametrize("command", FILES)
def test_an_option_that_names_a_file(tmp_path, monkeypatch, capsys, command):
    """The name of the file is too long for a file system."""
    monkeypatch.chdir(tmp_path)
    read = EVENT | {"index": 2, "f": "read", "value": None}
    history(tmp_path, EVENT, DONE, read, read | {"index": 3, "type": "ok", "value": 7})
    option, *arguments = FILES[command]
    code, lines = lines_said(capsys, command, *arguments, option, LONG)
    assert code == 3
    (refusal,) = refusals(lines)
    assert "File name too long" in refusal
    assert {path.name for path in tmp_path.iterdir()} <= {"h.jsonl", "store"}


def test_a_table_of_mutants_that_no_file_can_hold_is_refused_before_the_searches(
    monkeypatch, capsys
):
    searched = []
    monkeypatch.setattr(Searcher, "find", lambda *arguments: searched.append(arguments))
    option, *arguments = FILES["mutants"]
    assert lines_said(capsys, "mutants", *arguments, option, LONG)[0] == 3
    assert searched == []


@pytest.mark.parametrize(
    "command", ["check", "explain", "analyze", "shrink", "mutants", "heal", "list"]
)
def test_an_argument(capsys, command):
    assert lines_said(capsys, command, LONG)[0] == 3


@pytest.mark.parametrize("name", [LONG, f"--{LONG}"])
def test_a_command(capsys, name):
    assert lines_said(capsys, name)[0] == 3


@pytest.mark.parametrize("option", ["model", "initial"])
def test_a_long_file_or_key_before_a_value(tmp_path, capsys, option):
    path = history(tmp_path, EVENT, DONE)
    for value in (f"{LONG}.py", f"{LONG}.py:Model", f"{LONG}=1", f"0={LONG}", f'"{LONG}'):
        assert lines_said(capsys, "check", path, f"--{option}", value)[0] == 3


TEXTS = {
    "a JSON function": json.dumps(EVENT | {"f": LONG}),
    "a JSON type": json.dumps(EVENT | {"type": LONG}),
    "a JSON process": json.dumps(EVENT | {"process": LONG}),
    "no JSON": LONG,
    "an EDN symbol": "{:type :invoke, :f :read, :value " + LONG + ":: , :process 0}",
    "an EDN function": "{:type :ok, :f :" + LONG + ", :value 1, :process 0}",
    "an EDN type": "{:type :" + LONG + ", :f :read, :value 1, :process 0}",
    "an EDN tag": "#" + LONG + " {:type :invoke, :f :read}",
    "an EDN number": "{:type :invoke, :f :read, :value 1" + LONG + ", :process 0}",
    "an EDN map": "{:type :ok, :" + LONG + " 1, :" + LONG + " 2}",
    "an EDN set": '{:type :ok, :value #{"' + LONG + '" "' + LONG + '"}}',
    "an EDN escape": '{:type :ok, :value "\\q' + LONG + '"}',
    "an EDN string": '{:type :ok, :value "' + LONG,
}


LOGGED = "INFO jepsen.util - 0\t:invoke\t:write\t"
TEXTS |= {
    "a LOG value": LOGGED + "[" + LONG,
    "a LOG process": LOGGED.replace("0", LONG) + "1",
    "a LOG type": LOGGED.replace("invoke", LONG) + "1",
    "a LOG function": LOGGED.replace("write", LONG) + "1",
    "a LOG string": LOGGED + '"' + LONG,
    "no LOG": LONG,
}


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_a_reader(tmp_path, capsys, name):
    kind = next((kind for kind in ("edn", "log") if kind.upper() in name), "jsonl")
    path = tmp_path / f"h.{kind}"
    path.write_text(TEXTS[name] + "\n")
    for command in ("check", "explain"):
        assert lines_said(capsys, command, path)[0] == 3


@pytest.mark.parametrize("column", ["f", "key", "input", LONG])
def test_a_parquet_table(tmp_path, capsys, column):
    path = tmp_path / "h.parquet"
    names = ["index", "process", "type", "f", "key", "input", "output", "status", column]
    pq.write_table(pa.table({one: [LONG] for one in names}), path)
    assert lines_said(capsys, "check", path)[0] == 3


@pytest.mark.parametrize("engine", ["check", "explain"])
def test_findings_and_explanations(tmp_path, capsys, engine):
    write = EVENT | {"value": LONG, "key": LONG}
    read = write | {"index": 2, "f": "read", "value": None}
    found = read | {"index": 3, "type": "ok", "value": LONG + "y"}
    path = history(tmp_path, write, write | {"index": 1, "type": "ok"}, read, found)
    assert lines_said(capsys, engine, path)[0] == 1


@pytest.mark.parametrize(
    ("model", "f", "value"),
    [
        ("cas-register", "cas", LONG),
        ("counter", "add", LONG),
        ("multi-register", "txn", LONG),
        ("list-append", "txn", [[LONG]]),
        ("log", "send", LONG),
        ("bank", "transfer", LONG),
        ("append-log", "fetch", LONG),
        ("priority-queue", "insert", LONG),
        ("kv-append", "append", [LONG]),
        ("topics", "describe", LONG),
        ("registration", "register", LONG),
        ("fencing-lock", "use", LONG),
        ("versioned-register", "set-if", LONG),
    ],
)
def test_a_value_that_a_model_refuses(tmp_path, capsys, model, f, value):
    event = EVENT | {"f": f, "value": value}
    path = history(tmp_path, event, event | {"index": 1, "type": "ok"})
    assert lines_said(capsys, "check", path, "--model", model)[0] == 3
