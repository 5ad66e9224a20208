"""Keys with a large share of their run: their tasks read them from the run's file."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kraftproof.checkers import check_paths
from kraftproof.checkers.history.tables import rows_of_key
from kraftproof.checkers.sources import find_sources
from kraftproof.checkers.verdict import Verdict
from kraftproof.cli import run as kraftproof
from tests.support.checkers.analyses import SECOND
from tests.support.long_cases import long

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(autouse=True)
def keys_of_300_operations_are_large(monkeypatch):
    monkeypatch.setattr("kraftproof.checkers.spark.slots.MOST_ROWS", 300)


@pytest.fixture(params=[0, 1 << 30], ids=["linked", "read"])
def stages(request, monkeypatch):
    """Whether a table is linked to or read does not matter."""
    monkeypatch.setattr("kraftproof.checkers.spark.staging.LONG_BYTES", request.param)


def generated(path: Path, *words: str) -> Path:
    assert kraftproof(["generate", *words, "--out", str(path)]) == 0
    return path


def on_spark(paths: list[Path], model: str | None = None):
    """Verdicts, and why some histories have none."""
    from kraftproof.checkers.spark.pipeline import check_on_spark

    refused: list[str] = []
    sources = list(find_sources(paths, model))
    return list(check_on_spark(sources, lambda error: refused.append(str(error)))), refused


def several(folder: Path) -> list[Path]:
    """Histories with hot keys, some invalid, beside one with none."""
    return [
        generated(folder / "one.parquet", "--operations", "900", "--corrupt", "stale-read"),
        generated(
            folder / "hot.parquet", "--operations", "4000", "--keys", "40", "--hot-key", "0.5"
        ),
        generated(folder / "even.parquet", "--operations", "3000", "--keys", "30"),
        *(
            generated(
                folder / f"lost{seed}.jsonl",
                *("--operations", "2000", "--keys", "5", "--corrupt", "phantom"),
                *("--indeterminate", "0.02", "--seed", str(seed)),
            )
            for seed in range(3)
        ),
    ]


def told(runs):
    return [
        (
            run.history,
            sorted((key.key, key.verdict, key.operations, key.reason) for key in run.keys),
            sorted(finding.sentence for finding in run.findings),
        )
        for run in runs
    ]


@pytest.mark.usefixtures("stages")
def test_verdicts_and_findings_are_the_inline_engine_s(tmp_path, monkeypatch):
    from kraftproof.checkers.spark.slots import spread

    seen = []

    def spread_of(*given):
        found = spread(*given)
        seen.extend(found.hot)
        return found

    monkeypatch.setattr("kraftproof.checkers.spark.judging.spread", spread_of)
    paths = several(tmp_path)
    inline = told(check_paths(paths, engine="inline", refuse=pytest.fail))
    verdicts, refused = on_spark(paths)
    assert refused == []
    assert told(verdicts) == inline
    runs = [run for run, _ in seen]
    assert {run: runs.count(run) for run in runs} == {
        f"{run:08d}": keys for run, keys in ((0, 1), (1, 1), (3, 5), (4, 5), (5, 5))
    }


def test_a_hot_key_that_can_t_be_read_is_told_and_the_others_are_judged(tmp_path):
    good = generated(tmp_path / "good.parquet", "--operations", "300")
    strange = tmp_path / "strange.parquet"
    table = pq.read_table(good)
    place = table.column_names.index("input")
    inputs = pa.array(['{"not": "a register value"}'] * len(table))
    pq.write_table(table.set_column(place, table.schema.field(place), inputs), strange)
    (found,), refused = on_spark([strange, good], "cas-register")
    assert (found.history, found.verdict) == (str(good), Verdict.VALID)
    assert [problem.startswith(f"{strange}: row ") for problem in refused] == [True]


@pytest.mark.parametrize("column", [long("key"), "input"])
def test_a_long_table_with_damaged_pages_is_told_and_the_others_are_analysed(
    tmp_path, monkeypatch, capfd, column
):
    """The pages of `key` are read to size the keys, all others only when they are judged."""
    from kraftproof.checkers.spark.analysis import analyze
    from kraftproof.checkers.spark.session import session

    monkeypatch.setattr("kraftproof.checkers.spark.staging.LONG_BYTES", 0)
    good = generated(tmp_path / "good.parquet", "--operations", "300")
    damaged = generated(tmp_path / "damaged.parquet", "--operations", "3000", "--keys", "3")
    where = pq.read_metadata(damaged).row_group(0)
    (at,) = (
        part.dictionary_page_offset or part.data_page_offset
        for part in (where.column(place) for place in range(where.num_columns))
        if part.path_in_schema == column
    )
    content = bytearray(damaged.read_bytes())
    content[at : at + 60] = bytes(60)
    damaged.write_bytes(content)
    out = tmp_path / "out"
    out.mkdir()
    sources = list(find_sources([damaged, good], "cas-register"))
    problems = analyze(session(), sources, out, gap_ns=SECOND, tell=lambda _: None)
    assert problems == [f"{damaged}: not a readable Parquet file: its pages are damaged"]
    labels = pq.read_table(out / "runs.parquet").column("label").to_pylist()
    assert labels == [str(good)]
    capfd.readouterr()  # Spark's executor tells of the damaged file on its own


def test_a_key_s_rows_are_those_of_the_file_in_its_order(tmp_path):
    path = generated(tmp_path / "run=1.parquet", "--operations", "500", "--keys", "7")
    table = pq.read_table(path)
    for key in set(table.column("key").to_pylist()):
        wanted = [row for row in table.to_pylist() if row["key"] == key]
        assert rows_of_key(path, key).to_pylist() == wanted
    assert len(rows_of_key(path, "none of them")) == 0
