"""Times the check of histories of partitions: inline, and on Spark by ranges of offsets.

    python -m bench.logs --records 10000000 --partitions 1

makes a history of so many sends (2 % indeterminate, 1 % failed), whose records are polled and read
at the end, and checks it on two cores. It prints a line of JSON: seconds of the check from the
start of the command (with Spark's start) and of Spark's job, CPU seconds (of all processes, and of
the driver, Java and the Python workers apart), and the largest memory of the driver. `--half` also
checks a history of half the length, for the ratio of costs.
"""

import argparse
import contextlib
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from kraftproof.checkers import check_paths
from kraftproof.checkers.generate import GenerateOptions, generate

SESSIONS: Final = 50


def main(words: list[str] | None = None) -> None:
    """Make the histories, check them, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=1)
    parser.add_argument("--engine", choices=("inline", "spark"), default="spark")
    parser.add_argument("--half", action="store_true")
    asked = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="kraftproof-logs-") as folder:
        sizes = [asked.records // 2, asked.records] if asked.half else [asked.records]
        for records in sizes:
            path = made(Path(folder), records, asked.partitions)
            print(json.dumps(timed(path, records, asked.partitions, asked.engine)), flush=True)
            path.unlink()


def made(folder: Path, records: int, partitions: int) -> Path:
    """Return a generated history in Parquet."""
    path = folder / f"{records}-{partitions}.parquet"
    options = GenerateOptions(
        model="log",
        operations=records,
        keys=partitions,
        concurrency=SESSIONS,
        indeterminate=0.02,
        failed=0.01,
    )
    generate(options, path)
    return path


def timed(path: Path, records: int, partitions: int, engine: Any) -> dict[str, object]:  # noqa: ANN401
    """Return the figures of one check."""
    begun, cpu = time.monotonic(), _cpu_s_by_role()
    first: list[float] = []

    def report(line: str) -> None:
        del line
        first.append(time.monotonic())

    (run,) = check_paths([path], engine=engine, report=report)
    ended = time.monotonic()
    used = {role: round(after - cpu[role], 1) for role, after in _cpu_s_by_role().items()}
    return {
        "engine": engine,
        "records": records,
        "partitions": partitions,
        "verdict": run.verdict.value,
        "keys": len(run.keys),
        "seconds": round(ended - begun, 1),
        "job_seconds": round(ended - first[-1], 1) if len(first) > 1 else None,
        "cpu_seconds": round(sum(used.values()), 1),
        "cpu_seconds_of": used,
        "load": round(os.getloadavg()[0], 1),
        "peak_mb_of_driver": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def _cpu_s_by_role() -> dict[str, float]:
    """Return the CPU seconds of this process, and of its descendants that are known."""
    ticks = {"driver": 0, "java": 0, "workers": 0}
    me = os.getpid()
    pending = [me]
    while pending:
        pid = pending.pop()
        place = Path(f"/proc/{pid}")
        with contextlib.suppress(OSError):  # the process has just ended
            name, _, fields = (place / "stat").read_text(encoding="ascii").rpartition(")")
            role = "driver" if pid == me else "java" if name.endswith("(java") else "workers"
            ticks[role] += sum(map(int, fields.split()[11:15]))
            for children in place.glob("task/*/children"):
                pending += map(int, children.read_text(encoding="ascii").split())
    return {role: one / os.sysconf("SC_CLK_TCK") for role, one in ticks.items()}


if __name__ == "__main__":
    main(sys.argv[1:])
