"""Wall clock of a JVM: its log of safepoints has both clocks, twice a second.

The JVM is told to stop at a safepoint regularly (-XX:+SafepointALot), which takes microseconds.
"""

import re
from pathlib import Path
from typing import Final

CLOCK_LOG: Final = "clock.log"
TAIL_BYTES: Final = 4096
NS_PER_MS: Final = 1_000_000
_CLOCKS: Final = re.compile(rb"^\[(\d+)ms\]\[(\d+)ns\] .*\n", re.MULTILINE)


def clock_options(directory: Path) -> tuple[str, ...]:
    """Return the options of a JVM that reports its clocks into a node's directory."""
    return (
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:+SafepointALot",
        "-XX:GuaranteedSafepointInterval=500",
        f"-Xlog:safepoint=info:file={directory / CLOCK_LOG}:timemillis,timenanos:filecount=0",
    )


def wall_clock(directory: Path) -> int | None:
    """Return wall minus monotonic clock, in ns, of the last whole line; None without a line."""
    try:
        with (directory / CLOCK_LOG).open("rb") as log:
            log.seek(max(0, log.seek(0, 2) - TAIL_BYTES))
            lines = _CLOCKS.findall(log.read())
    except FileNotFoundError:
        return None
    if not lines:
        return None
    wall_ms, monotonic_ns = map(int, lines[-1])
    return wall_ms * NS_PER_MS - monotonic_ns
