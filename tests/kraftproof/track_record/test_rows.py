"""Rows of the track record: their files, their runs, and the page."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from kraftproof.errors import UsageError
from kraftproof.track_record.page import RESULTS, write_page
from kraftproof.track_record.record import Recorded, Runs
from kraftproof.track_record.rows import read_rows
from tests.support.command import KRAFTPROOF, call, one_line, run

OURS = Path(__file__).parents[3] / "tests" / "track_record"
SICK = Path(__file__).parents[2] / "support" / "sick_system.py"
ROW = f"""
issue = "SICK-1"
title = "The second node panics"
system = "{SICK}:PanicsInVersion"
version = "ill"
control = "healthy"
finding = "NoFatalFault"
runs = 2
control_runs = 1

[run]
workload = "counter"
time_limit_s = 5
faults = ["1 1.5 pause target=1"]
"""


def test_our_rows_are_read(tmp_path) -> None:
    rows = read_rows(OURS, (), tmp_path)
    assert len(rows) >= 6
    for row in rows:
        assert row.options != row.control_options
        assert row.options.system_version == row.version
        assert row.control_options.system_version == row.control
        if row.schedule is not None:
            assert set(row.options.nemeses) == {one.kind for one in row.schedule}
    assert [row.name for row in read_rows(OURS, ["kafka-14946"], tmp_path)] == ["kafka-14946"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "issue =",
            "issu =",
            "unknown key 'issu' (did you mean issue?); the keys are issue, ",
        ),
        ('version = "ill"', "version = 3", "version: a text is expected, not 3"),
        ("runs = 2", "runs = 0", "runs: a number from 1 to 86400 is expected, not 0"),
        ("time_limit_s", "time_limit", "unknown key 'time_limit' of [run]"),
        ("1 1.5 pause", "2 1.5 pause", "faults line 1: '2 1.5 pause target=1': it ends at 1.5 s"),
        ("[run]", '[run]\nnemesis = ["kill"]', "[run] has both faults and nemesis"),
        ('"healthy"', '"ill"', "control: is the version itself; [control_run] has to differ"),
        ("[run]", "control_run = 3\n[run]", "control_run: a table is expected, not 3"),
        ("[run]", "[control_run]\nspeed = 3\n[run]", "unknown key 'speed' of [run]"),
        ("[run]", "[walk]", "the table [run] is missing"),
        ('"counter"', '"counter', "at line"),
    ],
)
def test_a_mistake_in_a_row_is_one_line(tmp_path, old: str, new: str, message: str) -> None:
    assert old in ROW
    (tmp_path / "sick.toml").write_text(ROW.replace(old, new))
    with pytest.raises(UsageError) as raised:
        read_rows(tmp_path, (), tmp_path)
    assert message in str(raised.value)
    assert str(tmp_path / "sick.toml") in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("key", ["version", "control"])
def test_an_unknown_release_of_any_row_is_refused_before_the_first_run(tmp_path, key: str) -> None:
    kafka = ROW.replace(f"{SICK}:PanicsInVersion", "apache-kafka").replace("counter", "topics")
    kafka = kafka.replace('"ill"', '"3.3.1"').replace('"healthy"', '"3.7.0"')
    (tmp_path / "a.toml").write_text(ROW)
    (tmp_path / "b.toml").write_text(re.sub(f"(?m)^{key} = .*", f'{key} = "3.2.0"', kafka))
    store, page = tmp_path / "store", tmp_path / "page.md"
    done = call("track-record", "--rows", tmp_path, "--page", page, "--store", store)
    row = f"kraftproof: {tmp_path}/b.toml: {key}: --system-version: Kafka '3.2.0' can't run"
    assert one_line(done, 3).startswith(row)
    assert not store.exists()


def test_a_control_may_differ_by_its_settings(tmp_path) -> None:
    same = ROW.replace('"healthy"', '"ill"').replace(
        "[run]", "[control_run]\nnode_config = { flush = 1 }\n[run]\nnode_config = { flush = 9 }"
    )
    (tmp_path / "sick.toml").write_text(same)
    (row,) = read_rows(tmp_path, (), tmp_path)
    assert row.options.node_config == (("flush", "9"),)
    assert row.control_options.node_config == (("flush", "1"),)
    assert row.control_name == "ill with flush=1"


def test_a_row_finds_its_bug_and_clears_its_control(tmp_path) -> None:
    (tmp_path / "sick.toml").write_text(ROW)
    page = tmp_path / "track_record.md"
    done = run(
        KRAFTPROOF,
        *("track-record", "--rows", tmp_path, "--page", page, "--store", tmp_path / "store"),
        "--json",
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    line = json.loads(done.stdout)
    assert (line["row"], line["version"], line["control"]) == ("sick", "ill", "healthy")
    assert (line["found"], line["found_on_control"], line["runs"]) == (True, False, 1)
    assert 0 < line["seconds"] < 180
    assert "| sick | SICK-1 | The second node panics | ill | 1 of 1 |" in page.read_text()


def recorded(row: str, *, found: int = 1, on_control: int = 0, unknown: int = 0) -> Recorded:
    return Recorded(
        row=row,
        issue="I",
        title="T",
        check="C",
        day="2026-01-01",
        affected=Runs(version="1", done=1, unknown=0, found=found, seconds=2.0, sentence="s"),
        control=Runs(version="2", done=2, unknown=unknown, found=on_control, seconds=9.0),
    )


def test_the_page_keeps_the_rows_that_were_not_run(tmp_path) -> None:
    page = tmp_path / "track_record.md"
    write_page(page, [recorded("b")])
    write_page(page, [recorded("a", found=0)])
    write_page(page, [recorded("b", on_control=1)])
    rows = [line.split(" | ") for line in page.read_text().splitlines() if line.startswith("| ")]
    assert [(row[0], row[4], row[7]) for row in rows[1:]] == [
        ("| a", "0 of 1", "0 of 2"),
        ("| b", "1 of 1", "1 of 2"),
    ]
    (tmp_path / RESULTS).write_text("{")
    with pytest.raises(UsageError, match=RESULTS):
        write_page(page, [recorded("c")])


def test_a_run_without_a_verdict_has_its_reason_in_the_line_and_on_the_page(tmp_path) -> None:
    page = tmp_path / "track_record.md"
    one = recorded("a", unknown=1)
    one = replace(one, control=replace(one.control, why="no operation succeeded"))
    assert one.describe().endswith("; a run without a verdict: no operation succeeded")
    write_page(page, [one])
    write_page(page, [recorded("b")])
    assert "## Runs without a verdict\n\n- **a** (2): no operation succeeded\n" in page.read_text()


@pytest.mark.parametrize(
    ("one", "holds"),
    [
        (recorded("a"), True),
        (recorded("a", found=0), False),
        (recorded("a", on_control=1), False),
        (recorded("a", unknown=1), True),
        (recorded("a", unknown=2), False),
    ],
)
def test_a_row_holds_by_its_version_and_its_control(one: Recorded, holds: bool) -> None:
    assert one.holds is holds


def test_a_row_whose_check_found_nothing_names_the_checks_that_did() -> None:
    """A row that asked for `linearizable` once missed each find of `cas-register/linearizable`."""
    one = recorded("a", found=0)
    assert one.describe() == "a: does not hold; found in 0 of 1 runs, 2 s; control 0 of 2"
    other = replace(one, affected=replace(one.affected, others=("m/linearizable",)))
    assert "found in 0 of 1 runs, 2 s (not by C, but by m/linearizable)" in other.describe()
    assert recorded("a").describe() == "a: holds; found in 1 of 1 runs, 2 s; control 0 of 2"
