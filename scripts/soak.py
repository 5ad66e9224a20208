"""Many short docker runs in which every node is killed at once; nothing acknowledged may be lost.

What it is: `make soak`, proof of recovery: one run a seed, its verdict taken from the exit code.
What it is not: proof of durability, since kill -9 leaves the page cache alone; `lose-unsynced` on
the simulated backend proves that.
"""

import argparse
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

KRAFTPROOF = Path(sys.executable).with_name("kraftproof")
VERDICTS = {0: "valid", 1: "invalid", 2: "unknown"}
TIME_LIMIT_S = 20
PATIENCE_S = 180


def command(seed: int, store: str) -> list[str]:
    """The run of one seed."""
    options = ["--backend", "docker", "--workload", "topics", "--nemesis", "kill-all"]
    options += ["--time-limit", str(TIME_LIMIT_S), "--seed", str(seed), "--store", store]
    return [str(KRAFTPROOF), "test", *options, "--engine", "inline", "--json"]


def soak_once(seed: int, store: str) -> tuple[str, str]:
    """One run: its verdict, and what it said last when that isn't valid."""
    try:
        done = subprocess.run(
            command(seed, store), capture_output=True, text=True, check=False, timeout=PATIENCE_S
        )
    except subprocess.TimeoutExpired:
        return "error", f"did not end within {PATIENCE_S} s"
    verdict = VERDICTS.get(done.returncode, "error")
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return verdict, "" if verdict == "valid" or not said else said[-1]


def main() -> int:
    """Run all seeds; 1 if any verdict but valid was among them."""
    parser = argparse.ArgumentParser(description="Kill every node at once, again and again.")
    parser.add_argument("--runs", type=int, default=50, help="how many runs (default 50)")
    parser.add_argument("--first-seed", type=int, default=0, help="seed of the first (default 0)")
    parser.add_argument("--store", default="store", help="where the run directories go")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error(f"--runs {options.runs}: at least 1 is needed")
    counts: Counter[str] = Counter()
    for seed in range(options.first_seed, options.first_seed + options.runs):
        begun = time.monotonic()
        verdict, said = soak_once(seed, options.store)
        counts[verdict] += 1
        took = time.monotonic() - begun
        print(f"seed {seed}: {verdict} in {took:.1f} s {said}".rstrip(), flush=True)
    summary = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    print(f"soak: {options.runs} runs: {summary}")
    return 0 if counts["valid"] == options.runs else 1


if __name__ == "__main__":
    raise SystemExit(main())
