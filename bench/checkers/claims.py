"""Performance targets of the checkers, and their evaluation for a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bench.checkers.measure import (
    LONG_S,
    OURS,
    REPETITIONS,
    REPETITIONS_IF_LONG,
    Result,
    Results,
    median_and_upper,
    ratio_and_upper,
)
from bench.checkers.processes import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One number to reach.

    Attributes:
        line: the number of the target in the page's table "To reach".
        row: the row of the target.
        peer: the peer of the ratio; None for a target in seconds.
        at_most: the ratio, or the seconds, that the upper bound may have.
        of_memory: whether the ratio is that of the memory of the check.
    """

    line: str
    row: str
    peer: str | None = None
    at_most: float
    of_memory: bool = False


PORCUPINE, PORCUPINE_RS = "porcupine", "porcupine-rs"

CLAIMS: Final = (
    Claim(line="1", row="etcd", peer=PORCUPINE, at_most=1.0),
    Claim(line="2", row="cas-c10", peer=PORCUPINE, at_most=0.1),
    Claim(line="2", row="cas-c10", peer=PORCUPINE, at_most=0.02, of_memory=True),
    Claim(line="2", row="cas-c10-invalid", at_most=1.0),
    Claim(line="2", row="cas-c20", at_most=6.0),
    Claim(line="2", row="rw-c50", at_most=8.0),
    Claim(line="2, stretch", row="cas-c50", at_most=60.0),
    Claim(line="3", row="rw-unique-1m", at_most=1.0),
    Claim(line="3", row="rw-keys", peer=PORCUPINE_RS, at_most=1 / 28),
    Claim(line="4", row="rw-keys-lost", at_most=1.0),
    Claim(line="4", row="cas-keys-lost5", peer=PORCUPINE, at_most=1.0),
    Claim(line="4", row="cas-1k-lost-invalid", at_most=1.0),
    Claim(line="5", row="append", at_most=0.5),
    Claim(line="5", row="queue", at_most=0.5),
    Claim(line="6", row="cas-keys", peer=PORCUPINE, at_most=0.6),
    Claim(line="stretch", row="cas-keys", peer=PORCUPINE_RS, at_most=1.0),
)


def described(claim: Claim) -> str:
    """Returns what is to be reached, in words."""
    if claim.peer is None:
        return f"{claim.row}: at most {claim.at_most:g} s"
    what = "memory" if claim.of_memory else "time"
    return f"{claim.row}: at most {claim.at_most:.3g} of {claim.peer}'s {what}"


def judged(claim: Claim, measured: Mapping[str, Results], limits: Limits) -> tuple[str, str]:
    """Returns whether a claim is met, and by what number."""
    results = measured.get(claim.row)
    if results is None:
        return "not measured", ""
    ours = results[OURS]
    if ours.first is None or ours.first.unknown or not ours.alone:
        return "NOT MET", f"no verdict: {ours.failure or 'unknown'}"
    if claim.peer is None:
        median, upper = median_and_upper(ours.alone)
        shown = f"median {median:.3g} s, upper bound {upper:.3g} s"
    else:
        theirs = results[claim.peer]
        if claim.of_memory:
            return _memory(claim, ours, theirs)
        found = ratio_and_upper(ours, theirs, limits)
        if found is None:
            return ("met", f"{claim.peer}: {theirs.failure}") if theirs.failure else ("?", "")
        median, upper = found
        shown = f"median ratio {median:.3g}, upper bound {upper:.3g}"
    if not _are_enough(results):
        return "too few repetitions", shown
    return "met" if upper <= claim.at_most else "NOT MET", shown


def _memory(claim: Claim, ours: Result, theirs: Result) -> tuple[str, str]:
    """Compare the first checks; the time of an unfinished peer is a lower bound."""
    mine, other = ours.grown_bytes, theirs.grown_bytes
    shown = f"{mine / 1e6:.0f} MB to {other / 1e6:.0f} MB: {mine / max(other, 1):.3g}"
    return "met" if mine <= claim.at_most * other else "NOT MET", shown


def _are_enough(results: Results) -> bool:
    times = [seconds for result in results.values() for seconds in result.alone]
    wanted = REPETITIONS_IF_LONG if max(times) > LONG_S else REPETITIONS
    return len(results[OURS].alone) >= wanted
