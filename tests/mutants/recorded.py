"""The seed from which on each mutant is found, and by which invariant when that was recorded.

`python -m tests.mutants.recorded` searches again, for after a change of the node or of what the
simulation draws, and prints the table.
"""

import json
import subprocess
import sys
import tempfile

SEEDS = {
    "A15": 0,
    "A18": 0,
    "A19a": 0,
    "A19b": 0,
    "A24": 0,
    "A24b": 0,
    "A27": 1,
    "A4": 4,
    "D1-heartbeat": 2,
    "D1-registration": 0,
    "D12": 2,
}


def search(mutant, seeds, budget_s, store):
    """Return what `kraftproof sim` says, as its JSON object, and its exit status."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "kraftproof", "sim", "--seeds", seeds, "--json"),
            *("--budget-s", str(budget_s), "--store", str(store)),
            *(() if mutant is None else ("--mutant", mutant)),
        ],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.returncode


def main():
    for mutant in SEEDS:
        with tempfile.TemporaryDirectory() as store:
            found, _ = search(mutant, "0:", 112, store)
        seed = found["violations"][0]["seed"] if found["violations"] else None
        print(f'    "{mutant}": {seed},  # {found["cpu_seconds"]} CPU-s')


if __name__ == "__main__":
    main()
