"""Generated histories are what they say: valid by construction, or wrong in the way asked for."""

import gzip
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from kraftproof.checkers.generate import Chunks, GenerateOptions, generate, generated_table
from kraftproof.checkers.generate.catalogue import SUBJECTS
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.operations import read_operations
from kraftproof.checkers.history.tables import operations_of, operations_table, read_table_file
from kraftproof.checkers.models import model_named
from kraftproof.checkers.verdict import CheckerInputError
from kraftproof.cli import run
from tests.support.checkers import reference
from tests.support.checkers.cases import CASES
from tests.support.random_cases import is_long

MIXED = GenerateOptions(operations=3_000, keys=7, indeterminate=0.05, failed=0.02, hot_key=0.3)
SEEDS = 60 if is_long() else 24
KINDS = [(name, kind) for name, subject in SUBJECTS.items() for kind in subject.corruptions]


def small(model, seed, kind=None):
    """A history that trying every order can judge, None if it has no place for the kind."""
    mix = None if seed % 5 else dict.fromkeys(SUBJECTS[model].mix, 1.0)
    options = GenerateOptions(
        model=model,
        mix=mix,
        operations=10 + seed % 12,
        concurrency=1 + seed % 4,
        values=None if seed % 3 else 2,
        indeterminate=0.05,
        failed=0.1,
        corrupt=kind,
        seed=seed,
    )
    try:
        return operations_of(generated_table(options))
    except CheckerInputError:
        return None


@pytest.mark.parametrize("model", SUBJECTS)
def test_what_is_valid_by_construction_is_valid(model):
    apply, _ = CASES[model]
    invalid = [
        seed for seed in range(SEEDS) if not reference.linearizable(apply, small(model, seed))
    ]
    assert invalid == []


@pytest.mark.parametrize(("model", "kind"), KINDS)
def test_what_is_guaranteed_to_be_invalid_is_invalid(model, kind):
    apply, _ = CASES[model]
    made = [history for seed in range(SEEDS) if (history := small(model, seed, kind))]
    verdicts = Counter(reference.linearizable(apply, history) for history in made)
    assert len(made) >= SEEDS // 6
    if SUBJECTS[model].corruptions[kind].is_guaranteed:
        assert verdicts[True] == 0
    else:
        assert verdicts[False] > 0


@pytest.mark.parametrize("model", SUBJECTS)
def test_the_model_can_read_every_operation(model):
    mix = dict.fromkeys(SUBJECTS[model].mix, 1.0)
    options = replace(MIXED, model=model, mix=mix, operations=500)
    operations = operations_of(generated_table(options))
    assert {o.f for o in operations} == set(SUBJECTS[model].mix) <= model_named(model).functions
    for operation in operations:
        model_named(model).validate(operation)


@pytest.mark.parametrize("model", SUBJECTS)
def test_chunks_go_on_where_the_last_one_ended(model):
    options = GenerateOptions(model=model, operations=60, keys=2, concurrency=3, hot_key=0.5)
    tables = list(Chunks(options, chunk=8))
    assert len(tables) == 8
    operations = operations_of(pa.concat_tables(tables))
    assert [o.index for o in operations] == list(range(60))
    apply, _ = CASES[model]
    for key in ("0", "1"):
        assert reference.linearizable(apply, [o for o in operations if o.key == key])


def test_lines_and_table_hold_the_same(tmp_path):
    for name in ("h.jsonl", "h.jsonl.gz", "h.parquet"):
        generate(MIXED, tmp_path / name)
    table = read_table_file(tmp_path / "h.parquet", "operations")
    assert operations_table(read_operations(tmp_path / "h.jsonl")).equals(table)
    packed = (tmp_path / "h.jsonl.gz").read_bytes()
    assert gzip.decompress(packed) == (tmp_path / "h.jsonl").read_bytes()


def test_one_seed_one_file_under_any_hash_seed(tmp_path):
    script = (
        "import sys; from pathlib import Path; from kraftproof.checkers.generate import *\n"
        "for path in sys.argv[2:]: generate(GenerateOptions(model='queue', operations=400, keys=3,"
        " indeterminate=0.1, values=None, seed=int(sys.argv[1])), Path(path))"
    )
    names = ("h.jsonl", "h.jsonl.gz", "h.parquet")
    made = []
    for hash_seed, seed in enumerate(["7", "7", "8"]):
        folder = tmp_path / str(hash_seed)
        folder.mkdir()
        paths = [folder / name for name in names]
        environment = os.environ | {"PYTHONHASHSEED": str(hash_seed)}
        command = [sys.executable, "-c", script, seed, *map(str, paths)]
        subprocess.run(command, env=environment, check=True)
        made.append([path.read_bytes() for path in paths])
    assert made[0] == made[1]
    assert all(one != other for one, other in zip(made[0], made[2], strict=True))


def test_as_many_are_open_as_there_are_clients():
    options = GenerateOptions(operations=20_000, concurrency=20, indeterminate=0.01)
    operations = operations_of(generated_table(options))
    events = sorted(
        (index, step)
        for o in operations
        for index, step in ((o.invoke_index, 1), (o.complete_index, -1))
        if index is not None
    )
    silent = sum(o.complete_index is None for o in operations)
    depth = np.cumsum([step for _, step in events])
    assert depth.max() <= 20 + silent
    assert np.median(depth) >= 17


def test_a_process_has_one_operation_open_and_ends_with_an_indeterminate_one():
    by_process: dict[int, list] = {}
    for operation in operations_of(generated_table(MIXED)):
        by_process.setdefault(operation.process, []).append(operation)
    assert sum(map(len, by_process.values())) == MIXED.operations
    for operations in by_process.values():
        assert all(o.status != "info" for o in operations[:-1])
        for one, following in pairwise(operations):
            assert one.complete_index < following.invoke_index
            assert one.complete_time < following.invoke_time


def test_shares_are_as_asked():
    columns = columns_of(generated_table(replace(MIXED, operations=40_000)))
    table = columns.table
    status = Counter(table["status"].to_pylist())
    assert status["info"] == pytest.approx(2_000, rel=0.15)
    assert np.diff(columns.starts)[0] == 12_000
    assert table["complete_index"].null_count == pytest.approx(500, rel=0.3)
    errors = Counter(table["error"].to_pylist())
    assert errors["timeout"] == status["info"] - table["complete_index"].null_count
    assert errors["refused"] == status["fail"] > 800


def test_a_mix_leaves_the_other_functions_out():
    options = replace(MIXED, mix={"read": 3.0, "write": 1.0})
    used = Counter(generated_table(options)["f"].to_pylist())
    assert set(used) == {"read", "write"}
    assert used["read"] == pytest.approx(2_250, rel=0.1)


@pytest.mark.parametrize("corrupt", ["stale-read", "lost-update"])
def test_unique_values_are_set_once_a_key(corrupt):
    options = replace(MIXED, values=None, corrupt=corrupt)
    updates = [o for o in operations_of(generated_table(options)) if o.f != "read"]
    new = Counter((o.key, o.input if o.f == "write" else o.input[1]) for o in updates)
    assert set(new.values()) == {1}


REFUSED = {
    "--model nosuch": "--model nosuch: one of cas-register, ",
    "--operations -1": "--operations -1: 0 or more is expected",
    "--keys 0": "--keys 0: 1 or more is expected",
    "--values some": "--values some: a number or unique is expected",
    "--mix read": "--mix read: FUNCTION=WEIGHT is expected",
    "--mix peek=1": "--mix peek=1: cas-register has read, write, cas",
    "--mix read=-1": "--mix read=-1: a weight of 0 or more is expected",
    "--mix read=0": "--mix: a weight above 0 is expected",
    "--indeterminate 2": "--indeterminate 2: a share from 0 to 1 is expected",
    "--indeterminate nan": "--indeterminate nan: a share from 0 to 1 is expected",
    "--failed 0.6 --indeterminate 0.6": "--indeterminate 0.6 and --failed 0.6: together at most 1",
    "--hot-key 0.5": "--hot-key 0.5: more than one key is expected",
    "--corrupt nosuch": "--corrupt nosuch: cas-register has stale-read, ",
    "--operations 1 --corrupt stale-read": "--corrupt stale-read: this history has no place for it",
    "--operations 99999999999999999999": "--operations 99999999999999999999: 10000000000 or less",
    "--keys 99999999999": "--keys 99999999999: 10000000 or less is expected",
    "--concurrency 99999999999": "--concurrency 99999999999: 1000000 or less is expected",
    "--values 99999999999999999999": "--values 99999999999999999999: 4611686018427387904 or less",
    "--values ²": "--values ²: a number or unique is expected",
    "--mix read=1,write=1,read=2": "--mix read=1,write=1,read=2: read appears twice",
    "--operations 0 --corrupt phantom": "--corrupt phantom: this history has no place for it",
}


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED.items())
def test_what_cannot_be_is_one_line_and_no_file(arguments, sentence, tmp_path, capsys):
    status = run(["generate", "--out", str(tmp_path / "h.jsonl"), *arguments.split()])
    assert status == 3
    assert capsys.readouterr().err.startswith(f"kraftproof: {sentence}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["h.csv", "no/such/folder/h.jsonl", "a" * 250 + ".jsonl"])
def test_what_cannot_be_written_is_one_line(name, tmp_path, capsys):
    assert run(["generate", "--out", str(tmp_path / name)]) == 3
    error = capsys.readouterr().err
    whole = f"kraftproof: --out {tmp_path / name}: "
    shown = whole if len(name) < 200 else whole[:150]  # a long name is cut
    assert error.startswith(shown)
    assert error.count("\n") == 1


def test_what_is_no_folder_is_one_line(capsys):
    assert run(["generate", "--out", "/dev/full/h.parquet"]) == 3
    assert capsys.readouterr().err.startswith("kraftproof: --out /dev/full/h.parquet: can't be wri")


def test_an_empty_history_can_be_made(tmp_path):
    for name in ("h.jsonl", "h.parquet"):
        made = generate(GenerateOptions(operations=0), tmp_path / name)
        assert (made.operations, made.verdict) == (0, "valid")
    assert (tmp_path / "h.jsonl").read_bytes() == b""
    assert len(read_table_file(tmp_path / "h.parquet", "operations")) == 0


def test_the_command_names_the_wrong_answer(tmp_path, capsys):
    file = tmp_path / "h.jsonl"
    asked = ["generate", "--corrupt", "stale-read", "--out", str(file)]
    assert run(asked) == 0
    verdict, where = capsys.readouterr().out.splitlines()
    assert verdict == f"invalid  {file}  cas-register, 1000 operations, 1 keys, seed 0"
    assert where.startswith("         stale-read: operation ")
    assert run([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert f"operation {told['corrupted']} of key {told['corrupted_key']}:" in where
    assert run(["check", "--engine", "inline", str(file)]) == 1
    assert f"(operation {told['corrupted']})" in capsys.readouterr().out


def test_all_models_and_kinds_are_listed(capsys):
    assert run(["generate", "--list"]) == 0
    listed = capsys.readouterr().out
    for name, subject in SUBJECTS.items():
        assert f"\n{name}  " in f"\n{listed}"
        assert all(f"\n    {kind} " in listed for kind in subject.corruptions)


@pytest.mark.parametrize("order", [("--list", "--json"), ("--json", "--list")])
def test_the_list_is_json_if_asked(order, capsys):
    assert run(["generate", *order]) == 0
    listed = json.loads(capsys.readouterr().out)["models"]
    assert [one["model"] for one in listed] == list(SUBJECTS)
    for one in listed:
        subject = SUBJECTS[one["model"]]
        assert one["mix"] == dict(subject.mix)
        assert [kind["name"] for kind in one["corruptions"]] == list(subject.corruptions)


def test_a_history_needs_a_file(capsys):
    assert run(["generate", "--operations", "5"]) == 3
    assert capsys.readouterr().err.startswith("kraftproof: --out: the file to write is missing")
