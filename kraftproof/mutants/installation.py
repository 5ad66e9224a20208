"""How a mutant gets into a run: into this process before the node, or into the nodes' processes."""

from kraftproof.cluster.backends import BACKENDS
from kraftproof.errors import UsageError


def install_mutant(mutant: str | None, backend: str) -> str | None:
    """Install a mutant's import hook where this process runs the node; return the mutant's hash.

    Has to be called before anything of the node is imported.

    Raises:
        UsageError: there is no such mutant.
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
