"""Plant a mutant for a run: in this process, or in the processes of the nodes."""

from kraftproof.cluster.backends import BACKENDS
from kraftproof.errors import UsageError


def install_mutant(mutant: str | None, backend: str) -> str | None:
    """Install the import hook of a mutant if this process runs the node; return the mutant's hash.

    The caller must not have imported any module of the node.

    Raises:
        UsageError: the mutant is unknown.
    """
    if mutant is None:
        return None
    from kraftproof import mutants

    try:
        if BACKENDS[backend].is_virtual:
            mutants.install(mutant)
        return mutants.mutant_hash(mutant)
    except (LookupError, ValueError, mutants.LateMutantError) as error:
        text = error.args[0] if error.args else error
        raise UsageError(f"--mutant {mutant}: {text}") from error


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
