"""Temporary files and directories that are removed however the work ends.

Ctrl-C can reach Python between any two calls, also between the making of a directory and the `try`
that is to remove the directory, and in the middle of the removal. So a path is registered before
the path exists, and what is still registered when Python exits is removed then.
"""

import atexit
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME_PART = 200
"""Characters of a file's name in the name of the unfinished file, as a name may have 255 bytes."""
_registered: set[Path] = set()


@contextmanager
def unfinished(path: Path) -> Iterator[Path]:
    """Remove the file or directory at the end of the block, if present.

    A block that keeps the work renames the path.
    """
    _registered.add(path)
    try:
        yield path
    finally:
        _remove(path)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Hand out the path of an unfinished file beside `path`, which takes the name after the block.

    A device or a pipe is written to as it is.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    target = path.resolve()  # a link stays a link
    with unfinished(target.with_name(f".{target.name[:NAME_PART]}-{os.getpid()}.part")) as part:
        yield part
        part.replace(target)


@contextmanager
def unfinished_directory(path: Path) -> Iterator[Path]:
    """Make an empty directory, with its parents, which is removed at the end of the block."""
    with unfinished(path):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        yield path


@contextmanager
def temporary_directory(prefix: str) -> Iterator[Path]:
    """Make a directory of a new name, for this user only, which is removed at the end of the block.

    `tempfile` registers its directory only after making the directory, which an interrupt between
    the two leaves behind.
    """
    with unfinished(Path(tempfile.gettempdir(), f"{prefix}{os.urandom(8).hex()}")) as path:
        path.mkdir(mode=0o700)
        yield path


def _remove(path: Path) -> None:
    """Remove a path; one whose removal is interrupted stays registered."""
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        # rmtree closes a directory twice if Ctrl-C comes just after the first time, and tells only
        # of the second. Any other error means that there can't be such a path.
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
    _registered.discard(path)


def _remove_all() -> None:
    """Remove what is left at exit, where a second Ctrl-C no longer interrupts."""
    if not _registered:
        return
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    for path in list(_registered):
        _remove(path)


def _forget() -> None:
    """Leave the registered paths to the process that registered the paths."""
    _registered.clear()


atexit.register(_remove_all)
os.register_at_fork(after_in_child=_forget)
