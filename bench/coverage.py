"""What steering is worth: (role, event, fault) cells covered within a CPU budget, with and without.

`python -m bench.coverage` searches the same seeds twice for 100 CPU-seconds each, once steered and
once in their order, from several first seeds, and prints a table for docs/benchmarks/simulation.md.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile


def covered(first: int, budget_s: float, *options: str) -> tuple[int, int]:
    """Return how many cells a search covers from a seed on, and in how many runs.

    Raises:
        RuntimeError: the search found a violation or did not end; its output is the text.
    """
    with tempfile.TemporaryDirectory() as store:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "kraftproof", "sim", "--seeds", f"{first}:", "--json"),
                *("--budget-s", f"{budget_s:g}", "--store", store, *options),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)
    said = json.loads(done.stdout.splitlines()[-1])
    return said["covered"], said["seeds"]


def main() -> None:
    """Search, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--budget-s", type=float, default=100.0, help="CPU seconds a search")
    parser.add_argument("--firsts", type=int, nargs="+", default=[0, 1000, 2000, 3000, 4000])
    given = parser.parse_args()
    print(f"| first seed | in order | steered | ratio, after {given.budget_s:g} CPU-s each |")
    print("|---|---|---|---|")
    ratios = []
    for first in given.firsts:
        plain, runs = covered(first, given.budget_s, "--in-order")
        steered, steered_runs = covered(first, given.budget_s)
        ratios.append(steered / plain)
        print(
            f"| {first} | {plain} cells, {runs} runs | {steered} cells, {steered_runs} runs "
            f"| {ratios[-1]:.2f} |",
            flush=True,
        )
    print(f"\nMedian ratio: {statistics.median(ratios):.2f}.")


if __name__ == "__main__":
    main()
