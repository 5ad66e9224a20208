"""A node of somebody's system that ends, does not come back or panics is found, whatever it serves.

The history of each run is right: the nodes lose nothing that is checked.
"""

from pathlib import Path

import pytest

from tests.support.command import KRAFTPROOF, run
from tests.support.long_cases import mostly_long

SICK = Path(__file__).parents[3] / "support" / "sick_system.py"
CASES = {
    "Quits": ("", "node 2: ended by itself; its last output: no more"),
    "StartsOnce": (
        "1 3 restart target=2",
        "node 2: ended by itself; its last output: the store is there",
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
