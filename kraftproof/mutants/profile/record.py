"""`python -m kraftproof.mutants.profile.record [--seeds N]`: record executed.json anew.

Runs of the unchanged node are recorded as for `kraftproof mutate`: short runs of the seeds from
10,000 on, with the workloads that seeds draw, and fewer with each other workload.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from kraftproof.checkers.unfinished import temporary_directory
from kraftproof.mutants.blocks import blocks
from kraftproof.mutants.functions import function_at, functions
from kraftproof.mutants.generator.seed_order import Block, load_seed_order
from kraftproof.mutants.hook import source_of
from kraftproof.mutants.profile.edits import PREFIX, Place
from kraftproof.mutants.profile.executed import FILE, encoded
from kraftproof.mutants.run_order import SHORT_S, Executed
from kraftproof.mutants.sim_processes import SimProcesses

SEEDS = 48


def record(store: Path, seeds: int) -> str:
    """Record the runs, or read them from a store, and return the text of the file."""
    order = load_seed_order(store, seeds, SHORT_S, SimProcesses())
    names: dict[str, list[str]] = {}
    return encoded([_by_function(one, names) for one in order.recorded])


def _by_function(one: Executed[Block], names: dict[str, list[str]]) -> Executed[Place]:
    """Return the executions of each function: those of its most executed block."""
    counts: Counter[Place] = Counter()
    for (module, block), count in one.counts.items():
        if module not in names:
            names[module] = _names(source_of(module))
        place = (module.removeprefix(PREFIX), names[module][block])
        counts[place] = max(counts[place], int(count))
    return Executed(one.run, one.cpu_s, counts)


def _names(text: str) -> list[str]:
    """Return the function of each block of a source."""
    named = functions(text)
    return [function_at(named, block.first) or "" for block in blocks(text)]


def main() -> int:
    """Write the file."""
    parser = argparse.ArgumentParser(description="Record what runs of the node execute.")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--store", type=Path, help="Folder of recorded block counts to use.")
    options = parser.parse_args()
    with temporary_directory("kraftproof-profile-") as folder:
        text = record(options.store or folder, options.seeds)
    FILE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
