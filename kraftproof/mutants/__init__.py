"""Known bugs (docs/scoreboard.md) as source edits of the node, applied by an import hook.

`mutants.install(ID)` plants a bug in this process, and must be called before any module of
`kraftproof.node` is imported. `python -m kraftproof.mutants ID -- server.properties` runs a node
with a bug. The source of the node has no switch for bugs.
"""

from kraftproof.mutants.catalogue import ALL, IDS, UnknownMutantError, load
from kraftproof.mutants.hook import LateMutantError, install_edits
from kraftproof.mutants.mutant import Edit, Mutant, MutantMismatchError
from kraftproof.mutants.type_check import TypeCheckUnavailableError, type_errors

__all__ = (
    "ALL",
    "IDS",
    "Edit",
    "LateMutantError",
    "Mutant",
    "MutantMismatchError",
    "TypeCheckUnavailableError",
    "UnknownMutantError",
    "install",
    "load",
    "mutant_hash",
    "type_errors",
)


def install(mutant_id: str) -> Mutant:
    """Plant a mutant in the node from its next import on, and return the mutant.

    Raises:
        UnknownMutantError: no mutant has this id.
        LateMutantError: a module to edit is already imported.
        MutantMismatchError: the text to replace does not occur exactly once.
    """
    mutant = load(mutant_id)
    install_edits(mutant)
    return mutant


def mutant_hash(mutant_id: str) -> str:
    """Return the hash of a mutant's edits, which run.json records.

    Raises:
        UnknownMutantError: no mutant has this id.
    """
    return load(mutant_id).fingerprint
