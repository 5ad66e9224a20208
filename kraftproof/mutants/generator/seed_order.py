"""Order the seeds of a search: most executions of the edited block per CPU-second first.

The counts come from `kraftproof sim --blocks` over the unchanged node, recorded once for each
version of the node and the simulator. A seed without an execution of the edited block is the
same run with the mutant, so the search leaves the seed out.
"""

import ast
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kraftproof.errors import UsageError
from kraftproof.mutants.blocks import block_at, constant_at, naming_blocks
from kraftproof.mutants.generator.candidates import NODE, PACKAGE, Candidate, read_sources
from kraftproof.mutants.mutant import DATA_WORKLOAD
from kraftproof.mutants.sim_processes import SimProcesses
from kraftproof.workloads.catalogue import SELDOM

VERSIONED: Final = ("node", "cluster/simulated", "nemesis", "workloads", "search")
"""Packages whose code decides the executed blocks of a seed."""
JUDGING: Final = ("cluster/simulated/invariants",)
"""Folders of these packages that only judge: a change leaves the executed blocks as they are."""
MUCH_MORE: Final = 4
"""Factor of executions per CPU-second that makes a search take a workload no seed draws."""
FIRST_RECORDED: Final = 10_000
"""The first recorded seed. The seeds of the catalogue lack the loads that are younger than they."""
FIRST_SEEDS: Final = 4
"""Number of seeds of the best workload that a search takes first."""
SEEDS_A_TURN: Final = 2
"""Number of seeds of each workload that a search takes in turn."""
FEWER: Final = 4
"""A seldom drawn workload has the recorded seeds divided by this number."""


@dataclass(frozen=True, slots=True)
class Reaching:
    """The seeds that run an edited block, best first, and the workload of these runs."""

    seeds: list[int]
    workload: str | None = None
    """None for the workloads that the seeds draw."""


class SeedOrder:
    """The block counts of seeds that the unchanged node passes, by workload."""

    def __init__(self, counts: Mapping[str | None, Sequence[dict[str, Any]]]) -> None:
        self._counts = {
            workload: [one for one in found if one["verdict"] == "valid"]
            for workload, found in counts.items()
        }

    def of(self, candidate: Candidate) -> list[Reaching]:
        """Return the seeds that run the edited block, workload by workload.

        The workload whose best seed runs the block most often per CPU-second comes first; another
        workload than that of the seeds must run the block much more often. A constant is reached
        by the blocks that name it, and other module code by every seed.
        """
        reaching = _reaching_blocks(candidate)
        rated: list[tuple[float, Reaching]] = []
        for workload, counts in self._counts.items():
            ranked = []
            for one in counts:
                runs = 1 if reaching is None else _runs(one["blocks"], reaching)
                if runs:
                    ranked.append((-runs / max(one["cpu_seconds"], 0.1), one["seed"]))
            ranked.sort()
            if ranked:
                weight = MUCH_MORE if workload is None else 1
                rated.append((ranked[0][0] * weight, Reaching([s for _, s in ranked], workload)))
        rated.sort(key=lambda each: each[0])
        return [each for _, each in rated]


def in_turns(groups: Sequence[Reaching]) -> list[Reaching]:
    """Return the groups in parts: the best seeds of the best group, then some of each in turn.

    The seeds of one workload are alike, so that a bug which they miss is more likely found by
    another workload than by more of their kind.
    """
    if not groups:
        return []
    best, *others = groups
    parts = [Reaching(best.seeds[:FIRST_SEEDS], best.workload)]
    left = [*others, Reaching(best.seeds[FIRST_SEEDS:], best.workload)]
    while left := [group for group in left if group.seeds]:
        parts += [Reaching(group.seeds[:SEEDS_A_TURN], group.workload) for group in left]
        left = [Reaching(group.seeds[SEEDS_A_TURN:], group.workload) for group in left]
    return parts


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
    """Return a hash of the code in the packages of VERSIONED, without the folders of JUDGING.

    Comments, docstrings and layout do not count.
    """
    digest = hashlib.sha256()
    judging = [(PACKAGE / folder).resolve() for folder in JUDGING]
    for folder in VERSIONED:
        for file in sorted((PACKAGE / folder).resolve().rglob("*.py")):
            if not any(file.is_relative_to(each) for each in judging):
                digest.update(_code_of(file.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()[:16]


def _code_of(text: str) -> str:
    """Return the syntax tree of a module as text, without docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [one for one in body if not _is_text(one)]
            node.body = kept  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def load_seed_order(
    folder: Path, seeds: int, time_limit_s: float, processes: SimProcesses
) -> SeedOrder:
    """Read the counts of this version from a folder; record the counts where none are.

    A few seeds run with each workload that seeds draw seldom, and all seeds with `log`, the
    workload of the data plane. The time limit is that of a seed's workload, in simulated seconds.

    Raises:
        SearchFailedError: the recording failed or was stopped.
        UsageError: the file of the counts can't be read.
    """
    numbers: dict[str | None, int] = dict.fromkeys(SELDOM, max(seeds // FEWER, 1))
    numbers |= {None: seeds, DATA_WORKLOAD: seeds}
    return SeedOrder(
        {
            workload: _counts(folder, number, time_limit_s, processes, workload)
            for workload, number in numbers.items()
        }
    )


def _counts(
    folder: Path, seeds: int, time_limit_s: float, processes: SimProcesses, workload: str | None
) -> list[dict[str, Any]]:
    name = f"blocks-{version()}-{seeds}-{time_limit_s:g}"
    path = folder / (f"{name}.jsonl" if workload is None else f"{name}-{workload}.jsonl")
    if not path.is_file():
        chosen = f"{FIRST_RECORDED}:{FIRST_RECORDED + seeds}"
        arguments = ["--seeds", chosen, "--in-order", "--blocks", str(path)]
        arguments += ["--time-limit", f"{time_limit_s:g}", *with_workload(workload)]
        processes.run(arguments, f"recording of seeds {chosen}")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]
    except (ValueError, KeyError) as error:
        raise UsageError(f"{path}: no record of block counts; remove the file") from error


def with_workload(workload: str | None) -> list[str]:
    """Return the option of a workload; none for the workloads that seeds draw."""
    return [] if workload is None else ["--workload", workload]
