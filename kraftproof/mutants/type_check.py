"""Type-check the node with the edits of a mutant, since only well-typed edits are useful bugs.

A misspelled name or a value of a wrong type crashes the node in the first seeds, which is no test
of the invariants. mypy checks a copy of the node in a temporary directory, so the node may be an
installed package.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from kraftproof.mutants.mutant import Mutant

PACKAGE: Final = "kraftproof"
OPTIONS: Final = (
    *("--config-file=", "--cache-dir=cache", "--package", f"{PACKAGE}.node"),
    *("--check-untyped-defs", "--ignore-missing-imports", "--no-error-summary"),
)


class TypeCheckUnavailableError(RuntimeError):
    """Type checks are impossible on this machine; the message is one line for the user."""


def type_errors(mutants: Sequence[Mutant]) -> dict[str, str]:
    """Return mypy's first error of each mutant with errors, by the mutant's id.

    Raises:
        TypeCheckUnavailableError: mypy is missing or fails, or the unchanged node has type errors.
    """
    if find_spec("mypy") is None:
        raise TypeCheckUnavailableError(
            "mypy is not installed, and a mutant has to type-check before it is scored: "
            "pip install mypy"
        )
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="kraftproof-types-") as name:
        root = Path(name)
        copy_node(root / PACKAGE)
        error = _first_error(root)
        if error is not None:
            raise TypeCheckUnavailableError(f"mypy rejects the node without a mutant: {error}")
        for mutant in mutants:
            error = _first_error_with(root, mutant)
            if error is not None:
                found[mutant.mutant_id] = error
    return found


def copy_node(target: Path) -> None:
    """Copy the node's package, with the package around the node, to a folder."""
    package = Path(__file__).parents[1]
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package / "node", target / "node", ignore=ignored)
    shutil.copy2(package / "__init__.py", target)


def _first_error_with(root: Path, mutant: Mutant) -> str | None:
    """Edit the copy, check the copy, and restore the original text."""
    paths = {module: module_path(root, module) for module in mutant.modules}
    sources = {module: path.read_text(encoding="utf-8") for module, path in paths.items()}
    for module, path in paths.items():
        path.write_text(mutant.mutate(module, sources[module]), encoding="utf-8")
    try:
        return _first_error(root)
    finally:
        for module, path in paths.items():
            path.write_text(sources[module], encoding="utf-8")


def module_path(root: Path, module: str) -> Path:
    """Return the file of a module in a copy of the node."""
    path = root.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _first_error(root: Path) -> str | None:
    """Return the first error line of mypy, or None.

    Raises:
        TypeCheckUnavailableError: mypy failed without an error line.
    """
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *OPTIONS],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    if errors:
        return errors[0]
    if done.returncode == 0:
        return None
    said = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
    raise TypeCheckUnavailableError(f"mypy ended with exit status {done.returncode}: {said}")
