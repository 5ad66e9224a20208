"""Compiled functions, kept in a folder of its own for each state of the sources.

numba keeps compiled code by the file of the kernel alone: an edit, or an upgrade, of a function or
constant in another file that the kernel uses would leave the old code in place, and give wrong
verdicts. Here the folder's name is the hash of the kernel's file and of all files of this package
that it imports, directly or not, so that any change compiles anew what it may concern. Where the
sources lie does not count: all checkouts of one state share what one of them has compiled. numba is
imported when the first kernel runs compiled: one that runs uncompiled (`checkers.uncompiled`) needs
neither numba nor its second of loading.

Two things that numba leaves to chance where processes share what they keep are settled here:

- One process at a time compiles, or loads, the kernels of a file. There is an index and numbered
  files of code: two that write at once for two signatures leave an index that names the other's
  code (numba issue 4807).
- Functions are numbered apart in each process. A closure's symbol is its name and a number, which
  numba counts from 1 in each: code of two processes that is loaded into a third may have one symbol
  for two functions, and one of them is called in the other's place (numba issue 10128). That has
  given a wrong verdict here, and a segmentation fault.
"""

import fcntl
import hashlib
import itertools
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property, update_wrapper, wraps
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from typing_extensions import override

from kraftproof.checkers.compiling import compiling
from kraftproof.checkers.uncompiled import own

_PACKAGE: Final = Path(__file__).parent
_IS_GIVEN: Final = "NUMBA_CACHE_DIR" in os.environ
"""Whether the user says where compiled code is kept: that stands."""
_IMPORT: Final = re.compile(
    r"^\s*from kraftproof\.checkers([.\w]*) import (\([^)]*\)|.*)", re.MULTILINE
)

_in_process: Final = threading.RLock()
_held: Final[set[Path]] = set()
"""Lock files that this process holds: a kernel compiles its callees under its own lock."""

F = TypeVar("F", bound=Callable[..., object])


def _number_apart() -> None:
    """Has this process count functions from a number that no other begins with, by chance."""
    from numba.core.bytecode import FunctionIdentity

    FunctionIdentity._unique_ids = itertools.count(int.from_bytes(os.urandom(7), "big"))  # noqa: SLF001


@cache
def _numba() -> Any:  # noqa: ANN401 numba has no types
    import numba
    from numba.core.caching import CacheImpl

    if not _IS_GIVEN:
        CacheImpl._locator_classes.insert(0, _locator())  # noqa: SLF001 numba has no other way
    _number_apart()
    os.register_at_fork(after_in_child=_number_apart)
    return numba


def _locator() -> type[object]:
    """Returns the class that tells numba where it keeps the kernels of this package.

    numba's own puts the path of the source into the folder's name: each checkout would compile for
    itself.
    """
    from numba.core.caching import _CacheLocator

    class Locator(_CacheLocator):
        def __init__(self, line: int, source: Path) -> None:
            self._line = line
            self._source = source

        @override
        def get_cache_path(self) -> str:
            below = self._source.parent.relative_to(_PACKAGE)
            return str(_folder_of(self._source) / below)

        @override
        def get_source_stamp(self) -> str:
            return fingerprint(self._source)

        @override
        def get_disambiguator(self) -> str:
            return str(self._line)

        @classmethod
        @override
        def from_function(cls, function: Callable[..., object], file: str) -> "Locator | None":
            """Return None for code of others, which numba keeps as it does without us."""
            source = Path(file)
            if not source.is_relative_to(_PACKAGE):
                return None
            found = cls(function.__code__.co_firstlineno, source)
            found.ensure_cache_path()  # type: ignore[no-untyped-call]
            return found

    return Locator


def kernel(function: F) -> F:
    """Compiles a function at its first call, for use without Python's lock, and keeps the code."""
    return _compiled(function, counts_references=True)


def bare_kernel(function: F) -> F:
    """Likewise, for a function that makes no array, as the inner steps of a search don't.

    numba counts the references to each array that such a function takes apart from a tuple or
    passes on: atomic additions that cost a search of small steps most of its time. Here nothing is
    counted: an array, or a part of one, lives as long as those outside hold it. To make one fails
    to compile. A bare kernel that returns arrays may be called by bare kernels only, and calls no
    other kernel that does.
    """
    return _compiled(function, counts_references=False)


def plain_version_of(compiled: F) -> Callable[[F], F]:
    """Return a decorator that gives a kernel another function to run while it runs uncompiled.

    For loops over each element, which numpy does as quickly as compiled code.
    """

    def given(function: F) -> F:
        if isinstance(compiled, Kernel):
            compiled.plain = function
        return function

    return given


def _compiled(function: F, *, counts_references: bool) -> F:
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}:
        return function
    return cast("F", Kernel(function, counts_references=counts_references))


class Kernel:
    """A function that runs compiled, or as it stands in a thread that has a budget for that.

    numba takes a kernel that another one calls for the compiled function, by `_numba_type_`.
    """

    def __init__(self, function: Callable[..., Any], *, counts_references: bool) -> None:
        """Keep the function; nothing is compiled yet."""
        update_wrapper(self, function)
        self._function = function
        self._counts_references = counts_references
        self.plain = function

    def __call__(self, *arguments: object, **named: object) -> object:
        """Run the function."""
        left = own.budget
        if left is None:
            return self._dispatcher(*arguments, **named)
        left.spend()
        return self.plain(*arguments, **named)

    @property
    def _numba_type_(self) -> object:
        return self._dispatcher._numba_type_

    @cached_property
    def _dispatcher(self) -> Any:  # noqa: ANN401 numba has no types
        with compiling(), _in_process:  # to load numba is no work of who needs it first, either
            return self.__dict__.get("_dispatcher") or self._made()

    def _made(self) -> Any:  # noqa: ANN401 numba has no types
        numba = _numba()
        source = Path(str(sys.modules[self._function.__module__].__file__))
        options = {"cache": True, "nogil": True, "_nrt": self._counts_references}
        dispatcher = numba.njit(**options)(self._function)
        lock = Path(str(dispatcher.stats.cache_path)) / f"{source.stem}.lock"
        dispatcher.compile = _alone(dispatcher.compile, lock)
        return dispatcher


def _alone(compiles: F, lock: Path) -> F:
    """Returns the same function, run by one process at a time: a lock for each source file.

    Files import each other in one direction only, so locks that are taken one inside another are
    taken in one order, and nobody waits in a circle.
    """

    @wraps(compiles)
    def compiles_alone(signature: Iterable[object]) -> object:
        with compiling(), _held_by_this_process(lock):
            return compiles(tuple(map(_widest, signature)))

    return cast("F", compiles_alone)


def _widest(given: object) -> object:
    """Returns the type that a kernel takes an argument as: numbers as 64 bits, none as a constant.

    numba compiles a function anew for each constant, and each width of a number, that another gives
    it: up to six times, and as often all that it calls.
    """
    from numba.core.types import int64, signed_domain, unliteral

    kind: object = unliteral(given)  # type: ignore[no-untyped-call]
    return int64 if kind in signed_domain else kind


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
    used, pending = {source}, [source]
    while pending:
        more = set(_imported(pending.pop())) - used
        used |= more
        pending += more
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
