"""Draw comparisons in this process, of the unchanged node with probes or of an edited node.

The process imports the node for the first time here, so that the probes or the edit come before.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from time import process_time
from typing import TYPE_CHECKING, Any, Final

from kraftproof.mutants.blocks import install_probes, take_counts
from kraftproof.mutants.hook import install_edits
from kraftproof.mutants.mutant import Mutant

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.differential.part import Comparison
    from kraftproof.cluster.simulated.invariants.conformance import MakeSpecification

AGREES: Final = "agrees"
LEAST_DRAWS: Final = 4
"""Number of draws that are recorded of every comparison."""
LONGEST_S: Final = 3.0
"""CPU seconds after which no further draw of a comparison is recorded."""
PREFIX: Final = "compare_"


@dataclass(frozen=True, slots=True)
class Draw:
    """A draw of a comparison: the name of the comparison and the number of the draw."""

    comparison: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Draws of the unchanged node to record."""

    modules: tuple[str, ...]
    """The modules to edit; only the comparisons of their packages are drawn."""
    draws: int
    """Number of draws of each comparison."""
    specify: "MakeSpecification"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """An edit of the node, and the draws that may show the edit."""

    mutant: Mutant
    draws: tuple[Draw, ...]
    budget_s: float
    """CPU seconds after which no further draw begins."""
    specify: "MakeSpecification"


def record(recording: Recording) -> dict[str, Any]:
    """Return the draws of the unchanged node, each with the counts of the executed blocks."""
    install_probes()
    recorded = []
    for name, one in _comparisons(recording.specify):
        if not any(module.startswith(one.packages) for module in recording.modules):
            continue
        begun_s = process_time()
        for number in range(recording.draws):
            if number >= LEAST_DRAWS and process_time() - begun_s > LONGEST_S:
                break
            take_counts()
            kind, detail = _draw(one, Draw(name, number))
            if kind != AGREES:
                return {"draws": [], "difference": f"draw {number} of {name}: {detail}"}
            recorded.append({"comparison": name, "number": number, "blocks": take_counts()})
    return {"draws": recorded, "difference": None}


def try_edit(edited: Edited) -> dict[str, Any]:
    """Draw comparisons of an edited node until the first difference."""
    install_edits(edited.mutant)
    try:
        comparisons = dict(_comparisons(edited.specify))
    except Exception as error:  # noqa: BLE001 - the edited module may fail in any way
        return tried("crash", type(error).__name__)
    searched = 0
    for draw in _within(edited.draws, edited.budget_s):
        searched += 1
        kind, _ = _draw(comparisons[draw.comparison], draw)
        if kind != AGREES:
            by = draw.comparison.removeprefix(PREFIX)
            return tried(kind, by, searched, draw.number)
    return tried(AGREES, None, searched)


def tried(kind: str, by: str | None, searched: int = 0, draw: int | None = None) -> dict[str, Any]:
    """Return the result of an edit."""
    cpu_s = round(process_time(), 2)
    return {"kind": kind, "by": by, "searched": searched, "draw": draw, "cpu_seconds": cpu_s}


def _within(draws: Sequence[Draw], budget_s: float) -> Iterator[Draw]:
    begun_s = process_time()
    for draw in draws:
        if process_time() - begun_s >= budget_s:
            return
        yield draw


def _comparisons(specify: "MakeSpecification") -> Iterator[tuple[str, "Comparison"]]:
    """Yield every comparison by name."""
    from kraftproof.cluster.simulated.differential.catalogue import comparisons_with

    for one in comparisons_with(specify):
        yield _name(one.compare), one


def _name(compare: Callable[[Random], None]) -> str:
    return str(getattr(compare, "__name__", compare))


def _draw(one: "Comparison", draw: Draw) -> tuple[str, str]:
    """Return the kind of a difference and its text, as a run would report both."""
    from kraftproof.cluster.simulated.differential.comparison import difference_of

    found = difference_of(one, Random(f"{draw.comparison} {draw.number}"))
    return (AGREES, "") if found is None else (found.kind.value, found.detail)
