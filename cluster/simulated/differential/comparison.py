"""Choose the runs that compare the node's code with references, and report differences.

A search for a bug in a package compares that package at the start of each seed, or at the end. A
run without a planted bug draws nearly every comparison (draws.py): an edit of the node's text is
no planted bug. A cluster without a run, as of a benchmark, draws none. The comparisons draw from
chances of their own, and change nothing in the run.
"""

import errno
import sys
from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple

from kraftproof.cluster.plugin import HarnessError
from kraftproof.cluster.protocol import ClusterOptions
from kraftproof.cluster.simulated.differential.difference import DifferenceError
from kraftproof.cluster.simulated.differential.draws import drawn
from kraftproof.cluster.simulated.differential.part import PACKAGES, WIRE, Comparison
from kraftproof.cluster.simulated.invariants.crash import crash_of
from kraftproof.cluster.simulated.network.links import HARNESS
from kraftproof.cluster.simulated.violation import ViolationKind
from kraftproof.cluster.simulated.world import World

ROUNDS: Final = 4
"""Number of draws of each comparison in any other run."""

LACKS: Final = frozenset(
    (errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT)
)
"""Errors of this machine, which no simulated disk has: they say nothing of the node."""


def compare_with_references(world: World, options: ClusterOptions, *, is_end: bool = False) -> None:
    """Compare the node's code with references, if the run is chosen; report the first difference.

    A failed assertion of the node is reported as in any step of a run.
    """
    # late, since the search for a bug edits the modules before
    from kraftproof.cluster.simulated.differential.catalogue import comparisons_with

    for number, one in _planned(comparisons_with(world.make_specification), options):
        if one.is_at_end is is_end:
            random = Random(f"{options.seed}/{one.compare.__name__}-{number}")
            if not _agrees(world, one, random):
                return


class Found(NamedTuple):
    """What a draw of a comparison has found."""

    kind: ViolationKind
    detail: str
    error: Exception


def difference_of(one: Comparison, random: Random) -> Found | None:
    """Draw a comparison; return the difference, the failed assertion of the node, or None.

    Raises:
        HarnessError: this machine lacks memory, processes, files or disk space.
    """
    try:
        one.compare(random)
    except DifferenceError as error:
        return Found(ViolationKind.PROPERTY, str(error), error)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in LACKS:
            raise HarnessError(f"this machine lacks resources for a comparison: {error}") from error
        crash = crash_of(error, node=HARNESS, time_ns=0, event=0)
        is_own = crash.kind is ViolationKind.ASSERTION
        kind = ViolationKind.ASSERTION if is_own else ViolationKind.PROPERTY
        return Found(kind, f"{crash.detail} in place of a result", error)
    return None


def _agrees(world: World, one: Comparison, random: Random) -> bool:
    """Return whether a comparison finds no difference."""
    found = difference_of(one, random)
    if found is None:
        return True
    if found.kind is ViolationKind.ASSERTION:
        world.crashed(HARNESS, found.error)
    else:
        detail = f"apart from the cluster, {found.detail}"
        world.monitor.record(one.invariant, one.statement, detail, node=None, time_ns=None)
    return False


def _planned(
    comparisons: Sequence[Comparison], options: ClusterOptions
) -> list[tuple[int, Comparison]]:
    """Return the comparisons of a run, each with the number of its draw."""
    if options.mutant is None and not _is_counted():
        if not options.backend:
            return []
        return drawn(comparisons, Random(f"{options.seed}/references"))
    chosen = frozenset(PACKAGES if _is_counted() else filter(_is_mutated, PACKAGES))
    return [
        (number, one)
        for number in range(ROUNDS)
        for one in comparisons
        if not chosen.isdisjoint(one.packages)
    ]


def _is_mutated(package: str) -> bool:
    """Return whether a loaded module of a package has a planted bug."""
    return any(
        getattr(module, "__mutant__", None) is not None
        for name, module in sorted(sys.modules.items())
        if name.startswith(package)
    )


def _is_counted() -> bool:
    """Return whether the run counts the executed blocks, for the order of later searches."""
    return hasattr(sys.modules[f"{WIRE}.errors"], "__block_counts__")
