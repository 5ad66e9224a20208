"""What an analysis says of runs whose times, faults and verdicts are known by construction."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftproof.checkers import check_paths, check_run
from kraftproof.checkers.history.analysis_schema import ANALYSIS_TABLES, analysis_schema
from kraftproof.checkers.sources import find_sources
from kraftproof.checkers.verdict import Verdict
from kraftproof.cli import run as kraftproof
from tests.checkers.conftest import HISTORIES
from tests.support.checkers.analyses import (
    SECOND,
    fault_events,
    local_analysis,
    register_events,
    some_runs,
    steady,
    write_run,
)

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
QUIET, FAULTY, STALE, _TRUNCATED, MANY, STRUCK, ODD = (f"{run:08d}" for run in range(7))
TOOK = np.exp(np.random.default_rng(5).normal(15, 2, 4000)).astype(int) + 1


def writes(times, key="x"):
    """Writes of one client, each (invoked at, completed at) in ns."""
    told = {"process": 0, "f": "write", "key": key, "value": 1}
    return [
        told | {"type": kind, "time": round(at)}
        for pair in times
        for kind, at in zip(("invoke", "ok"), pair, strict=True)
    ]


def all_paths(folder):
    ends = np.cumsum(TOOK + 1000)
    many = writes(zip((ends - TOOK).tolist(), ends.tolist(), strict=True))
    struck = writes((a * SECOND, b * SECOND) for a, b in ((1.0, 1.1), (1.9, 2.5), (5.5, 5.6)))
    fault = fault_events(("f0", "kill", 2, 3))
    odd = write_run(folder / "odd", writes([(0, 1)]), workload="odd")
    told = json.loads((odd / "run.json").read_text())
    (odd / "run.json").write_text(json.dumps({"workload": told["workload"]}))
    return [
        *some_runs(folder),
        write_run(folder / "many", many, workload="many"),
        write_run(folder / "struck", struck, fault, workload="struck"),
        odd,
        HISTORIES / "kv",
        HISTORIES / "knossos",
    ]


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return all_paths(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def out(paths, tmp_path_factory):
    return local_analysis(paths, tmp_path_factory.mktemp("analysis") / "out")


def rows(out, name, *columns, **wanted):
    table = pq.read_table(out / f"{name}.parquet").to_pylist()
    found = [row for row in table if all(row[one] == value for one, value in wanted.items())]
    return [tuple(row[column] for column in columns) for row in found]


def test_every_table_has_the_declared_schema_and_its_version(out):
    for name in ANALYSIS_TABLES:
        found = pq.read_table(out / f"{name}.parquet").schema
        assert found.equals(analysis_schema(name), check_metadata=True), name
    assert not (out / ".stage").exists()


def test_faults_are_windows_and_one_that_never_healed_has_no_end(out):
    columns = ("fault", "kind", "start_time", "end_time", "bitten")
    windows = rows(out, "fault_windows", *columns, run=FAULTY)
    assert windows == [
        ("f0", "kill", 6 * SECOND, 8 * SECOND, True),
        ("f1", "pause", 7 * SECOND, 9 * SECOND, True),
        ("f2", "pause", 25 * SECOND, None, True),
    ]


def test_phases_cover_the_run_without_gap_or_overlap(out):
    phases = rows(out, "phases", "phase", "faults", "seconds", run=FAULTY)
    assert phases == [
        ("fault", "kill", pytest.approx(1)),
        ("fault", "kill+pause", pytest.approx(1)),
        ("fault", "pause", pytest.approx(6.51)),
        ("quiet", "", pytest.approx(18)),
        ("recovery", "kill+pause", pytest.approx(2)),
        ("recovery", "pause", pytest.approx(1)),
    ]
    assert sum(seconds for _, _, seconds in phases) == pytest.approx(29.51)
    (counted,) = rows(out, "runs", "operations", run=FAULTY)
    assert sum(n for (n,) in rows(out, "phases", "operations", run=FAULTY)) == counted[0]


def test_windows_without_an_ok_operation_are_told_with_their_faults(out):
    windows = rows(out, "availability", "start_time", "end_time", "seconds", "faults", run=FAULTY)
    assert windows == [
        (6_010_000_000, 9_510_000_000, 3.5, "kill+pause"),
        (21_010_000_000, 23_510_000_000, 2.5, ""),
    ]
    assert rows(out, "availability", "run", run=QUIET) == []
    assert rows(out, "availability", "seconds", run=STALE) == [(9.5,)]


def test_an_operation_is_the_fault_s_in_whose_time_it_was_invoked(out):
    columns = ("phase", "faults", "operations", "runs")
    info = {"model": "cas-register", "f": "write", "status": "info", "answer": "REQUEST_TIMED_OUT"}
    assert rows(out, "coverage", *columns, **info) == [
        ("fault", "kill", 0, 0),
        ("fault", "kill+pause", 1, 1),
        ("fault", "pause", 0, 0),
        ("quiet", "", 0, 0),
        ("recovery", "kill", 0, 0),
        ("recovery", "kill+pause", 0, 0),
        ("recovery", "pause", 0, 0),
    ]


def test_runs_have_what_run_json_says(out):
    columns = ("verdict", "invalid_keys", "findings", "backend", "seed", "started")
    assert [rows(out, "runs", *columns, run=run)[0] for run in (QUIET, FAULTY, STALE, ODD)] == [
        ("valid", 0, 0, "simulated", 7, "2026-01-01"),
        ("valid", 0, 0, "simulated", 7, "2026-01-02"),
        ("invalid", 1, 1, "simulated", 7, "2026-01-03"),
        ("valid", 0, 0, "", None, None),
    ]


def test_the_trend_puts_a_run_beside_the_median_of_those_before(out):
    columns = ("place", "ok_rate", "ok_rate_before", "unavailable_seconds_before")
    found = rows(out, "trend", *columns, series="registers, simulated, reference")
    rates = [rate for _, rate, _, _ in found]
    assert [place for place, *_ in found] == [1, 2, 3]
    assert [before for _, _, before, _ in found] == [
        None,
        pytest.approx(rates[0]),
        pytest.approx((rates[0] + rates[1]) / 2),
    ]
    assert [before for *_, before in found] == [None, 0.0, 3.0]


def test_percentiles_are_exact_up_to_three_digits(out):
    (found,) = rows(out, "latency", "p50_ms", "p90_ms", "p99_ms", "p999_ms", run=MANY)
    assert np.allclose(found, np.percentile(TOOK, [50, 90, 99, 99.9]) / 1e6, rtol=0.006)
    counts = rows(out, "latency", "operations", f="write", phase="quiet")
    (overall,) = rows(out, "latency_overall", "operations", f="write", phase="quiet")
    assert overall == (sum(count for (count,) in counts),)


def test_a_fault_that_strikes_an_open_operation_owns_it(out):
    assert rows(out, "phases", "phase", "faults", "ok", run=STRUCK) == [
        ("fault", "kill", 1),
        ("quiet", "", 1),
        ("recovery", "kill", 1),
    ]


def test_verdicts_and_findings_are_the_inline_engine_s(paths, out):
    refused = []
    inline = list(check_paths(paths, engine="inline", refuse=refused.append))
    assert len(refused) == 1
    assert {run.verdict.value for run in inline} == {"valid", "invalid", "unknown"}
    keys = [
        (run.history, key.key, key.model, key.verdict.value, key.operations, key.reason)
        for run in inline
        for key in run.keys
    ]
    labels = dict(rows(out, "runs", "run", "label"))
    found = rows(out, "verdicts", "run", "key", "model", "verdict", "operations", "reason")
    assert sorted((labels[run], *rest) for run, *rest in found) == sorted(keys)
    assert rows(out, "runs", "label", "verdict") == [
        (run.history, run.verdict.value) for run in inline
    ]
    findings = sorted((run.history, f.check, f.sentence) for run in inline for f in run.findings)
    told = rows(out, "findings", "run", "check", "sentence")
    assert sorted((labels[run], *rest) for run, *rest in told) == findings


def parquet_history(path, values):
    """A Parquet table of operations as `kraftproof` writes it, by way of a run's own tables."""
    run = write_run(path.parent / f"{path.stem}-run", register_events(start_s=1, steps=values))
    check_run(run, "inline")
    (run / "tables" / "operations.parquet").rename(path)
    return path


IMPOSSIBLE = {
    "two-open": (
        {"complete_index": 100},
        "row 3: field process: process 0 invokes write, but its write of row 2 is open",
    ),
    "over-too-soon": (
        {"complete_index": 0},
        "row 2: field complete_index: 0 is before invoke_index",
    ),
    "back-in-time": (
        {"complete_time": 0},
        "row 2: field complete_time: 0 is before invoke_time",
    ),
    "twice": ({"index": 1}, "row 2: field index: 1 is that of row 1 as well"),
}
"""What row 2 of a table of ten writes is changed to, and why no such row can be."""


@pytest.mark.long
def test_a_table_of_what_can_not_be_is_refused_in_the_same_line_by_every_engine(
    tmp_path, capsys, monkeypatch
):
    """A path that was given as it is seen from here is named so, too."""
    from kraftproof.checkers.spark.pipeline import check_on_spark

    monkeypatch.chdir(tmp_path)
    good = parquet_history(Path("good.parquet"), steady(5))
    table, paths, wanted = pq.read_table(good), [good], []
    for name, (values, reason) in IMPOSSIBLE.items():
        told = table.to_pylist()
        told[2] |= values
        path = Path(f"{name}.parquet")
        pq.write_table(pa.Table.from_pylist(told, table.schema), path)
        paths.append(path)
        wanted.append(f"{path}: {reason}")
    inline, spark = [], []
    for verdicts in (
        check_paths(paths, engine="inline", refuse=inline.append),
        check_on_spark(list(find_sources(paths)), spark.append),
    ):
        assert [(each.history, each.verdict) for each in verdicts] == [(str(good), Verdict.VALID)]
    assert [str(error) for error in inline] == wanted
    assert [str(error) for error in spark] == wanted
    out = Path("out")
    capsys.readouterr()
    assert kraftproof(["analyze", *map(str, paths), "--out", str(out)]) == 3
    said = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("·")]
    assert said == [f"kraftproof analyze: {line}" for line in wanted]
    assert rows(out, "runs", "label", "verdict") == [(str(good), "valid")]


@pytest.mark.long
def test_a_long_table_that_is_bad_within_is_named_and_the_others_are_analysed(
    tmp_path, capfd, monkeypatch
):
    """Such a table is not read before it is judged; here any table is long."""
    from kraftproof.checkers.spark.analysis import analyze
    from kraftproof.checkers.spark.session import session

    monkeypatch.setattr("kraftproof.checkers.spark.staging.LONG_BYTES", 0)
    good = parquet_history(tmp_path / "good.parquet", steady(5))
    damaged = parquet_history(tmp_path / "damaged.parquet", steady(500))
    content = bytearray(damaged.read_bytes())
    content[40:4000] = bytes(3960)
    damaged.write_bytes(content)
    strange = tmp_path / "strange.parquet"
    table = pq.read_table(good)
    inputs = pa.array(['{"not": "a register value"}'] * len(table))
    functions = pa.array(["cas"] * len(table))
    for name, column in (("input", inputs), ("f", functions)):
        place = table.column_names.index(name)
        table = table.set_column(place, table.schema.field(place), column)
    pq.write_table(table, strange)
    out = tmp_path / "out"
    out.mkdir()
    sources = list(find_sources([damaged, good, strange], "cas-register"))
    problems = analyze(session(), sources, out, gap_ns=SECOND, tell=lambda _: None)
    assert [re.sub(r":.*", "", problem) for problem in problems] == [str(damaged), str(strange)]
    assert problems[0].endswith("its pages are damaged")
    assert "row 0: field value: cas takes" in problems[1]
    assert rows(out, "runs", "label", "verdict") == [(str(good), "valid")]
    capfd.readouterr()  # Spark's executor tells of the damaged file on its own
