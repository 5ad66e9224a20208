"""Try each edit against the draws of comparisons that execute the edited block."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from kraftproof.mutants.comparing.draws import (
    AGREES,
    Draw,
    Edited,
    Recording,
    record,
    tried,
    try_edit,
)
from kraftproof.mutants.generator.candidates import Candidate
from kraftproof.mutants.generator.files import (
    is_rejected,
    mutant_path,
    reject_mutant,
    write_mutant,
)
from kraftproof.mutants.generator.seed_order import Block, reaching_blocks
from kraftproof.mutants.generator.source import Source
from kraftproof.mutants.generator.trial import (
    COMPARISONS,
    CRASH,
    HUNG,
    NOT_REACHED,
    SURVIVED,
    Trial,
    one_line,
)
from kraftproof.mutants.sim_processes import SearchFailedError, SearchHungError, SimProcesses
from kraftproof.mutants.type_check import TypeChecker

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.invariants.conformance import MakeSpecification

ILL_TYPED: Final = "a type error"
HARD_S: Final = 10
"""CPU seconds beyond the budget after which an edit counts as hung."""
RECORDING_S: Final = 1_200
"""Maximum CPU seconds of the recording."""


@dataclass(frozen=True, slots=True)
class RecordedDraw:
    """A draw with the blocks that the unchanged node executes in it."""

    draw: Draw
    blocks: frozenset[Block]


class ComparisonTrials:
    """Runs trials without a cluster from any number of threads."""

    def __init__(
        self,
        processes: SimProcesses,
        recorded: Sequence[RecordedDraw],
        specify: "MakeSpecification",
        checker: TypeChecker,
        *,
        budget_s: float,
        files: Path,
    ) -> None:
        self._processes = processes
        self._recorded = recorded
        self._specify = specify
        self._checker = checker
        self._budget_s = budget_s
        self._files = files
        self._lock = Lock()

    def run(self, candidate: Candidate) -> Trial:
        """Try an edit; a survivor is type-checked, and its file is written.

        Raises:
            SearchFailedError: a process failed or was stopped.
            TypeCheckUnavailableError: mypy can't run.
        """
        draws = self._draws_of(candidate)
        found = self._found(candidate, draws)
        result = found["kind"]
        if result == AGREES:
            result = SURVIVED if draws else NOT_REACHED
            if not self._is_typed(candidate):
                result, found["by"] = CRASH, ILL_TYPED
        return Trial(
            mutant=candidate.mutant().mutant_id,
            module=candidate.source.module.removeprefix("kraftproof."),
            line=candidate.line,
            operator=candidate.operator,
            edit=one_line(candidate),
            result=result,
            by=found["by"],
            cpu_seconds=found["cpu_seconds"],
            seed=found["draw"],
            searched=found["searched"],
            reached=len(draws),
            workload=COMPARISONS,
        )

    def is_spent(self, trial: Trial) -> bool:
        """Return whether an earlier trial is final; a survivor may meet new comparisons."""
        return trial.result not in {SURVIVED, NOT_REACHED}

    def _is_typed(self, candidate: Candidate) -> bool:
        """Return whether an edit type-checks; an earlier command may have checked the edit."""
        mutant = candidate.mutant()
        with self._lock:
            if mutant_path(mutant.mutant_id, self._files).is_file():
                return True
            if is_rejected(mutant.mutant_id, self._files):
                return False
            if self._checker.error_of(mutant) is not None:
                reject_mutant(mutant.mutant_id, self._files)
                return False
            write_mutant(candidate, self._files)
            return True

    def _draws_of(self, candidate: Candidate) -> list[Draw]:
        """Return the draws that execute the edited block, of each comparison in turn."""
        edited = reaching_blocks(candidate)
        by_comparison: dict[str, list[Draw]] = {}
        for one in self._recorded:
            if edited is None or not one.blocks.isdisjoint(edited):
                by_comparison.setdefault(one.draw.comparison, []).append(one.draw)
        return list(_in_turn(list(by_comparison.values())))

    def _found(self, candidate: Candidate, draws: Sequence[Draw]) -> dict[str, Any]:
        if not draws:
            return tried(AGREES, None) | {"cpu_seconds": 0.0}
        mutant = candidate.mutant()
        edited = Edited(
            mutant=mutant, draws=tuple(draws), budget_s=self._budget_s, specify=self._specify
        )
        limit_s = int(self._budget_s) + HARD_S
        try:
            return self._processes.call(try_edit, edited, mutant.mutant_id, limit_s)
        except SearchHungError:
            return tried(CRASH, HUNG) | {"cpu_seconds": float(limit_s)}


def _in_turn(queues: Sequence[Sequence[Draw]]) -> Iterator[Draw]:
    """Yield the first of each queue, then the second of each, and so on."""
    for place in range(max(map(len, queues), default=0)):
        yield from (queue[place] for queue in queues if place < len(queue))


def record_draws(
    sources: Sequence[Source], draws: int, specify: "MakeSpecification", processes: SimProcesses
) -> list[RecordedDraw]:
    """Return the draws of the comparisons of some modules, with the blocks that each executes.

    Raises:
        SearchFailedError: the unchanged node differs from a reference, or the process failed.
    """
    modules = tuple(source.module for source in sources)
    recording = Recording(modules=modules, draws=draws, specify=specify)
    found = processes.call(record, recording, "the recording of draws", RECORDING_S)
    if found["difference"] is not None:
        raise SearchFailedError(f"the unchanged node: {found['difference']}")
    return [_recorded(one) for one in found["draws"]]


def _recorded(one: Mapping[str, Any]) -> RecordedDraw:
    blocks = frozenset(
        (module, int(block)) for module, counted in one["blocks"].items() for block in counted
    )
    return RecordedDraw(Draw(one["comparison"], one["number"]), blocks)
