"""Compiled functions, kept in a folder of its own for each state of the sources.

numba keeps compiled code by the file of the kernel alone: an edit, or an upgrade, of a function or
constant in another file that the kernel uses would leave the old code in place, and give wrong
verdicts. Here the folder's name is the hash of the kernel's file and of all files of this package
that it imports, directly or not, so that any change compiles anew what it may concern. Whoever has
a kernel imports this module and with it numba; nobody else does.
"""

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, TypeVar, cast

import numba

_PACKAGE: Final = Path(__file__).parent
_IS_GIVEN: Final = "NUMBA_CACHE_DIR" in os.environ
"""Whether the user says where compiled code is kept: that stands."""
_IMPORT: Final = re.compile(
    rf"^\s*from {_PACKAGE.name}([.\w]*) import (\([^)]*\)|.*)", re.MULTILINE
)

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compiles a function at its first call, for use without Python's lock, and keeps the code."""
    if not _IS_GIVEN:
        source = Path(str(sys.modules[function.__module__].__file__))
        numba.config.CACHE_DIR = str(_folder_of(source))  # type: ignore[attr-defined]
    return cast("F", numba.njit(cache=True, nogil=True)(function))


@cache
def _folder_of(source: Path) -> Path:
    return kernel_folder(fingerprint(source))


def fingerprint(source: Path) -> str:
    """Returns the hash of a file of this package and of all that it imports of it, in hex."""
    used, ahead = {source}, [source]
    while ahead:
        more = set(_imported(ahead.pop())) - used
        used |= more
        ahead += more
    found = hashlib.sha256()
    for path in sorted(used):
        found.update(os.path.relpath(path, _PACKAGE).encode() + b"\0")
        found.update(path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


@cache
def _imported(source: Path) -> tuple[Path, ...]:
    """Returns the files of this package that a file names in its imports."""
    return tuple(_named(source.read_text(encoding="utf-8")))


def _named(text: str) -> Iterator[Path]:
    for module, names in _IMPORT.findall(text):
        place = _PACKAGE.joinpath(*module.split(".")[1:])
        submodules = [place / f"{name}.py" for name in re.findall(r"\w+", names)]
        for path in (place.with_suffix(".py"), place / "__init__.py", *submodules):
            if path.is_file():
                yield path


def kernel_folder(hashed: str) -> Path:
    """Returns a folder that can be written: below the user's cache, else a temporary one."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "kraftproof" / "kernels" / hashed
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir()) / f"kraftproof-{os.getuid()}" / "kernels" / hashed
    return folder
