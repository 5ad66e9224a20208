"""Type-check the node with the edits of a mutant, since only well-typed edits are useful bugs.

A misspelled name or a value of a wrong type crashes the node in the first seeds, which is no test
of the invariants. mypy runs as a daemon over a copy of the node in a temporary directory: a check
after an edit takes about a second, and the node may be an installed package.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from kraftproof.mutants.mutant import Mutant

PACKAGE: Final = "kraftproof"
_EVERY_CHECK: Final = (
    *("--config-file=", "--ignore-missing-imports", "--no-error-summary"),
    *("--package", f"{PACKAGE}.node"),
)
LENIENT: Final = (*_EVERY_CHECK, "--check-untyped-defs")
"""The checks that an edit by hand has to pass: names and types are right."""
STRICT: Final = (
    *(*_EVERY_CHECK, "--strict"),
    *("--enable-error-code=exhaustive-match", "--enable-error-code=possibly-undefined"),
    *("--enable-error-code=truthy-bool", "--enable-error-code=redundant-expr"),
)
"""The checks of the unchanged node; a bug that fails the checks would never be committed."""
STATUS_FILE: Final = "daemon.json"
"""File of the daemon's address, in the folder of the copy."""
IDLE_S: Final = 3600
"""Seconds after which a daemon without work ends, for example after the death of its parent."""


class TypeCheckUnavailableError(RuntimeError):
    """Type checks are impossible on this machine; the message is one line for the user."""


class TypeChecker:
    """A daemon of mypy over a copy of the node, started by the first check.

    Args:
        root: An empty folder for the copy.
        options: The command line of mypy.
    """

    def __init__(self, root: Path, options: Sequence[str]) -> None:
        self._root = root
        self._options = options
        self._is_started = False
        self._edited: dict[Path, str] = {}
        """Original texts of the edited files."""
        self._writes = 0

    def error_of(self, mutant: Mutant) -> str | None:
        """Return mypy's first error of the node with a mutant, or None.

        Raises:
            TypeCheckUnavailableError: mypy is missing or fails, or rejects the unchanged node.
        """
        if not self._is_started:
            self._start()
        for path, text in self._edited.items():
            self._write(path, text)
        self._edited.clear()
        for module in mutant.modules:
            path = module_path(self._root, module)
            self._edited[path] = path.read_text(encoding="utf-8")
            self._write(path, mutant.mutate(module, self._edited[path]))
        error = self._first_error()
        if error is not None and not any(self._is_in(error, path) for path in self._edited):
            # The daemon may keep the error of an earlier mutant, whose file is restored.
            self.stop()
            (self._root / STATUS_FILE).unlink(missing_ok=True)
            error = self._first_error()
        return error

    def stop(self) -> None:
        """End the daemon, if there is one."""
        if self._is_started:
            self._dmypy("kill")

    def _start(self) -> None:
        """Start the daemon.

        Raises:
            TypeCheckUnavailableError: mypy is missing or fails, or rejects the unchanged node.
        """
        if find_spec("mypy") is None:
            raise TypeCheckUnavailableError(
                "mypy is not installed, and a mutant has to type-check before it is scored: "
                "pip install mypy"
            )
        copy_node(self._root / PACKAGE)
        self._is_started = True
        error = self._first_error()
        if error is not None:
            raise TypeCheckUnavailableError(f"mypy rejects the node without a mutant: {error}")

    def _write(self, path: Path, text: str) -> None:
        """Write a file of the copy with a modification time of its own, in whole seconds.

        The daemon looks at the size and the second: an edit of the same length, written in the
        second of the last write, would be overlooked.
        """
        path.write_text(text, encoding="utf-8")
        self._writes += 1
        os.utime(path, (self._writes, self._writes))

    def _is_in(self, error: str, path: Path) -> bool:
        """Return whether an error line is about a file."""
        return error.startswith(f"{path.relative_to(self._root)}:")

    def _first_error(self) -> str | None:
        """Check the copy; start the daemon again if the daemon has ended, for example as idle."""
        done = self._dmypy("run", "--timeout", str(IDLE_S), "--", *self._options)
        errors = [line for line in done.stdout.splitlines() if ": error: " in line]
        if errors:
            return errors[0]
        if done.returncode == 0:
            return None
        said = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
        raise TypeCheckUnavailableError(f"dmypy ended with exit status {done.returncode}: {said}")

    def _dmypy(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a command of the daemon, which reports no error of a file below PYTHONPATH."""
        command = [sys.executable, "-m", "mypy.dmypy", "--status-file", STATUS_FILE, *arguments]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(
            command,
            cwd=self._root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )


@contextmanager
def type_checker(options: Sequence[str]) -> Iterator[TypeChecker]:
    """Yield a type checker over a temporary copy of the node, and end its daemon."""
    with tempfile.TemporaryDirectory(prefix="kraftproof-types-") as name:
        checker = TypeChecker(Path(name), options)
        try:
            yield checker
        finally:
            checker.stop()


def type_errors(mutants: Sequence[Mutant]) -> dict[str, str]:
    """Return mypy's first error of each mutant with errors, by the mutant's id.

    Raises:
        TypeCheckUnavailableError: mypy is missing or fails, or the unchanged node has type errors.
    """
    with type_checker(LENIENT) as checker:
        checked = ((mutant.mutant_id, checker.error_of(mutant)) for mutant in mutants)
        return {mutant_id: error for mutant_id, error in checked if error is not None}


def copy_node(target: Path) -> None:
    """Copy the node's package, with the package around the node, to a folder."""
    package = Path(__file__).parents[1]
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package / "node", target / "node", ignore=ignored)
    shutil.copy2(package / "__init__.py", target)


def module_path(root: Path, module: str) -> Path:
    """Return the file of a module in a copy of the node."""
    path = root.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
