"""One small file a mutant, named by its id. Not: who finds it."""

import importlib
from pkgutil import iter_modules

from mutants.mutant import Mutant


class UnknownMutantError(LookupError):
    """There is no mutant of this id; the text is the one line a user sees."""


def _mutant(module_name: str) -> Mutant:
    mutant = importlib.import_module(f"{__name__}.{module_name}").MUTANT
    assert isinstance(mutant, Mutant), f"{module_name}.MUTANT is a Mutant"
    return mutant


ALL = tuple(
    sorted(
        (_mutant(info.name) for info in iter_modules(__path__)),
        key=lambda mutant: mutant.mutant_id,
    )
)
IDS = tuple(mutant.mutant_id for mutant in ALL)


def load(mutant_id: str) -> Mutant:
    """Return the mutant of this id.

    Raises:
        UnknownMutantError: there is none.
    """
    for mutant in ALL:
        if mutant.mutant_id == mutant_id:
            return mutant
    raise UnknownMutantError(f"mutant {mutant_id!r}: unknown, one of {', '.join(IDS)}")
