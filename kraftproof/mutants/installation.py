"""Plant a mutant for a run: in this process, or in the processes of the nodes."""

import importlib
import sys
from collections.abc import Collection

from kraftproof.cluster.backends import BACKENDS
from kraftproof.errors import UsageError

SIMULATION = (
    "kraftproof.cluster.simulated.simulated_cluster",
    "kraftproof.cluster.simulated.differential.catalogue",
)
"""Modules that load all code of the node that a simulated run executes."""


def install_mutant(mutant: str | None, backend: str) -> str | None:
    """Install the import hook of a mutant if this process runs the node; return the mutant's hash.

    The caller must not have imported any module of the node.

    Raises:
        UsageError: the mutant is unknown, or no simulated node loads the edited modules.
    """
    if mutant is None:
        return None
    from kraftproof import mutants

    try:
        planted = mutants.load(mutant)
        if BACKENDS[backend].is_virtual:
            mutants.install(mutant)
    except (LookupError, ValueError, mutants.LateMutantError) as error:
        text = error.args[0] if error.args else error
        raise UsageError(f"--mutant {mutant}: {text}") from error
    if BACKENDS[backend].is_virtual:
        _refuse_unloaded(mutant, planted.modules)
    return planted.fingerprint


def workload_of(mutant: str | None) -> str | None:
    """Return the workload whose runs show a mutant; None for the workloads that seeds draw.

    Raises:
        UsageError: the mutant is unknown.
    """
    if mutant is None:
        return None
    from kraftproof import mutants

    try:
        return mutants.load(mutant).run_workload
    except (LookupError, ValueError) as error:
        text = error.args[0] if error.args else error
        raise UsageError(f"--mutant {mutant}: {text}") from error


def _refuse_unloaded(mutant: str, modules: Collection[str]) -> None:
    """Raise unless a simulated run loads an edited module: no seed could show the mutant."""
    for package in SIMULATION:
        importlib.import_module(package)
    if sys.modules.keys().isdisjoint(modules):
        raise UsageError(
            f"--mutant {mutant}: no simulated run loads {', '.join(modules)}; "
            f"plant it in the processes of a cluster, by --backend local or docker"
        )
