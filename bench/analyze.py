"""Measure the time of `kraftproof analyze` by number of operations, and the cost of a hot key.

`python -m bench.analyze` generates tables of 10M and 20M operations in 10,000 keys, and one of 10M
of which a single key has half, and analyses each in a process of its own, interleaved. Seconds are
those of the whole command, Java's start included; peak memory is that of the whole process tree
(Java and Python workers; shared pages count once for each). To reach: twice the operations in at
most 2.2 times the time, and the table with the hot key in at most 1.5 times that of as many
without one (`even`) and, where cores are idle, of its small keys alone (`without`: half of the
operations). The tables are kept in --folder and made once. It prints docs/benchmarks/analyze.md.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

LINEAR: Final = 2.2
SKEWED: Final = 1.5
EVERY_S: Final = 0.25
PAGE_BYTES: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One table to analyse."""

    name: str
    operations: int
    keys: int
    hot_key: float = 0.0

    def make(self, folder: Path) -> Path:
        """Generate the table if the file is missing."""
        path = folder / f"{self.name}-{self.operations}-{self.keys}.parquet"
        if path.exists():
            return path
        words = ["--operations", self.operations, "--keys", self.keys, "--hot-key", self.hot_key]
        generate = [sys.executable, "-m", "kraftproof", "generate", "--seed", "7"]
        unfinished = path.with_name(f"unfinished-{path.name}")
        subprocess.run([*generate, *map(str, words), "--out", str(unfinished)], check=True)
        return unfinished.rename(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What one analysis took."""

    seconds: float
    peak_bytes: int


def jobs(operations: int, keys: int) -> tuple[Job, ...]:
    """The even ones of one and two times the size, the skewed one, and its small keys alone."""
    return (
        Job(name="even", operations=operations, keys=keys),
        Job(name="twice", operations=2 * operations, keys=keys),
        Job(name="hot-key", operations=operations, keys=keys, hot_key=0.5),
        Job(name="without", operations=operations // 2, keys=keys),
    )


def analyse(table: Path, master: str) -> Taken:
    """Analyse a table in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="kraftproof-bench-") as out:
        command = [sys.executable, "-m", "kraftproof", "analyze", str(table), "--json"]
        begun = time.monotonic()
        with subprocess.Popen(
            [*command, "--master", master, "--out", out],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            peak = 0
            while process.poll() is None:
                peak = max(peak, sum(map(_resident_bytes, _tree(process.pid))))
                time.sleep(EVERY_S)
            seconds = time.monotonic() - begun
            told = process.stdout.read() if process.stdout is not None else ""
    if process.returncode != 0 or json.loads(told)["verdict"] != "valid":
        sys.exit(f"bench.analyze: {table} ended with {process.returncode}: {told}")
    return Taken(seconds=seconds, peak_bytes=peak)


def _tree(root: int) -> list[int]:
    """Return a process and all its descendants."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, waiting = [], [root]
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting += children.get(one, [])
    return found


def _resident_bytes(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return 0


def page(taken: dict[str, list[Taken]], wanted: Sequence[Job], master: str) -> Iterator[str]:
    """Yield the page: what each job took, and the ratios."""
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    yield "# `kraftproof analyze` by the number of operations"
    yield f"\n{(__doc__ or '').partition(chr(10))[2].strip()}\n"
    yield (
        f"{datetime.now(tz=UTC):%Y-%m-%d}, {os.cpu_count()} cores, {memory_gb:.0f} GB, Python"
        f" {platform.python_version()}, Spark {version('pyspark')} at {master}.\n"
    )
    yield "| table | operations | keys | median s | best s | repetitions | peak GB |"
    yield "|---|---|---|---|---|---|---|"
    middle = {}
    for job in wanted:
        seconds = [one.seconds for one in taken[job.name]]
        middle[job.name] = statistics.median(seconds)
        peak = max(one.peak_bytes for one in taken[job.name]) / 1e9
        yield (
            f"| {job.name} | {job.operations:,} | {job.keys:,} | {middle[job.name]:.1f}"
            f" | {min(seconds):.1f} | {len(seconds)} | {peak:.1f} |"
        )
    yield "\n| ratio of medians | | to reach | |"
    yield "|---|---|---|---|"
    for over, under, most in (
        ("twice", "even", LINEAR),
        ("hot-key", "even", SKEWED),
        ("hot-key", "without", SKEWED),
    ):
        ratio = middle[over] / middle[under]
        met = "met" if ratio <= most else "not met"
        yield f"| {over} / {under} | {ratio:.2f} | {most} | {met} |"


def main() -> int:
    """Generate, analyse, report."""
    parser = argparse.ArgumentParser(prog="python -m bench.analyze", description=__doc__)
    parser.add_argument("--operations", type=int, default=10_000_000)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--master", default="local[*]")
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "kraftproof-bench-analyze"
    )
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    wanted = jobs(options.operations, options.keys)
    tables = {job.name: job.make(options.folder) for job in wanted}
    taken: dict[str, list[Taken]] = {job.name: [] for job in wanted}
    for repetition in range(options.repetitions):
        for job in wanted:
            one = analyse(tables[job.name], options.master)
            taken[job.name].append(one)
            told = f"{one.seconds:.1f} s, {one.peak_bytes / 1e9:.1f} GB"
            print(f"{repetition + 1}/{options.repetitions} {job.name}: {told}", file=sys.stderr)
    print("\n".join(page(taken, wanted, options.master)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
