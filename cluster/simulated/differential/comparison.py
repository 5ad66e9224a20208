"""Choose the runs that compare the node's code with references, and report differences.

A search for a bug in a package compares that package at the start of each seed. Of the other runs a
small share compares everything. The comparisons draw from chances of their own, and change nothing
in the run.
"""

import sys
from collections.abc import Callable
from random import Random
from typing import Final, NamedTuple

from kraftproof.cluster.protocol import ClusterOptions
from kraftproof.cluster.simulated.differential.difference import DifferenceError
from kraftproof.cluster.simulated.invariants.crash import crash_of
from kraftproof.cluster.simulated.network.links import HARNESS
from kraftproof.cluster.simulated.violation import ViolationKind
from kraftproof.cluster.simulated.world import World

SHARE: Final = 0.02
"""Share of compared runs among those without a bug in a compared package."""
ROUNDS: Final = 4
"""Number of draws in a run."""
WIRE: Final = "kraftproof.node.wire"
STORAGE: Final = "kraftproof.node.storage"
Compare = Callable[[Random], None]


class Comparison(NamedTuple):
    """A part of the node's code with its reference."""

    invariant: str
    statement: str
    packages: tuple[str, ...]
    """The packages whose code is compared."""
    compare: Compare


def compare_with_references(world: World, options: ClusterOptions) -> None:
    """Compare the node's code with references, if the run is chosen; report the first difference.

    A failed assertion of the node is reported as in any step of a run.
    """
    chosen = _chosen_packages(options)
    if not chosen:
        return
    from kraftproof.cluster.simulated.differential.catalogue import COMPARISONS

    for number in range(ROUNDS):
        for one in COMPARISONS:
            if chosen.isdisjoint(one.packages):
                continue
            random = Random(f"{options.seed}/{one.compare.__name__}-{number}")
            if not _agrees(world, one, random):
                return


def _agrees(world: World, one: Comparison, random: Random) -> bool:
    """Return whether a comparison finds no difference."""
    now_ns = world.scheduler.now_ns
    try:
        one.compare(random)
    except DifferenceError as error:
        detail = str(error)
    except Exception as error:  # noqa: BLE001 - code of the node, wherever the mistake is
        crash = crash_of(error, node=HARNESS, time_ns=now_ns, event=world.scheduler.events)
        if crash.kind is ViolationKind.ASSERTION:
            world.crashed(HARNESS, error)
            return False
        detail = f"{crash.detail} in place of a result"
    else:
        return True
    world.monitor.record(one.invariant, one.statement, detail, node=HARNESS, time_ns=now_ns)
    return False


def _chosen_packages(options: ClusterOptions) -> frozenset[str]:
    """Return the packages to compare in a run."""
    if _is_counted() or Random(f"{options.seed}/references").random() < SHARE:
        return frozenset((WIRE, STORAGE))
    if options.mutant is None:
        return frozenset()
    return frozenset(filter(_is_mutated, (WIRE, STORAGE)))


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
