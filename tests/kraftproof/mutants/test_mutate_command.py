"""`kraftproof mutate`: mistakes are one line, and a small search shows and replays its mutants."""

import json

import pytest

from kraftproof.mutants.generator.candidates import read_sources
from kraftproof.mutants.generator.files import write_mutant
from kraftproof.mutants.generator.sampling import draw
from kraftproof.mutants.generator.seed_order import counts_file, version
from kraftproof.mutants.mutant import DATA_WORKLOAD
from kraftproof.workloads.catalogue import SELDOM
from tests.support.command import KRAFTPROOF, ROOT, call, run

ELECTIONS = "kraftproof/node/core/raft/elections.py"
LIMIT_S = "2"
KILLED = ("property", "ElectionAnswersAreRight")


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
    done = call("mutate", *arguments)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"kraftproof: {line}")
    assert done.stderr.count("\n") == 1


@pytest.mark.simulation
@pytest.mark.long
def test_a_mutant_is_searched_shown_and_replayed(tmp_path):
    """The mutant's file is there already, so that no type check of the node is needed.

    So are counts of the workloads that seeds draw seldom, but for that of the data plane: they
    would be recorded in the same way, each for seconds.
    """
    store, out, board = (tmp_path / name for name in ("mutants", "out.jsonl", "board.md"))
    store.mkdir()
    code = version()
    for workload in set(SELDOM) - {DATA_WORKLOAD}:
        (store / counts_file(code, 1, float(LIMIT_S), workload)).touch()
    chosen = next(draw(read_sources([ROOT / ELECTIONS]), 0))
    file = write_mutant(chosen, store)
    arguments = [ELECTIONS, "--count", "1", "--recorded", "1", "--budget-s", "1", "--json"]
    arguments += ["--time-limit", LIMIT_S]
    arguments += ["--store", str(store), "--out", str(out), "--scoreboard", str(board)]
    done = run(KRAFTPROOF, "mutate", *arguments, timeout=300)
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    trial = json.loads(line)
    assert trial["mutant"] == chosen.mutant().mutant_id
    assert (trial["result"], trial["by"]) == KILLED
    assert out.read_text() == f"{line}\n"
    assert f"--budget-s 1 --recorded 1 --time-limit {LIMIT_S}`" in board.read_text()
    recorded = [path.name for path in store.glob("blocks-*") if path.stat().st_size]
    assert sorted(recorded) == sorted(
        counts_file(code, 1, float(LIMIT_S), workload) for workload in (None, DATA_WORKLOAD)
    )
    shown = run(KRAFTPROOF, "mutate", "--show", trial["mutant"], "--store", store)
    assert shown.stdout.startswith("--- a/kraftproof/node/core/raft/elections.py\n")
    replay = ["--seed", trial["seed"], "--mutant", file, "--time-limit", LIMIT_S]
    replay += ["--store", tmp_path, "--bare", "--json"]
    replayed = json.loads(run(KRAFTPROOF, "sim", *replay).stdout.splitlines()[-1])
    assert replayed["violations"][0]["invariant"] == trial["by"]
