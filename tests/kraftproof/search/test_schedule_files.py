"""Schedule files: options and faults are read back as they were; what is wrong is one line."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftproof import cli
from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.invariants import catalogue, crash
from kraftproof.errors import UsageError
from kraftproof.nemesis.catalogue import nemesis_names
from kraftproof.nemesis.schedule import SECOND_NS, dense
from kraftproof.nemesis.schedule_file import fault_line
from kraftproof.options import RunOptions
from kraftproof.search.renamed_invariants import RENAMED_INVARIANTS
from kraftproof.search.scenario import from_schedule, scenario
from kraftproof.search.schedule_file import (
    numbers_text,
    options_of,
    parse_numbers,
    read_schedule_text,
    schedule_text,
)

GOOD = """kraftproof schedule 1
# A comment, and an empty line:

violates ElectionSafety
seed 17
nodes 3+1
workload topics
rate 20
concurrency 2
time-limit 3.5
operations 0-2,7
0.5 2.25 kill target=@active-controller
  1 2 pause target=4
"""


def read(path: Path, text: str):
    path.write_text(text, encoding="utf-8")
    found = read_schedule_text(path)
    return from_schedule(options_of(found, path.parent), found), found


@pytest.mark.parametrize(("former", "name"), RENAMED_INVARIANTS.items())
def test_a_file_may_name_an_invariant_by_its_former_name(tmp_path, former, name):
    _, text = read(tmp_path / "small.txt", GOOD.replace("ElectionSafety", former))
    present = {*vars(catalogue), crash.INVARIANT, "NoUnexpectedExit"}
    assert text.violates == name
    assert name in present
    assert former not in present


def test_a_file_is_a_scenario(tmp_path):
    one, text = read(tmp_path / "small.txt", GOOD)
    assert (text.violates, text.mutant, one.name) == ("ElectionSafety", None, "small")
    options = one.options
    assert (options.seed, options.controllers, options.brokers) == (17, 3, 1)
    assert (options.workload, options.rate, options.concurrency) == ("topics", 20.0, 2)
    assert (options.time_limit_s, options.operations) == (3.5, (0, 1, 2, 7))
    assert options.nemeses == ("kill", "pause")
    first, second = one.schedule
    assert (first.at_ns, first.until_ns) == (SECOND_NS // 2, SECOND_NS * 9 // 4)
    assert second.fault.targets == (4,)
    assert first.name != second.name


@given(seed=st.integers(0, 10_000), operations=st.none() | st.sets(st.integers(0, 300)))
def test_what_is_written_is_read_back(tmp_path_factory, seed, operations):
    path = tmp_path_factory.mktemp("schedule") / "whole.txt"
    drawn = scenario(seed, path.parent)
    kept = None if operations is None else tuple(sorted(operations))
    nodes = ClusterOptions(nodes=nodes_of(controller=3, broker=3), seed=0, directory=path).nodes
    schedule = dense(nemesis_names(), nodes, Random(seed), 20 * SECOND_NS)
    options = RunOptions(
        backend="simulated",
        engine="inline",
        workload=drawn.options.workload,
        nemeses=tuple(dict.fromkeys(one.kind for one in schedule)),
        rate=drawn.options.rate,
        time_limit_s=drawn.options.time_limit_s,
        nodes="3+3",
        concurrency=drawn.options.concurrency,
        seed=seed,
        mutant="A18" if seed % 2 else None,
        store=path.parent,
        timeouts=("chaos", "default")[seed % 2],
        operations=kept,
    )
    text = schedule_text(options, [fault_line(one) for one in schedule], violates="X")
    one, _ = read(path, text)
    assert one.options == options
    assert [(f.at_ns, f.until_ns, f.kind, f.fault) for f in one.schedule] == [
        (f.at_ns, f.until_ns, f.kind, f.fault) for f in schedule
    ]
    assert len({f.name for f in one.schedule}) == len(schedule)


@given(st.sets(st.integers(0, 200)))
def test_numbers_are_text_and_back(numbers):
    assert parse_numbers(numbers_text(numbers)) == tuple(sorted(numbers))


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("kraftproof schedule 1", "kraftproof schedule 2", "line 1: 'kraftproof schedule 1' is"),
        ("seed 17\n", "", ": a line with seed is missing"),
        ("seed 17", "seed many", "line 5: seed many: a number is expected"),
        ("seed 17", "seed", "line 5: seed has no value"),
        ("seed 17", "seed 17\nseed 18", "line 6: seed stands in line 5 already"),
        (
            "seed 17",
            "seeds 17",
            "line 5: unknown option 'seeds' (did you mean seed?): one of seed, ",
        ),
        ("nodes 3+1", "nodes 3", "line 6: --nodes 3: CONTROLLERS+BROKERS is expected"),
        ("nodes 3+1", "nodes 99+1", "line 6: --nodes 99: 1 to 32 is expected"),
        ("workload topics", "workload mail", "line 7: unknown workload 'mail'"),
        ("workload topics", "workload queue", "line 7: --workload queue: the clients of the"),
        ("time-limit 3.5", "time-limit 0", "line 10: --time-limit 0.0: 1 to 86400"),
        ("operations 0-2,7", "operations 0..2", "line 11: operations 0..2: numbers such as"),
        ("0.5 2.25 kill", "0.5 0.25 kill", "line 12: '0.5 0.25 kill target=@active"),
        ("0.5 2.25 kill", "0.5 2.25 storm", "line 12: storm: unknown fault: one of kill"),
        ("target=@active-controller", "target=active", "line 12: kill: target=active: a whole"),
        ("pause target=4", "pause target=5", "line 13: node 5: the nodes are 1 to 4"),
        ("pause target=4", "pause", "line 13: pause: target is missing"),
        ("pause target=4", "partition shape=x links=1>9", "line 13: node 9: the nodes are 1 to 4"),
        ("pause target=4", "partition shape=x around=1 others=2,8", "line 13: node 8: the nodes"),
    ],
)
@pytest.mark.parametrize("command", [["sim", "--schedule"], ["shrink"]])
def test_a_bad_file_is_one_line(tmp_path, capsys, command, wrong, right, said):
    assert GOOD.count(wrong) == 1
    path = tmp_path / "bad.txt"
    path.write_text(GOOD.replace(wrong, right), encoding="utf-8")
    assert cli.run([*command, str(path), "--store", str(tmp_path)]) == 3
    done = capsys.readouterr()
    (line,) = done.err.splitlines()
    assert line.startswith(f"kraftproof: {path}")
    assert said in line
    assert [one.name for one in tmp_path.iterdir()] == ["bad.txt"]


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="it is not text in UTF-8"):
        read_schedule_text(path)
    with pytest.raises(UsageError, match="No such file or directory"):
        read_schedule_text(tmp_path / "none")
    with pytest.raises(UsageError, match="Is a directory"):
        read_schedule_text(tmp_path)
