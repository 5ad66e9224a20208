"""Source files of the package, for images and for hosts; needs no Docker library."""

import shutil
from collections.abc import Iterable
from pathlib import Path

IMAGES = Path(__file__).parent
PACKAGE = IMAGES.parent
"""The package kraftproof; in a checkout, its sub-packages are links to the top-level folders."""


NODE = ("node", "mutants")
"""Sub-packages of a reference node and of planted bugs."""


def source_files(*folders: str) -> list[Path]:
    """Return the package's `__init__.py` and the files of the named sub-packages, sorted.

    Bytecode is left out. Each path is below PACKAGE, so that checkout and wheel are alike.
    """
    found = [PACKAGE / "__init__.py"]
    for folder in folders:
        found += (PACKAGE / folder).rglob("*")
    return sorted(path for path in found if path.is_file() and "__pycache__" not in path.parts)


def copy_files(files: Iterable[Path], target: Path) -> None:
    """Copy files of the package below `target`, importable as kraftproof."""
    for path in files:
        place = target / path.relative_to(PACKAGE.parent)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, place)
