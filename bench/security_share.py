"""What the code of security costs runs without security: its share of the time of a simulation.

`python -m bench.security_share` runs 3+3 whole nodes under the faults of each seed, without an
authorizer and without logins, and adds up the time under cProfile that passes in files of security,
and in the calls that they make: authorizer, logins, tokens, quotas, and the invariants about them.
A test for security in another file, such as of an authorizer that is None, is not in the share.
Load on the machine changes the ratio of two runs by more than 3 %, but hardly a share.
"""

import argparse
import cProfile
import pstats
import statistics
from collections.abc import Iterator, Mapping
from typing import Final
from unittest.mock import patch

from bench.simulation.runs import run
from kraftproof.cluster.simulated import world
from kraftproof.cluster.simulated.kernel.garbage_collection import seldom_collected

RATE: Final = 20.0
AT_MOST: Final = 0.03
"""Share that is to be kept."""
FOLDERS: Final = ("/security/", "/node/core/quotas/")
DOOR: Final = "/controller/authorized.py"
"""The file calls what it lets pass: only the time in its own lines counts."""

Place = tuple[str, int, str]
"""File, line and name of a function."""
Row = tuple[int, int, float, float, Mapping[Place, tuple[int, int, float, float]]]
"""Calls, calls, own seconds, all seconds, and the same for each caller."""


def share_of(rows: Mapping[Place, Row]) -> float:
    """Return the share of security in a profile, from the calls that enter its files."""
    total = sum(own for _, _, own, _, _ in rows.values())
    spent = 0.0
    for (file, _, _), (_, _, own, _, callers) in rows.items():
        if is_security(file):
            spent += sum(call[3] for place, call in callers.items() if not is_security(place[0]))
        elif file.endswith(DOOR):
            spent += own
    return spent / total


def is_security(file: str) -> bool:
    """Return whether a file is about security or quotas."""
    return any(folder in file for folder in FOLDERS)


def shares(seeds: int, time_limit_s: float) -> Iterator[float]:
    """Profile a run of each seed without security."""
    with seldom_collected(), patch.object(world, "authorizer_of", lambda _: None):
        run(0, RATE, 2.0)  # imports are no simulation
        for seed in range(seeds):
            profile = cProfile.Profile()
            profile.enable()
            run(seed, RATE, time_limit_s)
            profile.disable()
            yield share_of(pstats.Stats(profile).stats)  # type: ignore[attr-defined]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=9)
    parser.add_argument("--time-limit", type=float, default=60.0, help="simulated seconds a run")
    given = parser.parse_args()
    print("| seed | share of security |\n|---|---|")
    found = []
    for seed, share in enumerate(shares(given.seeds, given.time_limit)):
        found.append(share)
        print(f"| {seed} | {share:.2%} |", flush=True)
    largest, median = max(found), statistics.median(found)
    kept = "kept" if largest <= AT_MOST else "NOT KEPT"
    print(f"\nMedian {median:.2%}, largest {largest:.2%}; at most {AT_MOST:.0%}: {kept}.")


if __name__ == "__main__":
    main()
