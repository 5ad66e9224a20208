"""Source files of the package, for images and for hosts; needs no Docker library."""

import shutil
from collections.abc import Iterable
from pathlib import Path

IMAGES = Path(__file__).parent
PACKAGE = IMAGES.parent
"""The package kraftproof; in a checkout, its sub-packages are links to the top-level folders."""


NODE = ("node", "mutants", "spelling.py")
"""Sub-packages of a reference node and of planted bugs, and a module that the planted bugs need."""


def source_files(*parts: str) -> list[Path]:
    """Return the package's `__init__.py` and the files of sub-packages and modules, sorted.

    Bytecode is left out. Each path is below PACKAGE, so that checkout and wheel are alike.
    """
    found = [PACKAGE / "__init__.py"]
    for part in parts:
        path = PACKAGE / part
        found += [path] if path.is_file() else path.rglob("*")
    return sorted(path for path in found if path.is_file() and "__pycache__" not in path.parts)


def copy_files(files: Iterable[Path], target: Path) -> None:
    """Copy files of the package below `target`, importable as kraftproof."""
    for path in files:
        place = target / path.relative_to(PACKAGE.parent)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, place)
