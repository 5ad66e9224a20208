"""Many short docker runs in which every node is killed at once; nothing acknowledged may be lost.

What it is: `make soak`, proof of recovery: one run a seed, its verdict taken from the exit code.
Every other run writes snapshots all the time, so that the nodes recover from these and the rest
of a log that begins above 0; its line says how many were written, copied from the leader, and
loaded at a start, as the nodes' traces tell.
What it is not: proof of durability, since kill -9 leaves the page cache alone; see the fault
`lose-unsynced`, on every backend.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

KRAFTPROOF = Path(sys.executable).with_name("kraftproof")
VERDICTS = {0: "valid", 1: "invalid", 2: "unknown"}
TIME_LIMIT_S = 20
PATIENCE_S = 180
SMALL_SNAPSHOTS = "metadata.log.max.record.bytes.between.snapshots=3000"
"""Snapshot interval of about 25 records; a run commits hundreds of records."""
SNAPSHOT_WAYS = ("written", "copied", "loaded")


def command(seed: int, store: str) -> list[str]:
    """The run of one seed."""
    options = ["--backend", "docker", "--workload", "topics", "--nemesis", "kill-all"]
    options += ["--time-limit", str(TIME_LIMIT_S), "--seed", str(seed), "--store", store]
    if seed % 2:
        options += ["--node-config", SMALL_SNAPSHOTS]
    return [str(KRAFTPROOF), "test", *options, "--engine", "inline", "--json"]


def soak_once(seed: int, store: str) -> tuple[str, str, Counter[str]]:
    """Execute a run; return verdict, last line if not valid, and snapshot counts."""
    try:
        done = subprocess.run(
            command(seed, store), capture_output=True, text=True, check=False, timeout=PATIENCE_S
        )
    except subprocess.TimeoutExpired:
        return "error", f"did not end within {PATIENCE_S} s", Counter()
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    recorded = said[-1] if said else ""
    if done.returncode not in VERDICTS or not done.stdout.strip():
        return "error", recorded, Counter()
    verdict = VERDICTS[done.returncode]
    result = json.loads(done.stdout.splitlines()[-1])
    return verdict, "" if verdict == "valid" else recorded, snapshots_of(Path(result["run"]))


def snapshots_of(run: Path) -> Counter[str]:
    """Return the numbers of written, copied and loaded snapshots of a run."""
    counts: Counter[str] = Counter()
    for trace in run.glob("nodes/*/trace.jsonl"):
        ends: dict[str, int] = {}
        for row in whole_rows(trace):
            before = ends.get(row["incarnation"])
            ends[row["incarnation"]] = row["snapshot_end"]
            if before is None:
                counts["loaded"] += row["snapshot_end"] > 0
            elif row["snapshot_end"] > before:
                counts["written" if row["event"] == "SnapshotWritten" else "copied"] += 1
    return counts


def whole_rows(trace: Path) -> Iterator[dict[str, Any]]:
    """Yield the complete rows of a trace; a kill may truncate the last row."""
    with trace.open(encoding="utf-8") as lines:
        for line in lines:
            with contextlib.suppress(json.JSONDecodeError):
                yield json.loads(line)


def described(snapshots: Counter[str]) -> str:
    """The counts of snapshots in words."""
    return "snapshots " + ", ".join(f"{snapshots[way]} {way}" for way in SNAPSHOT_WAYS)


def main() -> int:
    """Run all seeds; return 1 if a run is not valid."""
    parser = argparse.ArgumentParser(description="Kill every node at once, again and again.")
    parser.add_argument("--runs", type=int, default=50, help="how many runs (default 50)")
    parser.add_argument("--first-seed", type=int, default=0, help="seed of the first (default 0)")
    parser.add_argument("--store", default="store", help="where the run directories go")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error(f"--runs {options.runs}: at least 1 is needed")
    counts: Counter[str] = Counter()
    snapshots: Counter[str] = Counter()
    for seed in range(options.first_seed, options.first_seed + options.runs):
        begun = time.monotonic()
        verdict, said, found = soak_once(seed, options.store)
        counts[verdict] += 1
        took = time.monotonic() - begun
        snapshots += found
        text = f"seed {seed}: {verdict} in {took:.1f} s, {described(found)} {said}"
        print(text.rstrip(), flush=True)
    summary = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    print(f"soak: {options.runs} runs: {summary}; {described(snapshots)}")
    return 0 if counts["valid"] == options.runs else 1


if __name__ == "__main__":
    raise SystemExit(main())
