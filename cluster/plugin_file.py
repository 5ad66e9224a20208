"""A plug-in that is a class in a file: `path/to/file.py:Class`, from any directory.

See plugin.py for the plug-ins of installed packages.
"""

import os
import sys
from collections import Counter
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from zlib import crc32

from kraftproof.cluster.plugin import PluginLoadError, described, is_mistake, origin_of, shown
from kraftproof.spelling import nearest


def is_in_file(name: str) -> bool:
    """Return whether a name means a class in a file, or seems to."""
    return ".py:" in name or name.endswith(".py")


def absolute(name: str) -> str:
    """Return a reference to a class in a file so that it is valid in every directory."""
    path, colon, class_name = name.rpartition(":") if ".py:" in name else (name, "", "")
    return f"{Path(path).absolute()}{colon}{class_name}" if is_in_file(name) else name


def loaded_from_file(kind: str, reference: str, calls: Sequence[str]) -> Any:  # noqa: ANN401
    """Return a new instance of a class in a file; the file is run once in a process.

    Raises:
        PluginLoadError: the file can't be run, the class is not there or can't be made, or one of
            the calls is missing; one line.
    """
    if ".py:" not in reference:
        raise PluginLoadError(
            f"{kind} {reference}: a file, give its class too, as in {reference}:Class"
        )
    path, _, class_name = reference.rpartition(":")
    try:
        made = _named(_module(kind, Path(path)), class_name)()
    except BaseException as error:
        if not is_mistake(error):
            raise
        raise PluginLoadError(f"{kind} {reference}: {_reason(error, path)}") from error
    missing = [call for call in calls if not callable(getattr(made, call, None))]
    if missing:
        raise PluginLoadError(f"{kind} {reference}: {origin_of(made)} has no method {missing[0]}")
    return made


def function_of_file(kind: str, reference: str, like: str = "function plan") -> Any:  # noqa: ANN401
    """Return the function that path/to/file.py:function names; `like` is an example of one.

    Raises:
        PluginLoadError: the file can't be run, or has no such function; one line.
    """
    if ".py:" not in reference:
        what, _, example = like.partition(" ")
        raise PluginLoadError(
            f"{kind} {reference}: a file, give its {what} too, as in {reference}:{example}"
        )
    path, _, name = reference.rpartition(":")
    try:
        function = _named(_module(kind, Path(path)), name)
    except BaseException as error:
        if not is_mistake(error):
            raise
        raise PluginLoadError(f"{kind} {reference}: {_reason(error, path)}") from error
    if not callable(function):
        raise PluginLoadError(f"{kind} {reference}: {shown(function)} can't be called")
    return function


class UndefinedError(LookupError):
    """A file has no class or function with the name that was asked for."""


def _named(module: ModuleType, name: str) -> Any:  # noqa: ANN401 - anybody's
    """Return the class or function of a file with a name.

    Raises:
        UndefinedError: the file has no such name; the line lists the names that it defines.
    """
    if hasattr(module, name):
        return getattr(module, name)
    own = [
        one
        for one, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ and not one.startswith("_")
    ]
    there = f"only {', '.join(own)}" if own else "and no other class or function"
    raise UndefinedError(f"the file has no {name}{nearest(name, own)}, {there}")


def _module(kind: str, path: Path) -> ModuleType:
    """Return the module of a file; modules beside the file can be imported from there."""
    name = _module_name(kind, path)
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    _prefer(path.absolute().parent)
    sys.modules[name] = module
    before = list(sys.path)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        added = Counter(sys.path) - Counter(before)
        sys.path[:] = before
        _move_to_end(list(added))
    return module


_FOLDERS: Final[list[str]] = []
"""The folders that were added to the end of sys.path, the newest first."""


def _prefer(folder: Path) -> None:
    """Let imports look into a folder before they look into those of other plug-ins.

    Two folders may have modules of one name, such as system.py; the plug-ins of the other folder
    keep the modules that they have imported. The same holds for modules of a folder that is no
    longer on sys.path. Packages stay.
    """
    beside = {path.stem for path in folder.glob("*.py")} - {"__main__"}
    for name in beside.intersection(sys.modules):
        module = sys.modules[name]
        file = None if hasattr(module, "__path__") else getattr(module, "__file__", None)
        place = os.path.dirname(file or "")
        if place not in {"", str(folder)} and (place in _FOLDERS or place not in sys.path):
            del sys.modules[name]
    _move_to_end([str(folder)])


def _move_to_end(folders: list[str]) -> None:
    """Put folders behind all of sys.path except the folders of earlier plug-ins.

    This includes the folders that a plug-in adds to the front by itself: there they would hide
    modules beside the plug-ins that are loaded later. A folder that the user put there stays.
    """
    folders = [one for one in folders if one in _FOLDERS or one not in sys.path]
    for one in {*_FOLDERS, *folders}:
        _drop_last(one)
    _FOLDERS[:] = [*folders, *(one for one in _FOLDERS if one not in folders)]
    sys.path += _FOLDERS


def _drop_last(folder: str) -> None:
    """Drop the last entry of a folder from sys.path; an earlier one was put there by the user."""
    places = [place for place, one in enumerate(sys.path) if one == folder]
    if places:
        del sys.path[places[-1]]


def _module_name(kind: str, path: Path) -> str:
    return f"kraftproof_{kind}_{crc32(str(path.absolute()).encode()):08x}"


def _reason(error: BaseException, path: str) -> str:
    """Return the error in one line, with the line of the file that raised it."""
    if isinstance(error, FileNotFoundError) and not Path(path).exists():
        return "there is no such file"
    if isinstance(error, UndefinedError):
        return str(error)
    text = described(error).replace("module 'kraftproof_", "'kraftproof_")
    line = _line_in(error, path)
    return text if line is None else f"line {line}: {text}"


def _line_in(error: BaseException, path: str) -> int | None:
    """Return the last line of a file that an error passed through."""
    if isinstance(error, SyntaxError):
        return error.lineno
    found, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found
