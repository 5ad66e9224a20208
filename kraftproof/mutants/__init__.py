"""Real bugs (docs/scoreboard.md) as source edits of the node, applied by an import hook.

`mutants.install(ID)` before anything of `kraftproof.node` is imported breaks the node in this
process; `python -m kraftproof.mutants ID -- server.properties` runs a broken node. The node itself
has no switch.
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
    """Break the node, from its next import on, and return what was installed.

    Raises:
        UnknownMutantError: there is no mutant of that id.
        LateMutantError: a module that it edits is loaded already.
        MutantMismatchError: the text that it replaces is not there exactly once.
    """
    mutant = load(mutant_id)
    install_edits(mutant)
    return mutant


def mutant_hash(mutant_id: str) -> str:
    """Return the hash of a mutant's edits, which run.json records.

    Raises:
        UnknownMutantError: there is no mutant of that id.
    """
    return load(mutant_id).fingerprint
