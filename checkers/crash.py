"""The words for a model, or an engine at work on a model, that crashed: one line and a traceback.

A crash proves nothing: whatever was being judged is unknown, and the exit code is 2.
"""

import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import CheckerInputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

TRACEBACK_FILE: Final = "plugin-error.txt"
"""In a run's directory: the tracebacks of its plug-ins, models too."""


class ModelCrashError(CheckerInputError):
    """A model raised an exception in a place where its whole history depends on the result."""

    traceback = ""
    """The traceback from the other process, if the model crashed there."""


def reraise_interrupt(error: BaseException) -> None:
    """Raise an interrupt again; all else that a plug-in raises is a mistake of the plug-in.

    Some errors are no Exception, such as that of pytest.fail.

    Raises:
        BaseException: the interrupt.
    """
    if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
        raise error


def crashed(name: str, model: object, error: BaseException) -> str:
    """Return the name of the model, the exception, and the origin of the model."""
    return f"the checker of {name} crashed: {_described(error)}{_origin(model)}"


def crashed_engine(name: str, error: BaseException) -> str:
    """Return which engine of another distribution crashed, and of what."""
    return f"engine {name} crashed: {_described(error)}"


def origin_of(entry: "EntryPoint") -> str:
    """Return the object of an entry point and the package that provides the entry point."""
    return entry.value if entry.dist is None else f"{entry.value} of {entry.dist.name}"


def keep_text(text: str, path: Path) -> bool:
    """Add a traceback to a file that does not have the text, and say if the file has it now."""
    with suppress(OSError):  # a disk that refuses the file must not hide the error
        with path.open("a+", encoding="utf-8", errors="backslashreplace") as file:
            file.seek(0)
            if text not in file.read():
                file.write(text)
        return True
    return False


def traceback_of(error: BaseException) -> str:
    """Return the whole traceback of an exception."""
    return "".join(traceback.format_exception(error))


def _described(error: BaseException) -> str:
    try:
        message = " ".join(str(error).split()) or "no reason given"
    except Exception:  # noqa: BLE001 - a class of theirs, whose text is a mistake too
        message = "its message can't be read"
    return f"{type(error).__name__}: {shortened(message)}"


def _origin(model: object) -> str:
    """Name the class and the file of a plug-in; nothing for a model of ours."""
    module, name = type(model).__module__, type(model).__qualname__
    if module.startswith("kraftproof."):
        return ""
    path = getattr(sys.modules.get(module), "__file__", None)
    return f" (model {module}.{name})" if path is None else f" (model {name} in {path})"
