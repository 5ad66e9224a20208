"""`kraftproof mutate`: mistakes are one line, and a small search shows and replays its mutants."""

import json

import pytest

from tests.support.command import KRAFTPROOF, run

ELECTIONS = "kraftproof/node/core/raft/elections.py"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["absent.py"], "absent.py: no such file or directory"),
        (["README.md"], "README.md: not in the node's source"),
        ([], "PATH: a file or a folder of the node is expected"),
        (["--show", "core.raft-constant-01234567"], "--show core.raft-constant-01234567: no such"),
        ([ELECTIONS, "--budget-s", "0"], "--budget-s 0: more than 0 is expected"),
        ([ELECTIONS, "--review", "absent.md"], "--review absent.md: No such file or directory"),
        ([ELECTIONS, "--scoreboard", "absent/board.md"], "--scoreboard absent/board.md: no direct"),
    ],
)
def test_a_mistake_is_one_line(arguments, line):
    done = run(KRAFTPROOF, "mutate", *arguments)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"kraftproof: {line}")
    assert done.stderr.count("\n") == 1


@pytest.mark.simulation
def test_a_mutant_is_searched_shown_and_replayed(tmp_path):
    store, out = tmp_path / "mutants", tmp_path / "out.jsonl"
    arguments = [ELECTIONS, "--count", "1", "--recorded", "1", "--budget-s", "1", "--json"]
    arguments += ["--store", str(store), "--out", str(out)]
    done = run(KRAFTPROOF, "mutate", *arguments, timeout=300)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    trial = json.loads(line)
    assert set(trial) >= {"mutant", "module", "result", "by", "cpu_seconds"}
    assert out.read_text() == f"{line}\n"
    shown = run(KRAFTPROOF, "mutate", "--show", trial["mutant"], "--store", store)
    assert shown.stdout.startswith("--- a/kraftproof/node/core/raft/elections.py\n")
    file = store / f"{trial['mutant']}.py"
    replayed = run(KRAFTPROOF, "sim", "--seeds", "0:1", "--mutant", file, "--store", tmp_path)
    assert replayed.returncode in {0, 1}, replayed.stderr
    assert "0  " in replayed.stdout
