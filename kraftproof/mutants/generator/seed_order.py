"""Plan the search for a mutant: the runs that execute the edited block.

The counts come from `kraftproof sim --blocks` over the unchanged node, recorded once for each
version of the node and the simulator. A run without an execution of the edited block is the same
with the mutant, so the search leaves the run out. See run_order.py for the order.
"""

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from kraftproof.errors import UsageError
from kraftproof.mutants.blocks import block_at, blocks, constant_at, naming_blocks
from kraftproof.mutants.functions import function_at, functions
from kraftproof.mutants.generator.candidates import NODE, PACKAGE, Candidate, read_sources
from kraftproof.mutants.mutant import DATA_WORKLOAD
from kraftproof.mutants.run_order import (
    SHORT_S,
    Executed,
    PlannedRun,
    by_gain,
    short_and_full,
    with_new_seeds,
)
from kraftproof.mutants.sim_processes import SimProcesses
from kraftproof.option_files import option_file
from kraftproof.output import print_error
from kraftproof.workloads.catalogue import SELDOM

VERSIONED: Final = ("node", "cluster/simulated", "nemesis", "workloads", "search")
"""Packages whose code decides the executed blocks of a seed."""
JUDGING: Final = ("cluster/simulated/invariants",)
"""Folders of these packages that only judge: a change leaves the executed blocks as they are."""
FIRST_RECORDED: Final = 10_000
"""The first recorded seed. The seeds of the catalogue lack the loads that are younger than they."""
FEWER: Final = 4
"""A seldom drawn workload has the recorded seeds divided by this number."""
EDITED, BESIDE = 1.0, 0.2
"""Weights of the edited block, and of the other blocks of the function."""
Block = tuple[str, int]
"""A module and a block of the module."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of a search, best first."""

    runs: list[PlannedRun]
    reached: int
    """Number of recorded runs that execute the edited block."""


class SeedOrder:
    """The block counts of short runs that the unchanged node passes, by workload."""

    def __init__(self, counts: Mapping[str | None, Sequence[dict[str, Any]]]) -> None:
        self.recorded = [
            Executed(PlannedRun(one["seed"], workload), one["cpu_seconds"], _counts_of(one))
            for workload, found in counts.items()
            for one in found
            if one["verdict"] == "valid"
        ]

    def of(self, candidate: Candidate, full_s: float) -> Plan:
        """Return the runs that execute the edited block, in the order of run_order.py.

        A constant is reached by the blocks that name it, and other module code by every run. Where
        no recorded run executes the block, longer runs of the edited function may do so.
        """
        edited = reaching_blocks(candidate)
        module = candidate.source.module
        if edited is None:
            recorded = [self._with_all(one, module) for one in self.recorded]
            runs = by_gain(recorded, {(module, -1): 1.0})
            return Plan(short_and_full(runs, full_s), len(runs))
        reaching = [one for one in self.recorded if any(map(one.counts.get, edited))]
        function = _function_blocks(candidate)
        weights = dict.fromkeys(function, BESIDE) | dict.fromkeys(edited, EDITED)
        if reaching:
            runs = short_and_full(by_gain(reaching, weights), full_s)
            return Plan(with_new_seeds(runs, full_s), len(reaching))
        near = by_gain(self.recorded, dict.fromkeys(function, 1.0))
        return Plan([replace(one, time_limit_s=full_s) for one in near], 0)

    def _with_all(self, one: Executed[Block], module: str) -> Executed[Block]:
        """Return a run with its executions of a module as one place."""
        every = sum(count for (name, _), count in one.counts.items() if name == module)
        return replace(one, counts={(module, -1): 1.0 + every})


def _counts_of(recorded: dict[str, Any]) -> dict[Block, float]:
    return {
        (module, int(block)): count
        for module, blocks in recorded["blocks"].items()
        for block, count in blocks.items()
    }


def _function_blocks(candidate: Candidate) -> Sequence[Block]:
    """Return the blocks of the function with the edited line."""
    source = candidate.source
    named = functions(source.text)
    edited = function_at(named, candidate.line)
    firsts = [one.first for one in blocks(source.text)]
    return [(source.module, i) for i, one in enumerate(firsts) if function_at(named, one) == edited]


def reaching_blocks(candidate: Candidate) -> Sequence[Block] | None:
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
    workload of the data plane. The recorded runs are short.

    Raises:
        SearchFailedError: the recording failed or was stopped.
        UsageError: the file of the counts can't be read.
    """
    numbers: dict[str | None, int] = dict.fromkeys(SELDOM, max(seeds // FEWER, 1))
    numbers |= {None: seeds, DATA_WORKLOAD: seeds}
    limit_s = min(time_limit_s, SHORT_S)
    code = version()
    return SeedOrder(
        {
            workload: _counts(
                folder / counts_file(code, number, limit_s, workload),
                number,
                limit_s,
                processes,
                workload,
            )
            for workload, number in numbers.items()
        }
    )


def counts_file(code: str, seeds: int, time_limit_s: float, workload: str | None) -> str:
    """Return the name of the file with the counts of a number of seeds, for a version of the code.

    Without a workload, the seeds draw theirs.
    """
    name = f"blocks-{code}-{seeds}-{time_limit_s:g}"
    return f"{name}.jsonl" if workload is None else f"{name}-{workload}.jsonl"


def _counts(
    path: Path, seeds: int, time_limit_s: float, processes: SimProcesses, workload: str | None
) -> list[dict[str, Any]]:
    if not path.is_file():
        with option_file("--store", path) as part:
            part.write_text(
                "".join(_recorded(path.parent, seeds, time_limit_s, processes, workload)),
                encoding="utf-8",
            )
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]
    except (ValueError, KeyError) as error:
        raise UsageError(f"{path}: no record of block counts; remove the file") from error


def _recorded(
    folder: Path, seeds: int, time_limit_s: float, processes: SimProcesses, workload: str | None
) -> Iterator[str]:
    """Yield the lines of the recorded seeds; a seed that the unchanged node fails is left out."""
    first, end = FIRST_RECORDED, FIRST_RECORDED + seeds
    lines = folder / "recording.jsonl"
    while first < end:
        arguments = ["--seeds", f"{first}:{end}", "--in-order", "--bare", "--blocks", str(lines)]
        arguments += ["--time-limit", f"{time_limit_s:g}"]
        arguments += [] if workload is None else ["--workload", workload]
        found = processes.run(arguments, f"recording of seeds {first}:{end}")
        yield from lines.read_text(encoding="utf-8").splitlines(keepends=True)
        lines.unlink()
        if not found["violations"]:
            return
        broken = found["violations"][0]
        first = broken["seed"] + 1
        print_error(
            f"kraftproof: seed {broken['seed']} of the unchanged node violates "
            f"{broken['invariant']} (--workload {workload}); the search leaves the seed out"
        )
