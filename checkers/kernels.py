"""Compiled functions, kept in a folder of its own for each state of the sources.

numba keeps compiled code by the file of the kernel alone: an edit, or an upgrade, of a function or
constant in another file that the kernel uses would leave the old code in place, and give wrong
verdicts. Here the folder's name is the hash of all of this package, so that any change compiles
anew. Whoever has a kernel imports this module and with it numba; nobody else does.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar, cast

import numba

_PACKAGE: Final = Path(__file__).parent
_VARIABLE: Final = "NUMBA_CACHE_DIR"

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compiles a function at its first call, for use without Python's lock, and keeps the code."""
    return cast("F", numba.njit(cache=True, nogil=True)(function))


def fingerprint(package: Path) -> str:
    """Returns the hash of a folder's sources, in hex."""
    found = hashlib.sha256()
    for source in sorted(package.rglob("*.py")):
        found.update(str(source.relative_to(package)).encode() + b"\0")
        found.update(source.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def kernel_folder(hashed: str) -> Path:
    """Returns a folder that can be written: below the user's cache, else a temporary one."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "kraftproof" / "kernels" / hashed
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(tempfile.gettempdir()) / f"kraftproof-{os.getuid()}" / "kernels" / hashed
    return folder


if _VARIABLE not in os.environ:  # a user's word stands
    numba.config.CACHE_DIR = str(kernel_folder(fingerprint(_PACKAGE)))  # type: ignore[attr-defined]
