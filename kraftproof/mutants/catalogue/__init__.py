"""The catalogue of mutants: a small file per mutant, named by id; other files are named by path.

Not: who finds it.
"""

import importlib
import re
import runpy
from dataclasses import replace
from pathlib import Path
from pkgutil import iter_modules

from kraftproof.mutants.mutant import Mutant
from kraftproof.spelling import nearest

SUFFIX = ".py"


class UnknownMutantError(LookupError):
    """No mutant has this id; the message is one line for the user."""


def _mutant(module_name: str) -> Mutant:
    mutant = importlib.import_module(f"{__name__}.{module_name}").MUTANT
    assert isinstance(mutant, Mutant), f"{module_name}.MUTANT is a Mutant"
    return mutant


def _in_order(mutant: Mutant) -> tuple[str, int, str]:
    """A2 before A15, as in the list of faults."""
    parts = re.fullmatch(r"(\D+)(\d+)(.*)", mutant.mutant_id)
    assert parts is not None, f"{mutant.mutant_id}: an id is letters, a number, and maybe more"
    return parts[1], int(parts[2]), parts[3]


ALL = tuple(sorted((_mutant(info.name) for info in iter_modules(__path__)), key=_in_order))
IDS = tuple(mutant.mutant_id for mutant in ALL)


def load(mutant_id: str) -> Mutant:
    """Return the mutant of an id, or the mutant that the file of a path defines.

    Raises:
        UnknownMutantError: there is none.
    """
    for mutant in ALL:
        if mutant.mutant_id == mutant_id:
            return mutant
    if mutant_id.endswith(SUFFIX):
        return _from_file(mutant_id)
    near = nearest(mutant_id, (mutant.mutant_id for mutant in ALL))
    raise UnknownMutantError(
        f"mutant {mutant_id!r}: unknown{near}, one of {_ranges()} (docs/scoreboard.md), or a file "
        "that defines MUTANT"
    )


def _ranges() -> str:
    """Return the first and the last id of each letter."""
    by_letter: dict[str, list[str]] = {}
    for mutant in ALL:
        by_letter.setdefault(_in_order(mutant)[0], []).append(mutant.mutant_id)
    return ", ".join(f"{ids[0]} to {ids[-1]}" for ids in by_letter.values())


def _from_file(path: str) -> Mutant:
    """Return the mutant of a file; its id is the path, so that a run can be repeated."""
    if not Path(path).is_file():
        raise UnknownMutantError(f"mutant {path!r}: there is no such file")
    try:
        found = runpy.run_path(path).get("MUTANT")
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise UnknownMutantError(f"mutant {path!r}: can't be read: {reason}") from error
    if not isinstance(found, Mutant):
        raise UnknownMutantError(f"mutant {path!r}: the file defines no MUTANT")
    return replace(found, mutant_id=path)
