"""Choose the runs that compare the node's code with references, and report differences.

A search for a bug in a package compares that package at the start of each seed, or at the end, in
several draws. Of the other runs a share compares everything, mostly in a single draw: most bugs
show in the first draw, so draws in many runs find a bug sooner than several draws in few runs. The
comparisons draw from chances of their own, and change nothing in the run.
"""

import sys
from random import Random
from typing import Final, NamedTuple

from kraftproof.cluster.protocol import ClusterOptions
from kraftproof.cluster.simulated.differential.difference import DifferenceError
from kraftproof.cluster.simulated.differential.part import PACKAGES, WIRE, Comparison
from kraftproof.cluster.simulated.invariants.crash import crash_of
from kraftproof.cluster.simulated.network.links import HARNESS
from kraftproof.cluster.simulated.violation import ViolationKind
from kraftproof.cluster.simulated.world import World

SHARE: Final = 0.1
"""Share of compared runs among those without a bug in a compared package."""
ROUNDS: Final = 4
"""Number of draws in a run with a bug in a compared package."""


def compare_with_references(world: World, options: ClusterOptions, *, is_end: bool = False) -> None:
    """Compare the node's code with references, if the run is chosen; report the first difference.

    A failed assertion of the node is reported as in any step of a run.
    """
    if not _is_candidate(options):
        return
    # late, since few runs need the modules, and before the search for the bug in them
    from kraftproof.cluster.simulated.differential.catalogue import comparisons_with

    chosen, is_aimed = _chosen_packages(options), _is_aimed()
    draws = [
        (one, ROUNDS if is_aimed else one.draws)
        for one in comparisons_with(world.make_specification)
        if one.is_at_end is is_end and not chosen.isdisjoint(one.packages)
    ]
    for number in range(max([most for _, most in draws], default=0)):
        for one in [one for one, most in draws if number < most]:
            random = Random(f"{options.seed}/{one.compare.__name__}-{number}")
            if not _agrees(world, one, random):
                return


class Found(NamedTuple):
    """What a draw of a comparison has found."""

    kind: ViolationKind
    detail: str
    error: Exception


def difference_of(one: Comparison, random: Random) -> Found | None:
    """Draw a comparison; return the difference, the failed assertion of the node, or None."""
    try:
        one.compare(random)
    except DifferenceError as error:
        return Found(ViolationKind.PROPERTY, str(error), error)
    except Exception as error:  # noqa: BLE001 - code of the node, wherever the mistake is
        crash = crash_of(error, node=HARNESS, time_ns=0, event=0)
        is_own = crash.kind is ViolationKind.ASSERTION
        kind = ViolationKind.ASSERTION if is_own else ViolationKind.PROPERTY
        return Found(kind, f"{crash.detail} in place of a result", error)
    return None


def _agrees(world: World, one: Comparison, random: Random) -> bool:
    """Return whether a comparison finds no difference."""
    now_ns = world.scheduler.now_ns
    found = difference_of(one, random)
    if found is None:
        return True
    if found.kind is ViolationKind.ASSERTION:
        world.crashed(HARNESS, found.error)
    else:
        world.monitor.record(
            one.invariant, one.statement, found.detail, node=HARNESS, time_ns=now_ns
        )
    return False


def _is_candidate(options: ClusterOptions) -> bool:
    """Return whether a run may compare anything."""
    return options.mutant is not None or _compares_all(options)


def _compares_all(options: ClusterOptions) -> bool:
    return _is_counted() or Random(f"{options.seed}/references").random() < SHARE


def _chosen_packages(options: ClusterOptions) -> frozenset[str]:
    """Return the packages to compare in a run."""
    if _compares_all(options):
        return frozenset(PACKAGES)
    return frozenset(filter(_is_mutated, PACKAGES))


def _is_aimed() -> bool:
    """Return whether a run searches for a bug in a compared package, or prepares such searches."""
    return _is_counted() or any(map(_is_mutated, PACKAGES))


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
