"""A night: its plan, its verdict, its summary and its archive; and two nights as a whole."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kraftproof.errors import UsageError
from kraftproof.nightly.archive import earlier, keep
from kraftproof.nightly.fingerprint import fingerprint
from kraftproof.nightly.plan import read_plan
from kraftproof.nightly.steps import Finding, Step
from kraftproof.nightly.summary import page, verdict_of, write_junit
from kraftproof.track_record.rows import read_rows
from tests.support.command import KRAFTPROOF, run

ROOT = Path(__file__).parents[3]
SICK = ROOT / "tests" / "support" / "sick_system.py"
ROW = f"""
issue = "SICK-1"
title = "The second node panics"
system = "{SICK}:PanicsInVersion"
version = "ill"
control = "healthy"
finding = "NoFatalFault"
control_runs = 1

[run]
workload = "counter"
time_limit_s = 5
"""
FOUND = Step(kind="control", name="mutant A", verdict="found", seconds=3.0, command="c")
MISSED = Step(kind="control", name="mutant A", verdict="missed", seconds=3.0, command="c")
VALID = Step(kind="run", name="r", verdict="valid", seconds=9.0, command="c", ok=10)
UNKNOWN = Step(kind="run", name="r", verdict="unknown", seconds=9.0, command="c", detail="few")
FINDING = Finding(
    fingerprint="f1", check="C", sentence="a | b", command="again", reproduced=2, repeats=5
)
INVALID = Step(
    kind="run",
    name="r",
    verdict="invalid",
    seconds=9.0,
    command="c",
    findings=(FINDING,),
    run="store/r",
    ok=10,
    ok_in_faults=4,
    bitten={"kill": 2},
)


@pytest.mark.parametrize(
    ("steps", "verdict", "reason"),
    [
        ((FOUND, VALID), "valid", "1 steps valid, all controls found"),
        ((FOUND,), "unknown", "an empty night"),
        ((), "unknown", "an empty night"),
        ((MISSED, VALID), "unknown", "not found: mutant A"),
        ((MISSED, INVALID), "unknown", "not found: mutant A"),
        ((FOUND, INVALID), "invalid", "1 findings in r"),
        ((FOUND, VALID, UNKNOWN), "unknown", "no verdict on r"),
        ((FOUND, UNKNOWN), "unknown", "an empty night"),
    ],
)
def test_a_night_is_valid_only_with_its_controls_and_runs(steps, verdict, reason) -> None:
    found = verdict_of(steps)
    assert found[0] == verdict
    assert reason in found[1]


def test_the_page_shows_new_and_known_findings_and_controls_of_nights_before() -> None:
    before = [
        {"night": 6, "name": "mutant A", "verdict": "found", "seconds": 7.0},
        {"night": 7, "name": "mutant A", "verdict": "missed", "seconds": 99.0},
    ]
    known = page(
        Path("store/8"),
        8,
        "2026-11-25",
        (FOUND, INVALID),
        before,
        [{"night": 7, "fingerprint": "f1"}],
    )
    assert "# Night 8, 2026-11-25: invalid" in known
    assert "in r, known since night 7 (f1), reproduced 2 of 5" in known
    assert "a \\| b" in known
    assert "| [r](../r/report.html) | invalid |" in known
    assert "| mutant A | found | 3 | missed, 7 |" in known
    assert "| r | 2 kill | 4 | 40% |" in known
    assert "in r, new (f1)" in page(Path("store/8"), 8, "2026-11-25", (FOUND, INVALID), (), ())


def test_junit_fails_with_the_night(tmp_path) -> None:
    def failures(*steps: Step) -> list[str]:
        write_junit(tmp_path / "junit.xml", steps)
        cases = ET.parse(tmp_path / "junit.xml").getroot().iter("testcase")
        return [case.attrib["name"] for case in cases if len(case)]

    assert failures(FOUND, VALID) == []
    assert failures(FOUND) == ["the night"]
    assert failures(MISSED, VALID) == ["mutant A", "the night"]
    assert failures(FOUND, INVALID) == ["r", "the night"]


def test_the_archive_keeps_all_nights(tmp_path) -> None:
    keep(tmp_path, 8, "2026-11-25", [FOUND, INVALID])
    keep(tmp_path, 7, "2026-11-24", [MISSED])
    keep(tmp_path, 8, "2026-11-25", [FOUND, INVALID, VALID])
    names = [(row["night"], row["name"]) for row in earlier(tmp_path, "steps", 9)]
    assert names == [(7, "mutant A"), (8, "mutant A"), (8, "r"), (8, "r")]
    assert earlier(tmp_path, "steps", 7) == []
    assert [row["fingerprint"] for row in earlier(tmp_path, "findings", 9)] == ["f1"]
    assert dict(pq.read_table(tmp_path / "steps").to_pylist()[-2]["bitten"]) in ({"kill": 2}, {})
    (tmp_path / "steps" / "night=3.parquet").write_text("no table")
    with pytest.raises(UsageError, match=r"night=3\.parquet"):
        earlier(tmp_path, "steps", 9)


def test_a_fingerprint_ignores_numbers_and_keys() -> None:
    first = fingerprint("register", "linearizable", "read of k1 returned 3 at 12.4 s")
    assert first == fingerprint("register", "linearizable", "read of k22 returned 14 at 2.0 s")
    assert first != fingerprint("register", "linearizable", "cas of k1 returned 3 at 12.4 s")
    assert first != fingerprint("set", "linearizable", "read of k1 returned 3 at 12.4 s")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[controls]\n", "at least one mutant or row is expected"),
        ("[simulation]\nbudget_s = 1\n", "missing required field `controls`"),
        ('[controls]\nmutant = ["A18"]\n', "unknown field `mutant`"),
        ("[controls\n", "at line"),
    ],
)
def test_a_mistake_in_a_plan_is_one_line(tmp_path, text: str, message: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as raised:
        read_plan(path)
    assert message in str(raised.value)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_our_plan_names_rows_and_mutants_that_exist(tmp_path) -> None:
    from kraftproof.mutants.catalogue import load

    plan = read_plan(ROOT / "tests" / "nightly.toml")
    assert len(plan.controls.mutants) >= 3
    assert len(plan.controls.rows) >= 3
    read_rows(ROOT / "tests" / "track_record", plan.controls.rows, tmp_path)
    for mutant in plan.controls.mutants:
        assert load(mutant).mutant_id == mutant


def night(folder: Path, number: int, plan: str) -> tuple[int, str]:
    (folder / "plan.toml").write_text(plan)
    done = run(
        KRAFTPROOF,
        *("nightly", "--plan", folder / "plan.toml", "--out", folder / "nights"),
        *("--rows", folder, "--night", str(number), "--no-analyze"),
        timeout=200,
    )
    summary = folder / "nights" / str(number) / "summary.md"
    return done.returncode, summary.read_text() if summary.exists() else done.stderr


@pytest.mark.simulation
@pytest.mark.long
def test_a_night_of_controls_alone_is_empty(tmp_path) -> None:
    status, text = night(tmp_path, 1, '[controls]\nmutants = ["A18"]\n')
    assert status == 2, text
    assert "An empty night" in text
    assert "| mutant A18 | found |" in text


@pytest.mark.long
def test_two_nights(tmp_path) -> None:
    (tmp_path / "sick.toml").write_text(ROW)
    control = '[controls]\nrows = ["sick"]\n'
    status, text = night(tmp_path, 1, control)
    assert status == 2, text
    assert "An empty night" in text
    ill = ", ".join(
        f'"{word}"'
        for word in (
            *("--system", f"{SICK}:Panics", "--workload", "counter"),
            *("--nemesis", "none", "--time-limit", "5"),
        )
    )
    seeds = "[simulation]\nbudget_s = 2\n"
    runs = f'[[runs]]\nname = "ill"\narguments = [{ill}]\n'
    status, text = night(tmp_path, 2, f"repeats = 1\n{control}{seeds}{runs}")
    assert status == 1, text
    assert "**NoFatalFault** in ill, new" in text
    assert "reproduced 1 of 1" in text
    assert "| new seeds | valid |" in text
    [before] = [line for line in text.splitlines() if line.startswith("| row sick | found |")]
    assert not before.endswith("| none |")
