"""The benchmark of replicas: its page, its options, and one measurement of local processes."""

import json
from dataclasses import replace

import pytest

from bench.replicas.__main__ import main, parse
from bench.replicas.measure import Figures
from bench.replicas.page import page

OURS = Figures(
    system="reference",
    backend="docker",
    nodes="3+3",
    timeouts="chaos",
    p50_ms=1.0,
    p99_ms=4.0,
    produce_mb_s=10.0,
    consume_mb_s=30.0,
    failover_s=[2.0, 1.0, 3.0],
    memory_mb=[30.0, 50.0],
)
THEIRS = replace(
    OURS,
    system="apache-kafka",
    p50_ms=2.0,
    produce_mb_s=40.0,
    failover_s=[1.0],
    memory_mb=[200.0, 200.0],
)


def test_the_page_has_a_row_for_each_quantity_with_its_target() -> None:
    rows = [line for line in page([OURS] * 5, [THEIRS] * 5).splitlines() if line.startswith("| ")]
    assert rows == [
        "| | reference | apache-kafka | ratio | bounds | to reach | |",
        "| produce in series, p50, ms | 1 | 2 | 0.5 | 0.5 to 0.5 | at most 1 | reached |",
        "| produce in series, p99, ms | 4 | 4 | 1 | 1 to 1 |  |  |",
        "| produce in batches, MB/s | 10 | 40 | 0.25 | 0.25 to 0.25 | at least 0.3 | not reached |",
        "| consume, MB/s | 30 | 30 | 1 | 1 to 1 |  |  |",
        "| failover of a partition leader, s | 2 | 1 | 2 | 2 to 2 | at most 1 | not reached |",
        "| resident memory a broker, MB | 40 | 200 | 0.2 | 0.2 to 0.2 | at most 0.25 | reached |",
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--nodes", "3+2"], "--nodes 3+2: controllers+brokers with 3 brokers or more"),
        (["--series", "99"], "--series of at least 100"),
        (["--rounds", "0"], "--rounds and --warm-up of at least 1"),
    ],
)
def test_options_that_measure_nothing_are_refused(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(given)
    assert said in capsys.readouterr().err


@pytest.mark.long
def test_local_processes_are_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["--backend", "local", "--series", "100", "--records", "500", "--failovers", "1"]
    small += ["--warm-up", "1"]
    monkeypatch.setattr("sys.argv", ["bench", *small, "--nodes", "1+3"])
    assert main() == 0
    found = json.loads(capsys.readouterr().out)
    assert 0 < found["p50_ms"] <= found["p99_ms"]
    assert min(found["produce_mb_s"], found["consume_mb_s"], *found["failover_s"]) > 0
    assert len(found["memory_mb"]) == 3
