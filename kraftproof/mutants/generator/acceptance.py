"""Accept candidates after a type check and an import.

mypy runs as a daemon over a copy of the node, so that a check after an edit takes a fraction of a
second. The import happens in a new process.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from kraftproof.mutants.generator.candidates import Candidate
from kraftproof.mutants.generator.files import (
    is_rejected,
    mutant_path,
    reject_mutant,
    write_mutant,
)
from kraftproof.mutants.mutant import Mutant
from kraftproof.mutants.type_check import (
    PACKAGE,
    TypeCheckUnavailableError,
    copy_node,
    module_path,
)

STRICT: Final = (
    *("--config-file=", "--strict", "--ignore-missing-imports", "--no-error-summary"),
    *("--enable-error-code=exhaustive-match", "--enable-error-code=possibly-undefined"),
    *("--enable-error-code=truthy-bool", "--enable-error-code=redundant-expr"),
    *("--package", f"{PACKAGE}.node"),
)
"""The checks of the unchanged node; a bug that fails the checks would never be committed."""
STATUS_FILE: Final = "daemon.json"
"""File of the daemon's address, in the folder of the copy."""
IDLE_S: Final = 3600
"""Seconds after which a daemon without work ends, for example after the death of its parent."""
IMPORTING: Final = (
    "import sys, importlib; from kraftproof import mutants; mutants.install(sys.argv[1]); "
    "importlib.import_module(sys.argv[2]); importlib.import_module('kraftproof.node.core.node')"
)


class TypeChecker:
    """A daemon of mypy over a copy of the node, started by the first check."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._is_started = False
        self._edited: dict[Path, str] = {}
        """Original texts of the edited files."""

    def _start(self) -> None:
        """Start the daemon.

        Raises:
            TypeCheckUnavailableError: mypy is missing or fails, or rejects the unchanged node.
        """
        if find_spec("mypy") is None:
            raise TypeCheckUnavailableError(
                "mypy is not installed, and mutants have to type-check: pip install mypy"
            )
        copy_node(self._root / PACKAGE)
        self._is_started = True
        error = self._first_error()
        if error is not None:
            raise TypeCheckUnavailableError(f"mypy rejects the node without a mutant: {error}")

    def accepts(self, mutant: Mutant) -> bool:
        """Return whether the node type-checks with a mutant.

        Raises:
            TypeCheckUnavailableError: mypy is missing or fails, or rejects the unchanged node.
        """
        if not self._is_started:
            self._start()
        for path, text in self._edited.items():
            path.write_text(text, encoding="utf-8")
        self._edited.clear()
        for module in mutant.modules:
            path = module_path(self._root, module)
            self._edited[path] = path.read_text(encoding="utf-8")
            path.write_text(mutant.mutate(module, self._edited[path]), encoding="utf-8")
        error = self._first_error()
        if error is not None and not any(self._is_in(error, path) for path in self._edited):
            # The daemon may keep the error of an earlier mutant, whose file is restored.
            self.stop()
            (self._root / STATUS_FILE).unlink(missing_ok=True)
            error = self._first_error()
        return error is None

    def _is_in(self, error: str, path: Path) -> bool:
        """Return whether an error line is about a file."""
        return error.startswith(f"{path.relative_to(self._root)}:")

    def stop(self) -> None:
        """End the daemon, if there is one."""
        if self._is_started:
            self._dmypy("kill")

    def _first_error(self) -> str | None:
        """Check the copy; start the daemon again if the daemon has ended, for example as idle."""
        done = self._dmypy("run", "--timeout", str(IDLE_S), "--", *STRICT)
        errors = [line for line in done.stdout.splitlines() if ": error: " in line]
        if errors:
            return errors[0]
        if done.returncode == 0:
            return None
        said = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
        raise TypeCheckUnavailableError(f"dmypy ended with exit status {done.returncode}: {said}")

    def _dmypy(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "mypy.dmypy", "--status-file", STATUS_FILE, *arguments]
        return subprocess.run(command, cwd=self._root, capture_output=True, text=True, check=False)


@contextmanager
def type_checker() -> Iterator[TypeChecker]:
    """Yield a type checker over a temporary copy of the node, and end its daemon."""
    with tempfile.TemporaryDirectory(prefix="kraftproof-types-") as name:
        checker = TypeChecker(Path(name))
        try:
            yield checker
        finally:
            checker.stop()


def accepted(drawn: Iterable[Candidate], folder: Path) -> Iterator[Candidate]:
    """Yield the candidates that type-check and import; a mutant's file is written to a folder.

    A mutant with a file in the folder was accepted or rejected before, and is not checked again.

    Raises:
        TypeCheckUnavailableError: mypy is missing or fails, or rejects the unchanged node.
    """
    with type_checker() as checker:
        for candidate in drawn:
            mutant = candidate.mutant()
            if mutant_path(mutant.mutant_id, folder).is_file():
                yield candidate  # an earlier command has accepted the same edit
            elif not is_rejected(mutant.mutant_id, folder):
                file = write_mutant(candidate, folder) if checker.accepts(mutant) else None
                if file is not None and _imports(file, candidate.source.module):
                    yield candidate
                else:
                    reject_mutant(mutant.mutant_id, folder)


def _imports(file: Path, module: str) -> bool:
    """Return whether the node can be imported with the mutant of a file."""
    command = [sys.executable, "-c", IMPORTING, str(file), module]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
