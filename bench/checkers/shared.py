"""Check all recorded histories with known verdicts in one command."""

import json
from pathlib import Path

from bench.checkers.histories import BIN, ROOT, SHARED, BenchError, recorded_verdicts
from bench.checkers.processes import ExceededError, Limits, whole_output


def shared_histories(limits: Limits) -> tuple[str, str]:
    """Check all of tests/histories; return the verdict of the target and the details.

    Raises:
        BenchError: the command fails.
    """
    wanted = {str(path): verdict for path, verdict in recorded_verdicts().items()}
    command = [str(BIN / "kraftproof"), "check", "--engine", "inline", "--json", str(SHARED)]
    try:
        seconds, output = whole_output(command, ROOT, limits, codes=(0, 1, 2))
    except ExceededError as error:
        raise BenchError(f"kraftproof check {SHARED}: {error}") from error
    described = {line["history"]: line["verdict"] for line in map(json.loads, output.splitlines())}
    return compared(wanted, described, seconds)


def compared(wanted: dict[str, str], described: dict[str, str], seconds: float) -> tuple[str, str]:
    """Returns whether what was told is what was wanted, and in words by how much."""
    right = sum(described.get(path) == verdict for path, verdict in wanted.items())
    unknown = sum(verdict == "unknown" for verdict in described.values())
    wrong = [Path(path).name for path in wanted if described.get(path) != wanted[path]]
    shown = f"{right} of {len(wanted)} right, {unknown} unknown, {seconds:.3g} s as one command"
    return ("NOT MET", f"{shown}; not {', '.join(wrong)}") if wrong else ("met", shown)
