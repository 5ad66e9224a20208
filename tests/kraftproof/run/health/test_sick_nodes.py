"""A node of somebody's system that ends, does not come back or panics is found, whatever it serves.

The history of each run is right: the nodes lose nothing that is checked.
"""

import json
import os
from pathlib import Path

import pytest

from kraftproof.cluster.remote.output_limit import KEPT_BYTES, PARTS, left_out_bytes
from tests.support.command import KRAFTPROOF, run
from tests.support.long_cases import mostly_long

SICK = Path(__file__).parents[3] / "support" / "sick_system.py"
CASES = {
    "Quits": ("", "node 2: ended by itself with status 3; its last output: no more"),
    "StartsOnce": (
        "1 3 restart target=2",
        "node 2: ended by itself with status 3; its last output: the store is there",
    ),
    "Panics": ("", "node 2: printed 'panic: the store is broken'"),
}


@pytest.mark.parametrize("name", mostly_long([(name, name) for name in CASES], ["Quits"]))
def test_a_sick_node_is_found(tmp_path, name: str) -> None:
    fault, expected = CASES[name]
    faults = tmp_path / "faults.txt"
    faults.write_text(f"# a node that is healthy at first\n\n{fault}\n")
    done = run(
        KRAFTPROOF,
        *("test", "--backend", "local", "--system", f"{SICK}:{name}", "--workload", "counter"),
        *("--faults", faults, "--time-limit", "8", "--store", tmp_path),
        timeout=120,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert expected in done.stdout + done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="faults of disks need root")
@pytest.mark.parametrize(("name", "is_of_fault"), [("EndsLate", True), ("EndsOtherwise", False)])
def test_a_late_end_because_of_the_disk_belongs_to_the_fault(tmp_path, name, is_of_fault) -> None:
    faults = tmp_path / "faults.txt"
    faults.write_text("1 4 disk-full target=2 trouble={failure=full;slow_ns=0}\n")
    done = run(
        KRAFTPROOF,
        *("test", "--backend", "local", "--system", f"{SICK}:{name}", "--workload", "counter"),
        *("--faults", faults, "--time-limit", "18", "--store", tmp_path, "--json"),
        timeout=300,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    events = map(json.loads, Path(found["run"], "faults.jsonl").read_text().splitlines())
    heals = [event["detail"] for event in events if event["phase"] == "healed"]
    ended = "node 2: ended by itself with status 1; its last output: no"
    is_found = any(ended in why for why in found["why"])
    assert (len(heals), is_found) == ((2, False) if is_of_fault else (1, True)), found["why"]
    if is_of_fault:  # the store of a node that was started again is empty, which is found
        assert "s after the repair of its disk: fatal: [Errno 28] No space left" in heals[1]


def test_the_output_of_a_node_in_a_loop_is_cut_and_searched_to_its_end(tmp_path) -> None:
    done = run(
        KRAFTPROOF,
        *("test", "--backend", "local", "--system", f"{SICK}:Floods", "--workload", "counter"),
        *("--nemesis", "none", "--time-limit", "8", "--store", tmp_path, "--json"),
        timeout=120,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    output = Path(found["run"], "nodes", "2", "output.log")
    assert output.stat().st_size <= PARTS * KEPT_BYTES
    left_out = left_out_bytes(output)
    assert left_out > 0
    text = output.read_text()
    assert "the first line\n" in text[:KEPT_BYTES]
    assert text.endswith("the store is broken\n")
    assert any("node 2: printed 'the store is broken'" in why for why in found["why"])
    sentence = f"node 2: {left_out} bytes in the middle of output.log were left out"
    assert all(
        sentence in Path(found["run"], name).read_text() for name in ("report.html", "report.md")
    )
