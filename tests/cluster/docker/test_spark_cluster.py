"""`kraftproof analyze` on a standalone Spark cluster: one master, two workers, in containers."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kraftproof.checkers.history.analysis_schema import ANALYSIS_TABLES
from kraftproof.cli import run as kraftproof
from tests.cluster.docker.spark_cluster import spark_cluster
from tests.support.checkers.analyses import local_analysis, some_runs

pytestmark = [pytest.mark.docker, pytest.mark.long, pytest.mark.timeout(600)]
BY_CLOCK = {"seconds"}
"""Of verdicts: how long the judging took."""


def rows_of(out, name):
    """The rows of a table as a set would have them, without what a clock says."""
    table = pq.read_table(out / f"{name}.parquet")
    dropped = BY_CLOCK if name == "verdicts" else set()
    rows = table.select([one for one in table.column_names if one not in dropped]).to_pylist()
    return sorted(rows, key=repr)


def hot_key(path: Path) -> Path:
    """A key so large that the worker that judges it reads it by itself, and one wrong answer."""
    words = ["--operations", "40000", "--keys", "20", "--hot-key", "0.8", "--corrupt", "stale-read"]
    assert kraftproof(["generate", *words, "--out", str(path)]) == 0
    return path


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_cluster_says_what_this_machine_says(tmp_path):
    runs = [*some_runs(tmp_path / "runs"), hot_key(tmp_path / "runs" / "hot.parquet")]
    with spark_cluster(tmp_path, workers=2) as cluster:
        out = tmp_path / "on-cluster"
        paths = [str(run) for run in runs]
        code, said = cluster.submit(
            "analyze", *paths, "--master", cluster.master, "--out", str(out)
        )
        assert code == 3, said
        launched = [b"Asked to launch executor" in one.logs() for one in cluster.workers]
    assert "2 invalid" in said
    assert "truncated" in said
    assert launched == [True, True]
    here = local_analysis(runs, tmp_path / "here")
    for name in ANALYSIS_TABLES:
        assert rows_of(out, name) == rows_of(here, name), name
