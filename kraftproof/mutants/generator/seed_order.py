"""Order the seeds of a search: most executions of the edited block per CPU-second first.

The counts come from `kraftproof sim --blocks` over the unchanged node, recorded once for each
version of the node and the simulator. A seed without an execution of the edited block is the
same run with the mutant, so the search leaves the seed out.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from kraftproof.errors import UsageError
from kraftproof.mutants.blocks import block_at, constant_at, naming_blocks
from kraftproof.mutants.generator.candidates import NODE, PACKAGE, Candidate, read_sources
from kraftproof.mutants.sim_processes import SimProcesses

VERSIONED: Final = ("node", "cluster/simulated", "nemesis", "workloads", "search")
"""Packages whose code decides the executed blocks of a seed."""


class SeedOrder:
    """The block counts of seeds that the unchanged node passes."""

    def __init__(self, counts: Sequence[dict[str, Any]]) -> None:
        self._counts = [one for one in counts if one["verdict"] == "valid"]

    @property
    def seeds(self) -> int:
        """Number of recorded seeds."""
        return len(self._counts)

    def of(self, candidate: Candidate) -> list[int]:
        """Return the seeds that run the edited block, best first.

        A constant is reached by the blocks that name it, and other module code by every seed.
        """
        reaching = _reaching_blocks(candidate)
        ranked = []
        for one in self._counts:
            runs = 1 if reaching is None else _runs(one["blocks"], reaching)
            if runs:
                ranked.append((-runs / max(one["cpu_seconds"], 0.1), one["seed"]))
        return [seed for _, seed in sorted(ranked)]


def _reaching_blocks(candidate: Candidate) -> Sequence[tuple[str, int]] | None:
    """Return the modules and blocks that can show an edit; None for all."""
    source = candidate.source
    block = block_at(source.text, candidate.line)
    if block is not None:
        return [(source.module, block)]
    name = constant_at(source.text, candidate.line)
    if name is None or not name.isupper():
        return None
    reaching = []
    for other in read_sources([NODE]):
        found = naming_blocks(other.text, name) if name in other.text else set()
        if found is None:
            return None
        reaching += [(other.module, one) for one in sorted(found)]
    return reaching


def _runs(blocks: dict[str, dict[str, int]], reaching: Sequence[tuple[str, int]]) -> int:
    return sum(blocks.get(module, {}).get(str(block), 0) for module, block in reaching)


def version() -> str:
    """Return a hash of the code in the packages of VERSIONED."""
    digest = hashlib.sha256()
    for folder in VERSIONED:
        for file in sorted((PACKAGE / folder).resolve().rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def load_seed_order(
    folder: Path, seeds: int, time_limit_s: float, processes: SimProcesses
) -> SeedOrder:
    """Read the counts of this version from a folder; record the counts where none are.

    The time limit is that of the workload of a seed, in simulated seconds.

    Raises:
        SearchFailedError: the recording failed or was stopped.
        UsageError: the file of the counts can't be read.
    """
    path = folder / f"blocks-{version()}-{seeds}-{time_limit_s:g}.jsonl"
    if not path.is_file():
        arguments = ["--seeds", f"0:{seeds}", "--in-order", "--blocks", str(path)]
        arguments += ["--time-limit", f"{time_limit_s:g}"]
        processes.run(arguments, f"recording of seeds 0:{seeds}")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return SeedOrder([json.loads(line) for line in lines])
    except (ValueError, KeyError) as error:
        raise UsageError(f"{path}: no record of block counts; remove the file") from error
