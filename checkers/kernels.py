"""Compiled functions, kept in a folder of its own for each state of the sources.

numba keeps compiled code by the file of the kernel alone: an edit, or an upgrade, of a function or
constant in another file that the kernel uses would leave the old code in place, and give wrong
verdicts. Here the folder's name is the hash of the kernel's file and of all files of this package
that it imports, directly or not, so that any change compiles anew what it may concern. Whoever has
a kernel imports this module and with it numba; nobody else does.

One process at a time compiles, or loads, the kernels of a file. numba keeps an index and numbered
files of code: two processes that write them at once for two signatures leave an index that names
the other's code, and whoever loads that calls it with the wrong types (numba issue 4807).
"""

import fcntl
import hashlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, wraps
from pathlib import Path
from typing import Final, TypeVar, cast

import numba

_PACKAGE: Final = Path(__file__).parent
_IS_GIVEN: Final = "NUMBA_CACHE_DIR" in os.environ
"""Whether the user says where compiled code is kept: that stands."""
_IMPORT: Final = re.compile(
    rf"^\s*from {_PACKAGE.name}([.\w]*) import (\([^)]*\)|.*)", re.MULTILINE
)

_in_process: Final = threading.RLock()
_held: Final[set[Path]] = set()
"""The locks of this process: a kernel compiles what it calls while it holds its own."""

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compiles a function at its first call, for use without Python's lock, and keeps the code."""
    source = Path(str(sys.modules[function.__module__].__file__))
    if not _IS_GIVEN:
        numba.config.CACHE_DIR = str(_folder_of(source))  # type: ignore[attr-defined]
    dispatcher = numba.njit(cache=True, nogil=True)(function)
    lock = Path(str(dispatcher.stats.cache_path)) / f"{source.stem}.lock"
    dispatcher.compile = _alone(dispatcher.compile, lock)  # type: ignore[method-assign]
    return cast("F", dispatcher)


def _alone(compiles: F, lock: Path) -> F:
    """Returns the same function, run by one process at a time: a lock for each source file.

    Files import each other in one direction only, so locks that are taken one inside another are
    taken in one order, and nobody waits in a circle.
    """

    @wraps(compiles)
    def compiles_alone(signature: object) -> object:
        with _held_by_this_process(lock):
            return compiles(signature)

    return cast("F", compiles_alone)


@contextmanager
def _held_by_this_process(lock: Path) -> Iterator[None]:
    with _in_process:
        if lock in _held:
            yield
            return
        with lock.open("w") as file:
            with suppress(OSError):  # a file system without locks: numba alone is right mostly
                fcntl.flock(file, fcntl.LOCK_EX)
            _held.add(lock)
            try:
                yield
            finally:
                _held.remove(lock)


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
