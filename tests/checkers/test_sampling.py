"""A table that is linked to has the model that the same table has when it is read whole."""

import pyarrow.parquet as pq
import pytest

from kraftproof.checkers.generate import GenerateOptions, generated_table
from kraftproof.checkers.history.read import operations_table_of
from kraftproof.checkers.history.tables import operations_table, write_whole
from kraftproof.checkers.sampling import sample_of, sample_of_file
from kraftproof.checkers.sources import find_sources
from kraftproof.checkers.spark.workers import _inferred
from tests.checkers.logs.test_log import operations

ADDS = [(0, "add", 1, None, "ok")] * 500


@pytest.mark.parametrize(
    ("late", "model"),
    [
        ((0, "read", None, [1], "ok"), "set"),
        ((0, "read", None, 3, "ok"), "counter"),
        ((0, "read", None, {"0": 1}, "ok"), None),
    ],
)
def test_what_comes_late_tells_the_model_as_inline(tmp_path, late, model):
    """Adds fit counters and sets; the one read after hundreds of them tells which it is."""
    path = tmp_path / "operations.parquet"
    table = operations_table(operations(*ADDS, late))
    write_whole(tmp_path, "operations", table)
    functions = sorted(set(table.column("f").to_pylist()))
    whole = refusal_or(lambda: next(find_sources([path])).read().source.model_name)
    linked = refusal_or(lambda: _inferred(path, functions))
    assert linked == whole
    assert model is None or linked == model


def refusal_or(named):
    try:
        return named()
    except ValueError as error:
        return str(error)


def test_the_sample_of_a_file_is_that_of_its_table(tmp_path):
    """Many small row groups, in no order."""
    for seed in range(3):
        options = GenerateOptions(model="cas-register", operations=2000, failed=0.2, seed=seed)
        table = generated_table(options)
        path = tmp_path / f"{seed}.parquet"
        shuffled = table.take([*range(1000, 2000), *range(1000)])
        pq.write_table(shuffled, path, row_group_size=77)
        wanted = {one.index for one in sample_of(operations_table_of(path))}
        assert {one.index for one in sample_of_file(path)} == wanted
        assert 200 < len(wanted) < 2000
