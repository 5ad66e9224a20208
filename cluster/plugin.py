"""Plug-ins and their mistakes: one error that names the plug-in, the call, and what was raised.

Systems, clients, workloads and faults may be anybody's code. Whoever calls one wraps the call in
`blamed`, so that an exception in there is told from a broken cluster and from our own mistakes.
See checkers/judge/keys.py for models, which the checkers call.
"""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from typing_extensions import override

if TYPE_CHECKING:  # loading it costs each command more than all of ours that it needs
    from importlib.metadata import EntryPoint

LONGEST_MESSAGE = 200
CLIENT_CALLS = ("open", "invoke")
"""Calls of a client that may lose the connection."""
"""Characters of an exception's message, or of a returned value, that are shown."""


class HarnessError(Exception):
    """An error of the harness that passes through a plug-in's code and is not its mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """Names a plug-in for people."""

    kind: str
    """system, client, workload or fault."""
    name: str
    origin: str
    """Class or function of the plug-in, with the file of its definition."""

    @override
    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} ({self.origin})"


def plugin(kind: str, name: object, made: object) -> Plugin:
    """Return the name of a plug-in, of which `made` is an instance, a class or a function."""
    return Plugin(kind=kind, name=shortened(str(name)), origin=origin_of(made))


def origin_of(made: object) -> str:
    """Return where the class of an object, or a class or function itself, is defined."""
    defined = made if hasattr(made, "__qualname__") else type(made)
    module = str(getattr(defined, "__module__", None))
    path = getattr(sys.modules.get(module), "__file__", None)
    name = f"{module}.{getattr(defined, '__qualname__', '?')}"
    return name if path is None else f"{name} in {path}"


class PluginError(Exception):
    """A plug-in has made a mistake: it raised an exception, or returned what it must not."""

    def __init__(self, culprit: Plugin, mistake: str) -> None:
        super().__init__(f"{culprit}: {mistake}")
        self.plugin = culprit


class HarnessSignal(BaseException):
    """A signal by which the harness ends a task, and which passes through a plug-in's code."""


class BlockedError(BaseException):
    """A plug-in's code has kept everything else from running; the text says how long and where.

    A plug-in that catches every Exception must not catch this one.
    """


class PluginLoadError(ValueError):
    """A plug-in that can't be used, found before anything has run; the text is one clear line."""


def loaded(kind: str, point: "EntryPoint", calls: Sequence[str]) -> Any:  # noqa: ANN401 - anybody's
    """Return a new instance of the class that an entry point names.

    Raises:
        PluginLoadError: the module can't be imported, the class is not there or can't be made, or
            one of the calls is missing.
    """
    made = _made(kind, point, lambda: _instance(point))
    missing = [call for call in calls if not callable(getattr(made, call, None))]
    if missing:
        raise PluginLoadError(f"{_named(kind, point)}: it has no method {missing[0]}")
    return made


def loaded_function(kind: str, point: "EntryPoint") -> Any:  # noqa: ANN401 - anybody's
    """Return the function, or the object that is called like one, that an entry point names.

    Raises:
        PluginLoadError: the module can't be imported, or what it names can't be called.
    """
    function = _made(kind, point, point.load)
    if not callable(function):
        raise PluginLoadError(f"{_named(kind, point)}: {shown(function)} can't be called")
    return function


def _made(kind: str, point: "EntryPoint", make: Callable[[], Any]) -> Any:  # noqa: ANN401 - anybody's
    try:
        return make()
    except BaseException as error:
        if not is_mistake(error):
            raise
        raise PluginLoadError(f"{_named(kind, point)}: {described(error)}") from error


def _instance(point: "EntryPoint") -> Any:  # noqa: ANN401 - anybody's
    made = point.load()
    return made()


def _named(kind: str, point: "EntryPoint") -> str:
    origin = point.value if point.dist is None else f"{point.value} of {point.dist.name}"
    return f"{kind} {point.name!r} ({origin}) can't be loaded"


def require_new_names(culprit: Plugin, made: object, renamed: Mapping[str, str]) -> None:
    """Refuse a plug-in that overrides a call by an old name, since nobody would call that.

    Args:
        culprit: the plug-in.
        made: the instance.
        renamed: the new name of each old name.

    Raises:
        PluginError: a class of the plug-in has an old name, and not the new name.
    """
    for old, new in renamed.items():
        for kind in type(made).__mro__:
            if new in vars(kind):
                break
            if callable(vars(kind).get(old)):
                raise PluginError(
                    culprit, f"{kind.__name__}.{old} is never called: the name is now {new}"
                )


def returned(culprit: Plugin, call: str, value: object, expected: str) -> PluginError:
    """Return the error for a call that returned a value of a wrong kind."""
    if inspect.iscoroutine(value):
        value.close()
        return PluginError(culprit, f"{call} returned a coroutine; {expected} is expected")
    return PluginError(culprit, f"{call} returned {shown(value)}; {expected} is expected")


class blamed:  # noqa: N801 - read as a verb in a `with` statement
    """Turn what a plug-in's code raises inside the block into a PluginError.

    Errors of the harness, of plug-ins called from there, and those of `passed` go through.
    A class, since each operation of a workload enters four blocks, and a generator costs more.
    """

    __slots__ = ("_call", "_culprit", "_passed")

    def __init__(self, culprit: Plugin, call: str, *passed: type[Exception]) -> None:
        self._culprit = culprit
        self._call = call
        self._passed = passed

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Raise the PluginError for an exception that does not go through."""
        if error is None or isinstance(error, (HarnessError, PluginError, *self._passed)):
            return
        if isinstance(error, BlockedError):
            raise PluginError(self._culprit, f"{self._call} {error}") from error
        if is_mistake(error):
            mistake = f"{self._call} raised {described(error)}{_hint(self._call, error)}"
            raise PluginError(self._culprit, mistake) from error


def _hint(call: str, error: BaseException) -> str:
    """Return what is right, for the two most common mistakes."""
    if isinstance(error, TypeError) and str(error).endswith("can't be used in 'await' expression"):
        return f"; {call} has to be an async def that returns its value"
    if isinstance(error, OSError) and call in CLIENT_CALLS:
        return "; a client raises ConnectionFailed (not sent) or OutcomeUnknown (no answer)"
    return ""


def is_mistake(error: BaseException) -> bool:
    """Return whether what a plug-in's code raised is its own; an interrupt or a cancel is not.

    A CancelledError is the plug-in's where nobody has cancelled the task: it awaited a task or a
    future that it had cancelled itself. Some errors are no Exception, such as that of pytest.fail.
    """
    if isinstance(error, (Exception, SystemExit)):
        return True
    if isinstance(error, (KeyboardInterrupt, GeneratorExit, HarnessSignal, BlockedError)):
        return False
    import asyncio  # slow to import, and loaded already where a task can be cancelled

    if not isinstance(error, asyncio.CancelledError):
        return True
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs: a simulated run has no such error
        return True
    return task is not None and task.cancelling() == 0


def described(error: BaseException) -> str:
    """Return the class and the message of an exception in one line."""
    try:
        message = shortened(" ".join(str(error).split()))
    except Exception:  # noqa: BLE001 - a class of theirs, whose text is a mistake too
        message = "its message can't be read"
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def shown(value: object) -> str:
    """Return a value as Python writes it, cut where it is long."""
    try:
        return shortened(" ".join(repr(value).split()))
    except Exception:  # noqa: BLE001 - a class of theirs, whose text is a mistake too
        return f"a {type(value).__name__}"


def shortened(text: str) -> str:
    """Return a text of at most 200 characters."""
    return text if len(text) <= LONGEST_MESSAGE else f"{text[: LONGEST_MESSAGE - 1]}…"
