"""Long histories of partitions: Spark judges ranges of offsets as the inline engine judges all."""

import pytest

from kraftproof.checkers import check_paths
from kraftproof.checkers.generate import GenerateOptions, generate
from kraftproof.checkers.generate.spoiled_partitions import CORRUPTIONS
from kraftproof.checkers.verdict import Verdict

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(autouse=True)
def short_runs_are_split(monkeypatch):
    monkeypatch.setattr("kraftproof.checkers.spark.partitions.SPLIT_ROWS", 1_000)
    monkeypatch.setattr("kraftproof.checkers.spark.partitions.RANGE", 256)


@pytest.fixture
def split(monkeypatch):
    """The results of the passes over ranges."""
    from kraftproof.checkers.spark import judging, partitions

    found = []

    def spied(*arguments):
        found.append(partitions.judge_partitions(*arguments))
        return found[-1]

    monkeypatch.setattr(judging, "judge_partitions", spied)
    return found


def told(run):
    keys = [(key.key, key.verdict, key.operations, key.reason) for key in run.keys]
    return run.verdict, keys, run.findings, run.notes


def test_ranges_on_spark_equal_the_whole_inline(tmp_path, split):
    paths = []
    for number, corrupt in enumerate((None, *CORRUPTIONS)):
        options = GenerateOptions(
            model="log", operations=3_000, keys=1 + number % 3, concurrency=20, seed=number,
            indeterminate=0.05, failed=0.02, corrupt=corrupt,
        )  # fmt: skip
        paths.append(tmp_path / f"{corrupt}.parquet")
        generate(options, paths[-1])
    inline = list(check_paths(paths))
    spark = list(check_paths(paths, engine="spark"))
    (one,) = split
    assert one.odd == []
    assert len(one.verdicts) == sum(len(run.keys) for run in inline)
    assert [told(run) for run in spark] == [told(run) for run in inline]
    assert [run.verdict for run in inline] == [Verdict.VALID] + [Verdict.INVALID] * len(CORRUPTIONS)
