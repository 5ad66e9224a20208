"""Accept candidates after a type check and an import; the import happens in a new process."""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from kraftproof.mutants.generator.candidates import Candidate
from kraftproof.mutants.generator.files import (
    is_rejected,
    mutant_path,
    reject_mutant,
    write_mutant,
)
from kraftproof.mutants.type_check import STRICT, type_checker

IMPORTING: Final = (
    "import sys, importlib; from kraftproof import mutants; mutants.install(sys.argv[1]); "
    "importlib.import_module(sys.argv[2]); importlib.import_module('kraftproof.node.core.node')"
)


def accepted(drawn: Iterable[Candidate], folder: Path) -> Iterator[Candidate]:
    """Yield the candidates that type-check and import; a mutant's file is written to a folder.

    A mutant with a file in the folder was accepted or rejected before, and is not checked again.

    Raises:
        TypeCheckUnavailableError: mypy is missing or fails, or rejects the unchanged node.
    """
    with type_checker(STRICT) as checker:
        for candidate in drawn:
            mutant = candidate.mutant()
            if mutant_path(mutant.mutant_id, folder).is_file():
                yield candidate  # an earlier command has accepted the same edit
            elif not is_rejected(mutant.mutant_id, folder):
                is_typed = checker.error_of(mutant) is None
                file = write_mutant(candidate, folder) if is_typed else None
                if file is not None and _imports(file, candidate.source.module):
                    yield candidate
                else:
                    reject_mutant(mutant.mutant_id, folder)


def _imports(file: Path, module: str) -> bool:
    """Return whether the node can be imported with the mutant of a file."""
    command = [sys.executable, "-c", IMPORTING, str(file), module]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
