"""Every mistake of a user is one line and exit code 3, before anything is started."""

import json
import os
import signal
import subprocess
import sys

import pytest

from kraftproof import cli
from kraftproof.errors import UsageError
from kraftproof.nemesis.catalogue import nemesis_names
from kraftproof.options import RunOptions, parse_nemeses, parse_nodes, parse_pair
from kraftproof.search.seeds import parse_seeds
from kraftproof.workloads.catalogue import workload_names
from tests.support.command import KRAFTPROOF, run
from tests.support.long_cases import long


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["nonsense"], "unknown command 'nonsense'"),
        (["test", "--workload", "mail"], "unknown workload 'mail': one of topics, topic-names, "),
        (["test", "--nemesis", "storm"], "unknown nemesis 'storm'"),
        (["test", "--nemesis", "cpu"], "--nemesis cpu: the local backend can't"),
        (
            ["test", "--nemesis", "drift"],
            "only bandwidth, clock, clock-drift, clock-strobe, disk-error, disk-full, kill, ",
        ),
        (["test", "--backend", "moon"], "--backend moon: one of local, docker, ssh, simulated"),
        (["test", "--engine", "abacus"], "--engine abacus: one of spark, inline"),
        (["test", "--nodes", "3"], "--nodes 3: the system reference takes 3+3 or"),
        (["test", "--nodes", "0+3"], "--nodes 0: 1 to 32"),
        (["test", "--rate", "fast"], "--rate fast"),
        (["test", "--system", "zab"], "unknown system 'zab': one of reference"),
        (["test", "--mutant", "Z99", "--engine", "inline"], "Z99"),
        (["test", "--bogus"], "--bogus"),
        (["sim", "--seeds", "a:b"], "--seeds a:b"),
        (["up", "--backend", "simulated"], "has no addresses"),
        (["heal", "/no/such/run"], "not a run directory"),
        (["test", "--nodes", "x+y"], "--nodes x+y: 3+3, 5, or controller=3,broker=3 is expected"),
        (["test", "--time-limit", "0"], "--time-limit 0.0: 1 to 86400"),
        (["test", "--seed", "abc"], "--seed abc"),
        (["sim", "--seeds", "5:5"], "--seeds 5:5: the range is empty; A:B is A to B-1"),
        (["sim", "--seeds", "5:2"], "--seeds 5:2: the range is empty"),
        (["sim", "--budget-s", "-1"], "--budget-s -1: more than 0"),
        (["sim", "--nodes", "3"], "--nodes 3: CONTROLLERS+BROKERS is expected, for example 3+3"),
        (["sim", "--nodes", "0+3"], "--nodes 0+3: at least one of each is expected"),
        (["sim", "--nodes", "3+99"], "--nodes 99: 1 to 32"),
        (["sim", "--time-limit", "0"], "--time-limit 0.0: 1 to 86400"),
        (["sim", "--time-limit", "nan"], "--time-limit nan: 1 to 86400"),
        (["sim", "--seed", "-1"], "--seed -1: 0 or more is expected"),
        (["sim", "--seed", "3", "--seeds", "0:9"], "--seed 3: can't be combined with --seeds 0:9"),
        (["sim", "--schedule", "/no/such.txt"], "--schedule /no/such.txt: No such file"),
        (
            ["sim", "--schedule", "x.txt", "--nodes", "3+3"],
            "--schedule x.txt: the file itself sets",
        ),
        (["sim", "--mutant", "Z99"], "Z99"),
        (["sim", "--workload", "nope"], "unknown workload 'nope': one of topics"),
        (["sim", "--workload", "queue"], "--workload queue: the clients of the system reference"),
        (["sim", "--schedule", "x.txt", "--workload", "log"], "--workload, --mutant and"),
        (["shrink", "x.txt", "--workload", "log"], "x.txt: the file itself sets"),
        (
            ["test", "--node-config", "log.flush.interval.messages=5"],
            "log.flush.interval.messages=5: a run can only set 1",
        ),
        (["shrink"], "RUN"),
        (["shrink", "no-such-run"], "no-such-run: a seed, a run directory or a schedule file"),
        (["shrink", "tests"], "tests: not a run directory, no schedule.txt and no run.json"),
        (["shrink", "x.txt", "--mutant", "A18"], "x.txt: the file itself sets"),
        (["shrink", "1", "--budget-s", "0"], "--budget-s 0: more than 0"),
        (
            ["shrink", "1", "--out", "/no/such/x"],
            "--out /no/such/x: /no/such does not exist; make it first",
        ),
        (["check", "/no/such/history"], "no such file"),
        (["test", "--backend", "ssh"], "--backend ssh: needs --hosts FILE (docs/ssh.md)"),
        (["test", "--hosts", "/x.toml"], "--hosts /x.toml: the local backend takes no hosts"),
        (
            ["test", "--backend", "ssh", "--hosts", "/no/x.toml"],
            "--hosts /no/x.toml: No such file or directory",
        ),
        (["heal"], "heal: a run directory or --hosts FILE is expected"),
        (["heal", "--hosts", "/no/x.toml"], "--hosts /no/x.toml: No such file or directory"),
        (["list", "moons"], "list moons: no such kind; one of backends, systems, workloads"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_3(arguments, named, capsys):
    assert cli.run(arguments) == 3
    err = capsys.readouterr().err
    assert named in err
    assert len(err.strip().splitlines()) == 1


def test_a_store_that_is_a_file_is_refused(tmp_path, capsys):
    store = tmp_path / "store"
    store.write_text("")
    for command in ("test", "sim"):
        engine = ["--engine", "inline"] if command == "test" else []
        assert cli.run([command, *engine, "--store", str(store)]) == 3
        assert f"--store {store}: {store} is not a directory" in capsys.readouterr().err


def test_heal_needs_the_directory_of_a_run_that_is_over(tmp_path, capsys):
    run = tmp_path / "run"
    run.mkdir()
    for text, named in [
        ("", "run.json: Input data was truncated"),
        ("{}", "run.json: Object missing required field `workload`"),
        ('{"workload":{"name":"","model":""},"schema_version":1}', "run.json: harness: "),
    ]:
        (run / "run.json").write_text(text)
        assert cli.run(["heal", str(run)]) == 3
        (line,) = capsys.readouterr().err.splitlines()
        assert named in line


def test_help_teaches_and_imports_no_node():
    script = (
        "import sys; from kraftproof.cli import run; status = run(['--help']);"
        "sys.exit(status or any(m.split('.')[0] in {'node', 'pyspark'} for m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    for command in cli.COMMANDS:
        assert command in done.stdout


@pytest.mark.parametrize("command", list(cli.COMMANDS))
def test_the_help_of_each_command_has_an_example(command, capsys):
    assert cli.run([command, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.count(f"kraftproof {command}") >= 2  # the usage line is one


def test_the_command_alone_shows_the_help_and_is_no_mistake(capsys):
    assert cli.run([]) == 0
    shown = capsys.readouterr().out
    assert "Usage: kraftproof" in shown
    assert "kraftproof list" in shown


def test_the_version_is_shown(capsys):
    assert cli.run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("kraftproof 0.")


def test_every_name_is_listed_with_the_option_that_takes_it(capsys):
    assert cli.run(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    names = {kind: {item["name"] for item in items} for kind, items in listed.items()}
    assert names["backends"] == {"local", "docker", "ssh", "simulated"}
    assert {"topics", "registration"} <= names["workloads"]
    assert {"kill", "partition", "wipe"} <= names["faults"]
    assert {"cas-register", "topics"} <= names["models"]
    assert all(item["summary"] for items in listed.values() for item in items)
    kill, wipe = (next(i for i in listed["faults"] if i["name"] == n) for n in ("kill", "wipe"))
    assert kill["backends"] == ["local", "docker", "ssh", "simulated"]
    assert wipe["backends"] == ["simulated"]
    assert cli.run(["list", "faults"]) == 0
    assert "faults  --nemesis NAME" in capsys.readouterr().out


def test_a_dry_run_prints_the_schedule_and_starts_nothing(capsys, tmp_path):
    arguments = ["test", "--dry-run", "--engine", "inline", "--store", str(tmp_path / "store")]
    assert cli.run(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= 4
    assert not (tmp_path / "store").exists()


def test_options_are_json(tmp_path):
    assert json.dumps(RunOptions(store=tmp_path).as_json())


def test_parsers():
    assert parse_pair("5+3") == (5, 3)
    assert parse_nodes("5+3") == ((None, 5), (None, 3))
    assert parse_nodes("5") == ((None, 5),)
    assert parse_nodes("controller=3, broker=2") == (("controller", 3), ("broker", 2))
    for text in ("", "+", "3+", "controller", "controller=3,2", "Controller=3", "a=1,a=2", "a=-1"):
        with pytest.raises(UsageError, match=r"^--nodes .*"):
            parse_nodes(text)
    assert parse_nemeses("kill, pause,kill") == ("kill", "pause")
    assert parse_nemeses("none") == ()
    assert parse_nemeses("kill,") == ("kill",)
    assert list(parse_seeds("2:4")) == [2, 3]
    assert list(parse_seeds("7")) == [7]
    endless = iter(parse_seeds("3:"))
    assert [next(endless), next(endless)] == [3, 4]
    with pytest.raises(UsageError):
        parse_seeds("3-4")


def test_the_help_names_every_fault_and_workload():
    said = run_help("test")
    names = (*nemesis_names(), *workload_names())
    assert "kill" in names
    assert "topics" in names
    assert [name for name in names if name not in said] == []


def run_help(command):
    environment = {**os.environ, "COLUMNS": "400"}
    done = subprocess.run(
        [sys.executable, "-m", "kraftproof", command, "--help"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("options", [[], long(["--json"])])
def test_output_that_nobody_gets_passes_for_no_verdict(options):
    invalid = "tests/histories/etcd/etcd_000.jsonl"
    command = [sys.executable, "-m", "kraftproof", "check", "--engine", "inline", invalid, *options]
    with open("/dev/full", "wb") as full:
        said = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    wanted = "kraftproof: the output can't be written: No space left on device\n"
    assert (said.returncode, said.stderr) == (3, wanted)
    reader, writer = os.pipe()
    os.close(reader)
    said = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (said.returncode, said.stderr) == (141, "")


INTERRUPTED = """
import time
from kraftproof.checkers.models.specification import Specification

class Lost:
    def __del__(self):
        raise KeyboardInterrupt

class Interrupted(Specification):
    name = "interrupted"
    functions = frozenset({"read", "write", "cas"})

    def init(self):
        return 0
"""
IN_EXEC = """
    def step(self, state, call):
        exec("raise KeyboardInterrupt")
"""
IN_A_CALLBACK = """
    def step(self, state, call):
        Lost()
        time.sleep(300)
"""


@pytest.mark.parametrize("ctrl_c", [signal.default_int_handler, long(signal.SIG_IGN)])
@pytest.mark.parametrize("step", [IN_EXEC, IN_A_CALLBACK])
def test_an_interrupt_is_told_with_its_status_wherever_it_met_the_command(tmp_path, step, ctrl_c):
    """Python would end by SIGINT, though that was handled, and go on after a callback."""
    model = tmp_path / "interrupted.py"
    model.write_text(INTERRUPTED + step)
    history = "tests/histories/etcd/etcd_000.jsonl"
    chosen = ["--engine", "inline", "--model", f"{model}:Interrupted", history]
    otherwise = signal.signal(signal.SIGINT, ctrl_c)  # which the command inherits
    try:
        said = run(KRAFTPROOF, "check", *chosen)
    finally:
        signal.signal(signal.SIGINT, otherwise)
    assert (said.returncode, said.stdout, said.stderr) == (130, "", "kraftproof: interrupted\n")


class Named:
    def __set_name__(self, owner, name):
        raise KeyboardInterrupt


def test_an_interrupt_in_the_middle_of_a_class_is_one(monkeypatch):
    """Python makes a RuntimeError of it; as dataclasses have it whose modules are imported."""
    monkeypatch.setattr(cli, "_invoke", lambda *_: type("Made", (), {"name": Named()}))
    assert cli.run(["check"]) == 130
